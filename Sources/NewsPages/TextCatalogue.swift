/// The texts of pages in one language, by key.
///
/// Each line of a catalogue file is `key = text`. Empty lines, and lines that begin with `#`, are ignored. A name in
/// braces is replaced by a value:
///
///     let texts = TextCatalogue(.english, in: [("en.txt", "greeting = Hello {name}\n")])
///     print(texts.text("greeting", ["name": "Mara"]))  // Hello Mara
public struct TextCatalogue: Sendable {
  /// The texts by key.
  public let texts: [String: String]

  /// Reads the catalogue of a language.
  ///
  /// - Parameter files: Names and contents of catalogue files. Those of other languages are ignored.
  public init(_ language: InterfaceLanguage, in files: [(name: String, text: String)]) {
    var texts: [String: String] = [:]
    for file in files where file.name == "\(language.rawValue).txt" {
      for line in file.text.split(separator: "\n") where !line.hasPrefix("#") {
        let parts = line.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { continue }
        texts[Self.trimmed(parts[0])] = Self.trimmed(parts[1])
      }
    }
    self.texts = texts
  }

  /// The catalogue of the reader pages.
  public init(_ language: InterfaceLanguage) {
    self.init(language, in: embeddedTexts)
  }

  /// Returns the text of a key; the key itself if the catalogue lacks it.
  ///
  /// - Parameter values: The values that replace names in braces.
  public func text(_ key: String, _ values: [String: String] = [:]) -> String {
    guard let text = texts[key] else { return key }
    guard !values.isEmpty else { return text }
    // One pass, so that braces in a value are not replaced.
    var result = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      result += rest[..<open]
      result += values[name] ?? String(rest[open...close])
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
