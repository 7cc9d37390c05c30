import Mustache

/// Mustache templates that can include each other by name. All values are escaped for HTML except in `{{{…}}}`.
///
/// The library's own escaping compares characters. A quotation mark followed by a combining character is another
/// character to it, and would pass into an attribute unescaped. These templates escape bytes instead.
public struct TemplateSet: Sendable {
  private let library: MustacheLibrary

  /// Parses templates.
  ///
  /// - Parameter files: Names with the suffix `.mustache`, and contents.
  /// - Throws: The error of the first template that cannot be parsed.
  public init(_ files: [(name: String, text: String)]) throws {
    Self.registerEscaping
    var library = MustacheLibrary()
    for file in files where file.name.hasSuffix(".mustache") {
      // Each included template begins with the library's escaping, so each needs the declaration.
      let text = "{{% CONTENT_TYPE:\(ByteEscaping.name)}}" + file.text
      try library.register(text, named: String(file.name.dropLast(".mustache".count)))
    }
    self.library = library
  }

  /// Renders a template.
  ///
  /// - Parameters:
  ///   - name: The name of the template without its suffix.
  ///   - values: The values by name: texts, Booleans, lists and dictionaries of values. An absent value is false.
  /// - Returns: The text; empty for an unknown template.
  public func render(_ name: String, _ values: PageValues) -> String {
    library.render(values.members, withTemplate: name) ?? ""
  }

  private static let registerEscaping: Void = {
    MustacheContentTypes.register(ByteEscaping(), named: ByteEscaping.name)
  }()
}

/// Escapes text by its bytes.
private struct ByteEscaping: MustacheContentType {
  static let name = "BYTES"

  func escapeText(_ text: String) -> String { HTMLText.escaped(text) }
}

/// The values of a template. Absent values are omitted, because a template takes each present one for true.
public struct PageValues {
  /// The values by name.
  public private(set) var members: [String: Any] = [:]

  /// Creates a set without values.
  public init() {}

  /// Sets a text, unless it is nil or empty.
  public mutating func set(_ name: String, _ text: String?) {
    if let text, !text.isEmpty { members[name] = text }
  }

  /// Sets a number as text, unless it is nil.
  public mutating func set(_ name: String, _ number: Int?) {
    if let number { members[name] = String(number) }
  }

  /// Sets a Boolean.
  public mutating func set(_ name: String, _ flag: Bool) { members[name] = flag }

  /// Sets texts by name, for `{{name.key}}`.
  public mutating func set(_ name: String, _ texts: [String: String]) { members[name] = texts }

  /// Sets a list. An empty one is false.
  public mutating func set(_ name: String, _ list: [PageValues]) { members[name] = list.map(\.members) }
}
