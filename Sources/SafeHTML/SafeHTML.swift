internal import Foundation

/// Markup of unknown origin, made safe to show: an allow-listed fragment, its plain text and its pictures.
///
/// The fragment is written anew from what the parser understood, so nothing of the source gets through unseen. It is
/// well-formed XML and HTML at once, has only the elements and attributes of `ElementRules`, absolute links, no
/// scripts, styles, forms or embedded documents. The same source gives the same result, and a fragment that is
/// made safe again stays as it is. Any string is accepted.
public struct SafeHTML: Sendable, Equatable {
  /// A picture of the source that survived into the fragment.
  public struct Image: Sendable, Hashable {
    /// Absolute, http or https.
    public var url: String
    /// The text for those who cannot see it, nil where there is none.
    public var alt: String?
    /// In CSS pixels, 1...99999.
    public var width: Int?
    /// In CSS pixels, 1...99999.
    public var height: Int?
  }

  /// The safe fragment, empty where the source has nothing to show.
  public let html: String
  /// The text: a blank line between paragraphs, other white space collapsed except in `pre`, no control characters
  /// but tab and line feed.
  public let text: String
  /// In the order of the source, each URL once.
  public let images: [Image]

  /// The part of a source that is looked at, in bytes of UTF-8.
  public static let maximumSourceBytes = 16 * 1024 * 1024

  /// The attributes of a tag that are looked at.
  public static let maximumAttributes = 64

  /// Makes markup safe.
  ///
  /// - Parameters:
  ///   - source: HTML, whole documents included; beyond `maximumSourceBytes` it is cut.
  ///   - base: The absolute URL that relative links refer to. Without one they are dropped.
  public init(_ source: String, base: String? = nil) {
    let base = base.flatMap { URL(string: $0) }
    let composer = Composer(base: base)
    HTMLScanner.scan(Self.cleaned(source), into: composer)
    text = composer.text
    images = composer.images
    html = Self.settled(composer.html, text: text, base: base)
  }

  /// Whether a text contains a tag or comment of HTML, so that it has to be read as markup. `a < b` and `Array<Int>`
  /// do not.
  public static func looksLikeMarkup(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var index = 0
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start + 1
      if bytes[index...].starts(with: "!--".utf8) { return true }
      let rest = bytes[index...].first == UInt8(ascii: "/") ? bytes[(index + 1)...] : bytes[index...]
      let name = rest.prefix(16).prefix { 48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 }
      guard rest.count > name.count, " \t\n\r/>".utf8.contains(rest[rest.startIndex + name.count]) else { continue }
      if ElementRules.isKnown(String(decoding: name, as: UTF8.self).lowercased()) { return true }
    }
    return false
  }

  /// Decodes the entities of a text that is not markup; its white space stays, except at both ends.
  public static func decodingEntities(_ text: String) -> String {
    let composer = Composer(base: nil)
    // By bytes: to compare characters takes time that grows with the square of their combining marks.
    let escaped = text.utf8.flatMap { $0 == UInt8(ascii: "<") ? Array("&lt;".utf8) : [$0] }
    HTMLScanner.scan(cleaned("<pre>" + String(decoding: escaped, as: UTF8.self) + "</pre>"), into: composer)
    return composer.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The parser corrects nesting by rules of its own, so what is left after the removal of elements can be corrected
  /// once more. Only a fragment that comes through unchanged is given out; otherwise its text alone, in paragraphs.
  private static func settled(_ first: String, text: String, base: URL?) -> String {
    var html = first
    for _ in 0..<6 {
      let again = rewritten(html, base: base)
      if again == html { return html }
      html = again
    }
    let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: true)
    return rewritten(paragraphs.map { "<p>" + Markup.escaped(String($0)) + "</p>" }.joined(), base: base)
  }

  private static func rewritten(_ html: String, base: URL?) -> String {
    let composer = Composer(base: base)
    HTMLScanner.scan(cleaned(html), into: composer)
    return composer.html
  }

  /// `<wbr>` as `<wbr/>`: the parser does not know that it has no content, and keeps it open.
  private static func closed(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      output += rest[...start]
      rest = rest[(start + 1)...]
      let name = rest.prefix(3)
      guard name.elementsEqual("wbr".utf8, by: { $0 | 0x20 == $1 }), rest.dropFirst(3).first == UInt8(ascii: ">") else {
        continue
      }
      output += name + "/>".utf8
      rest = rest.dropFirst(4)
    }
    return output + rest
  }

  /// Line ends as LF, no NUL, at which the parser would stop, no names of characters that it does not know, and no more
  /// than `maximumAttributes` in a tag.
  private static func cleaned(_ source: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(source.utf8.count, maximumSourceBytes))
    var afterReturn = false
    for byte in source.utf8 {
      if bytes.count == maximumSourceBytes { break }
      let isReturn = byte == UInt8(ascii: "\r")
      if byte != 0, !(afterReturn && byte == UInt8(ascii: "\n")) {
        bytes.append(isReturn ? UInt8(ascii: "\n") : byte)
      }
      afterReturn = isReturn
    }
    return AttributeLimit.applied(to: closed(HTMLEntities.numbered(bytes)), maximum: maximumAttributes)
  }
}
