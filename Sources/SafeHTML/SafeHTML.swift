internal import Foundation

/// Markup of unknown origin in a safe form: an allow-listed fragment, its plain text and its pictures.
///
/// The fragment is written anew from the events of the parser, so that nothing of the source passes through unchecked.
/// It is well-formed XML and HTML at once. It has only absolute links and the elements and attributes of
/// `ElementRules`, without scripts, styles, forms or embedded documents. The same source always gives the same result,
/// and a fragment that is sanitised again does not change. Any string is accepted.
public struct SafeHTML: Sendable, Equatable {
  /// A picture of the source that is in the fragment.
  public struct Image: Sendable, Hashable {
    /// An absolute http or https URL.
    public var url: String
    /// Alternative text that describes the picture; nil if there is none.
    public var alt: String?
    /// The width in CSS pixels, 1...99999.
    public var width: Int?
    /// The height in CSS pixels, 1...99999.
    public var height: Int?
  }

  /// The safe fragment; empty if the source has nothing to show.
  public let html: String
  /// The plain text. A blank line separates paragraphs. Other white space is collapsed except in `pre`, and there are
  /// no control characters other than tab and line feed.
  public let text: String
  /// The pictures in the order of the source, each URL once.
  public let images: [Image]

  /// The maximum number of source bytes (UTF-8) that are read.
  public static let maximumSourceBytes = 16 * 1024 * 1024

  /// The maximum number of attributes of a tag that are read.
  public static let maximumAttributes = 64

  /// Sanitises markup.
  ///
  /// - Parameters:
  ///   - source: HTML, including whole documents. It is truncated after ``maximumSourceBytes``.
  ///   - base: The absolute URL that relative links refer to. Without one they are dropped.
  public init(_ source: String, base: String? = nil) {
    let base = base.flatMap { URL(string: $0) }
    let builder = FragmentBuilder(base: base)
    builder.read(source)
    text = builder.text
    images = builder.images
    html = Self.stabilized(builder.html, text: text, base: base)
  }

  /// Whether a text contains a tag or comment of HTML, so that it has to be parsed as markup. `a < b` and `Array<Int>`
  /// do not.
  public static func looksLikeMarkup(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var index = 0
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start + 1
      if bytes[index...].starts(with: "!--".utf8) { return true }
      let rest = bytes[index...].first == UInt8(ascii: "/") ? bytes[(index + 1)...] : bytes[index...]
      let name = rest.prefix(16).prefix { $0.isASCIIAlphanumeric }
      guard rest.count > name.count, " \t\n\r/>".utf8.contains(rest[rest.startIndex + name.count]) else { continue }
      if ElementRules.isKnown(String(decoding: name, as: UTF8.self).lowercased()) { return true }
    }
    return false
  }

  /// Decodes the entities of a text that is not markup. Its white space is kept, except at both ends.
  public static func decodingEntities(_ text: String) -> String {
    let builder = FragmentBuilder(base: nil)
    // The text is searched as bytes, because comparing characters takes time quadratic in their combining marks.
    let escaped = text.utf8.flatMap { $0 == UInt8(ascii: "<") ? Array("&lt;".utf8) : [$0] }
    builder.read("<pre>" + String(decoding: escaped, as: UTF8.self) + "</pre>")
    return builder.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Rewrites a fragment until it no longer changes.
  ///
  /// The parser corrects nesting by its own rules, so that the rest may be corrected again after elements are removed.
  /// If the fragment does not become stable, the result is its text alone, in paragraphs.
  private static func stabilized(_ first: String, text: String, base: URL?) -> String {
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
    let builder = FragmentBuilder(base: base)
    builder.read(html)
    return builder.html
  }
}
