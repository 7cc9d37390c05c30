import Foundation
import TestSupport

/// A response of the console.
struct ConsolePage: Sendable {
  let status: Int
  let headers: [(name: String, value: String)]
  let text: String
  /// The path and the query under which the page was read.
  let target: String

  /// The value of the first field with a name; nil if there is none.
  subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The tags of the page.
  ///
  /// - Throws: `PageScan.Malformed` if the page has markup of any other form than that of the console.
  var scan: PageScan { get throws { try PageScan(text, as: .console) } }

  /// Returns the form whose `action` has a path, or ends with it.
  ///
  /// - Throws: `TestResponse.Unexpected` if there is none.
  func form(_ path: String) throws -> ConsoleForm {
    let tags = try scan.tags
    let starts = tags.indices.filter { tags[$0].name == "form" }
    for start in starts where tags[start]["action"]?.hasSuffix(path) ?? false {
      let end = starts.first { $0 > start } ?? tags.endIndex
      return ConsoleForm(tags[start], Array(tags[(start + 1)..<end]))
    }
    throw TestResponse.Unexpected(description: "\(status) \(target) has no form for \(path): \(text)")
  }

  /// The form of the editor.
  var editor: ConsoleForm {
    get throws {
      let tags = try scan.tags
      guard let start = tags.firstIndex(where: { $0["id"] == "editor" }) else {
        throw TestResponse.Unexpected(description: "\(status) \(target) has no editor: \(text)")
      }
      return ConsoleForm(tags[start], Array(tags[(start + 1)...]))
    }
  }

  /// The texts of all elements with a class.
  func texts(ofClass name: String) throws -> [String] {
    try scan.tags.filter { $0["class"]?.split(separator: " ").contains(Substring(name)) ?? false }.map(\.text)
  }
}

/// A form as a browser fills it in and sends it.
struct ConsoleForm: Sendable {
  let action: String
  let isMultipart: Bool
  /// The successful controls besides files and buttons, in order (HTML standard, section 4.10.21.4).
  private(set) var fields: [(name: String, value: String)] = []
  /// The values of the buttons by name.
  private(set) var buttons: [(name: String, value: String)] = []

  init(_ form: PageScan.Tag, _ controls: [PageScan.Tag]) {
    action = form["action"] ?? ""
    isMultipart = form["enctype"] == "multipart/form-data"
    var select: String?
    var hasSelected = false
    for tag in controls {
      let name = tag["name"] ?? ""
      switch (tag.name, tag["type"]) {
      case ("input", "file"?): break
      case ("input", "checkbox"?), ("input", "radio"?):
        if tag["checked"] != nil { fields.append((name, tag["value"] ?? "on")) }
      case ("input", _): fields.append((name, tag["value"] ?? ""))
      // The first line end after the tag is not part of the value (HTML standard, section 13.1.2.5).
      case ("textarea", _): fields.append((name, String(tag.text.trimmingPrefix("\n"))))
      case ("select", _):
        select = name
        hasSelected = false
      case ("option", _):
        guard let select else { break }
        if tag["selected"] != nil || !hasSelected {
          fields.removeAll { $0.name == select }
          fields.append((select, tag["value"] ?? tag.text))
          hasSelected = true
        }
      case ("button", _): buttons.append((name, tag["value"] ?? ""))
      default: break
      }
    }
  }

  /// The first value of a field; setting it replaces all values, and nil removes them.
  subscript(name: String) -> String? {
    get { fields.first { $0.name == name }?.value }
    set {
      let index = fields.firstIndex { $0.name == name }
      fields.removeAll { $0.name == name }
      if let newValue { fields.insert((name, newValue), at: min(index ?? fields.count, fields.count)) }
    }
  }

  /// Adds a value, as a check box does.
  mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

  /// The values of the buttons that set the action of the form.
  var actions: Set<String> { Set(buttons.filter { $0.name == "action" }.map(\.value)) }
}

/// A file that a form sends.
struct FormFile: Sendable {
  var field = "upload"
  var name: String
  var type: String
  var content: Data
}
