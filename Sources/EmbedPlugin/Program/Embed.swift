import Foundation

/// Writes a Swift source with the names and texts of files: `embed CONSTANT SOURCE FILE...`.
///
/// The files are UTF-8. The plugin of the same folder runs it.
@main
enum Embed {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2, let constant = arguments.first else {
      throw CocoaError(.fileReadUnknown, userInfo: [NSDebugDescriptionErrorKey: "embed CONSTANT SOURCE FILE..."])
    }
    var source = "let \(constant): [(name: String, text: String)] = [\n"
    for path in arguments.dropFirst(2) {
      let file = URL(filePath: path)
      source += "  (\"\(file.lastPathComponent)\", \(literal(of: try String(contentsOf: file, encoding: .utf8)))),\n"
    }
    source += "]\n"
    try source.write(to: URL(filePath: arguments[arguments.startIndex + 1]), atomically: true, encoding: .utf8)
  }

  /// Returns a raw string literal with more number signs than any run of them in the text, so that nothing in the text
  /// ends or escapes it.
  private static func literal(of text: String) -> String {
    var longest = 0
    var run = 0
    for byte in text.utf8 {
      run = byte == UInt8(ascii: "#") ? run + 1 : 0
      longest = max(longest, run)
    }
    let delimiter = String(repeating: "#", count: longest + 1)
    // The last newline before the delimiter is not part of the string.
    return "\(delimiter)\"\"\"\n\(text)\n\"\"\"\(delimiter)"
  }
}
