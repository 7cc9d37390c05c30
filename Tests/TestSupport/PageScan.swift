import Foundation

/// The tags of a page, read by a strict subset of the HTML syntax. Markup in any other form is an error, so that no value
/// can become markup unnoticed.
package struct PageScan {
  /// The reason why a page is not valid.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// A start tag.
  package struct Tag: Sendable {
    package let name: String
    package let attributes: [String: String]
    /// The text after the tag, up to the next one, unescaped.
    package fileprivate(set) var text = ""

    package subscript(attribute: String) -> String? { attributes[attribute] }
  }

  /// All start tags, in order.
  package private(set) var tags: [Tag] = []
  /// The text between tags, unescaped.
  package private(set) var text = ""

  /// The elements and attributes that a page may have.
  package struct Dialect: Sendable {
    fileprivate let names: Set<String>
    fileprivate let attributes: Set<String>

    /// The pages for readers.
    package static let reader = Dialect(
      names: [
        "html", "head", "meta", "title", "link", "body", "a", "header", "main", "footer", "nav", "p", "ul", "ol", "li",
        "div", "span", "article", "section", "h1", "h2", "h3", "h4", "h5", "h6", "img", "strong", "em", "b", "i",
        "time",
        "figure", "figcaption", "video", "audio", "br", "hr", "blockquote", "pre", "code", "table", "thead", "tbody",
        "tr", "td", "th",
      ],
      attributes: [
        "lang", "charset", "name", "content", "property", "rel", "href", "type", "title", "class", "aria-label",
        "aria-current", "aria-hidden", "aria-labelledby", "id", "tabindex", "dir", "src", "alt", "width", "height",
        "loading", "decoding", "datetime", "controls", "preload", "colspan", "rowspan", "cite",
      ])

    /// The pages for readers that have a button for notifications, which its script shows.
    package static let readerWithScript = Dialect(
      names: reader.names.union(["script", "button"]),
      attributes: reader.attributes.union([
        "defer", "hidden", "role", "data-worker", "data-topic", "data-start", "data-stop", "data-on", "data-all",
        "data-news", "data-denied", "data-missing", "data-busy", "data-offline", "data-failed",
      ]))

    /// The pages of the console, which have forms and one script.
    package static let console = Dialect(
      names: reader.names.union([
        "script", "form", "fieldset", "legend", "label", "input", "textarea", "select", "option", "button", "details",
        "summary", "del", "ins", "mark", "caption", "dl", "dt", "dd", "svg", "desc", "path", "rect",
      ]),
      attributes: reader.attributes.union([
        "defer", "for", "method", "action", "enctype", "value", "autocomplete", "spellcheck", "required", "maxlength",
        "checked", "selected", "disabled", "multiple", "accept", "rows", "step", "inputmode", "role", "formaction",
        "formtarget", "aria-invalid", "aria-describedby", "data-status", "data-unsaved", "data-autosave", "data-saving",
        "data-saved", "data-offline", "data-server", "data-conflict", "data-refused", "data-changed", "data-progress",
        "data-drop", "data-zone", "data-events",
        "data-ended", "data-waiting", "data-pause", "data-resume", "data-copy", "data-copied", "data-failed", "popover",
        "popovertarget", "hidden",
        "scope",
        "viewBox", "preserveAspectRatio", "d", "x", "y",
      ]))
  }

  private static let void: Set<String> = ["meta", "link", "img", "br", "hr", "wbr", "input", "path", "rect"]

  /// Reads a page.
  ///
  /// - Throws: `Malformed`.
  package init(_ page: String, as dialect: Dialect = .reader) throws {
    var rest = Array(page.utf8)[...]
    guard rest.starts(with: "<!doctype html>".utf8) else { throw Malformed(description: "the doctype is missing") }
    rest = rest.dropFirst(15)
    var open: [String] = []
    var isAfterStart = false
    while let start = rest.first {
      guard start == UInt8(ascii: "<") else {
        let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
        let found = try Self.unescaped(rest[rest.startIndex..<end])
        text += found
        if isAfterStart { tags[tags.count - 1].text = found }
        isAfterStart = false
        rest = rest[end...]
        continue
      }
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "/") {
        isAfterStart = false
        let name = Self.take(&rest, dropping: 1)
        guard rest.popFirst() == UInt8(ascii: ">"), open.popLast() == name else {
          throw Malformed(description: "</\(name)> ends another element")
        }
        continue
      }
      let tag = try Self.tag(&rest, dialect)
      tags.append(tag)
      isAfterStart = true
      if !Self.void.contains(tag.name) { open.append(tag.name) }
    }
    guard open.isEmpty else { throw Malformed(description: "\(open) are not closed") }
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, dropping count: Int = 0) -> String {
    rest = rest.dropFirst(count)
    // The attributes of SVG have capital letters.
    let isPart: (UInt8) -> Bool = { 97...122 ~= $0 || 65...90 ~= $0 || 48...57 ~= $0 || $0 == UInt8(ascii: "-") }
    let end = rest.firstIndex { !isPart($0) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
  }

  private static func tag(_ rest: inout ArraySlice<UInt8>, _ dialect: Dialect) throws -> Tag {
    let name = take(&rest)
    guard dialect.names.contains(name) else {
      throw Malformed(
        description: "<\(name) is no element of a page: \(String(decoding: rest.prefix(80), as: UTF8.self))")
    }
    var attributes: [String: String] = [:]
    while let next = rest.popFirst() {
      if next == UInt8(ascii: ">") { return Tag(name: name, attributes: attributes) }
      if next == UInt8(ascii: "/"), rest.first == UInt8(ascii: ">") { continue }
      guard next == UInt8(ascii: " ") || next == UInt8(ascii: "\n") else {
        throw Malformed(description: "<\(name)> has a stray \(Unicode.Scalar(next))")
      }
      let attribute = take(&rest)
      guard dialect.attributes.contains(attribute) else {
        throw Malformed(description: "<\(name)> has the attribute \(attribute)")
      }
      var value = ""
      if rest.first == UInt8(ascii: "=") {
        rest = rest.dropFirst()
        guard rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else {
          throw Malformed(description: "\(attribute) of <\(name)> is not quoted")
        }
        value = try unescaped(rest[rest.startIndex..<end])
        rest = rest[(end + 1)...]
      }
      guard attributes.updateValue(value, forKey: attribute) == nil else {
        throw Malformed(description: "<\(name)> has \(attribute) twice")
      }
      // A template ends a list of classes with the one that the page sets, such as the state of a feed.
      guard attribute != "class" || value.last != " " else {
        throw Malformed(description: "<\(name)> lacks a class after \(value)")
      }
    }
    throw Malformed(description: "<\(name)> has no end")
  }

  private static let entities = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&"]

  private static func unescaped(_ bytes: ArraySlice<UInt8>) throws -> String {
    var text = String(decoding: bytes, as: UTF8.self)
    guard !text.utf8.contains(UInt8(ascii: "<")), !text.utf8.contains(UInt8(ascii: ">")) else {
      throw Malformed(description: "a bare bracket in \(text.prefix(80))")
    }
    for (entity, character) in entities.filter({ $0.key != "&amp;" }) {
      text = text.replacingOccurrences(of: entity, with: character, options: .literal)
    }
    return text.replacingOccurrences(of: "&amp;", with: "&", options: .literal)
  }

  /// Returns all tags with a name.
  package func all(_ name: String) -> [Tag] { tags.filter { $0.name == name } }

  /// The addresses that a reader follows, or that a browser loads, as they are in the page.
  package var addresses: [String] { tags.flatMap { tag in ["href", "src", "cite"].compactMap { tag[$0] } } }

  /// The content of a `meta` element with a name or property; nil if there is none.
  package func meta(_ name: String) -> String? {
    all("meta").first { $0["name"] == name || $0["property"] == name }?["content"]
  }

  /// The addresses of links in the head with a relation.
  package func links(_ relation: String) -> [String] {
    all("link").filter { $0["rel"] == relation }.compactMap { $0["href"] }
  }

  /// The violations of rules for readers who use assistive technology.
  package var accessibilityProblems: [String] {
    var problems: [String] = []
    if all("html").first?["lang"]?.isEmpty != false { problems.append("html has no lang") }
    for name in ["header", "main", "footer"] where all(name).isEmpty { problems.append("there is no \(name)") }
    if all("main").count != 1 { problems.append("there are several main") }
    let levels = tags.compactMap { tag in
      tag.name.count == 2 && tag.name.hasPrefix("h") ? tag.name.last?.wholeNumberValue : nil
    }
    if levels.filter({ $0 == 1 }).count != 1 { problems.append("there is not exactly one h1") }
    if zip(levels, levels.dropFirst()).contains(where: { $1 > $0 + 1 }) { problems.append("a heading skips a level") }
    for image in all("img") where image["alt"] == nil { problems.append("\(image["src"] ?? "") has no alt") }
    for nav in all("nav") where nav["aria-label"]?.isEmpty != false { problems.append("a nav has no name") }
    let ids = tags.compactMap { $0["id"] }
    if Set(ids).count != ids.count { problems.append("an id is repeated") }
    for target in addresses where target.hasPrefix("#") && !ids.contains(String(target.dropFirst())) {
      problems.append("\(target) leads nowhere")
    }
    return problems
  }
}
