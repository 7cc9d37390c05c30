/// The page that someone has asked for before signing in.
struct ReturnTarget: Sendable {
  /// The name of the query parameter and of the field.
  static let field = "next"

  private static let maximumBytes = 1024

  /// A path below `/console`, with or without a query.
  let target: String

  /// - Returns: nil for anything but a path below the console: another host or scheme, a path that leaves the console, and
  ///   characters that browsers read in different ways.
  init?(_ text: String?) {
    guard let text, text.utf8.count <= Self.maximumBytes, text.utf8.starts(with: "\(ConsolePath.root)/".utf8),
      text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
    else { return nil }
    let path = text.prefix { $0 != "?" }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    // Browsers also resolve segments whose dots are percent-encoded.
    guard segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), !path.contains("%") else { return nil }
    target = text
  }
}
