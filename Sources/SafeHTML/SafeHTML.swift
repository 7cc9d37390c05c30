internal import Foundation

/// Markup of unknown origin in a safe form: an allow-listed fragment, its plain text and its pictures.
///
/// The fragment is written anew from the events of the parser, so that nothing of the source passes through unchecked.
/// It is well-formed XML and HTML at once. It has only the elements and attributes of `ElementRules`, without scripts,
/// styles, forms or embedded documents, and only absolute links and links to targets in the fragment. The ids of targets
/// begin with `user-content-`. The same source always gives the same result, and a fragment that is sanitised again does
/// not change. Any string is accepted.
///
/// Nothing that a reader would miss is dropped: the words of every element, the address of an embed as a link, the real
/// address of a picture that a script would load, and the alternative text of a picture without a usable address stay.
///
///     let safe = SafeHTML("<p>See:</p><iframe src='https://video.example/embed/1' title='Launch'></iframe>")
///     safe.html  // <p>See:</p><a href="https://video.example/embed/1">Launch</a>
public struct SafeHTML: Sendable, Equatable {
  /// The safe fragment; empty if the source has nothing to show.
  public let html: String
  /// The plain text. A blank line separates paragraphs. Other white space is collapsed except in `pre`, and there are
  /// no control characters other than tab and line feed.
  public let text: String
  /// The pictures in the order of the source, each URL once.
  public let images: [Image]
  /// The sounds and films in the order of the source, each URL once. Of several formats, the first.
  public let recordings: [Recording]
  /// The parts that are missing although a reader would miss them.
  public let losses: [Loss]

  /// The maximum number of source bytes (UTF-8) that are read.
  public static let maximumSourceBytes = 16 * 1024 * 1024

  /// The maximum number of attributes of a tag that are read.
  public static let maximumAttributes = 64

  /// Sanitises markup.
  ///
  /// - Parameters:
  ///   - source: HTML, including whole documents. It is truncated after ``maximumSourceBytes``.
  ///   - base: The absolute URL that relative links refer to. Without one they are dropped.
  ///   - address: The URL of the source itself. Links to its targets stay inside of the fragment.
  public init(_ source: String, base: String? = nil, address: String? = nil) {
    let links = LinkContext(base: base.flatMap { URL(string: $0) }, address: address)
    let builder = FragmentBuilder.reading(source, links)
    text = builder.text
    images = builder.images
    recordings = builder.recordings
    losses = builder.losses
    html = Self.stabilized(builder.html, text: text, links)
  }

  /// Whether a text contains a tag or comment of HTML, so that it has to be parsed as markup. `a < b`, `Array<Int>` and
  /// `The <iframe> tag` do not.
  public static func looksLikeMarkup(_ text: String) -> Bool { MarkupRepair.repaired(Array(text.utf8)).hasMarkup }

  /// Decodes the entities of a text that is not markup. Its white space is kept, except at both ends.
  public static func decodingEntities(_ text: String) -> String {
    let builder = FragmentBuilder(LinkContext(base: nil, address: nil))
    // The text is searched as bytes, because comparing characters takes time quadratic in their combining marks.
    let parts = text.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
    builder.read("<pre>" + parts.map { String(Substring($0)) }.joined(separator: "&lt;") + "</pre>")
    return builder.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Rewrites a fragment until it no longer changes.
  ///
  /// The parser corrects nesting by its own rules, so that the rest may be corrected again after elements are removed.
  /// If the fragment does not become stable, the result is its text alone, in paragraphs.
  private static func stabilized(_ first: String, text: String, _ links: LinkContext) -> String {
    var html = first
    for _ in 0..<6 {
      let again = rewritten(html, links)
      if again == html { return html }
      html = again
    }
    let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: true)
    return rewritten(paragraphs.map { "<p>" + Markup.escaped(String($0)) + "</p>" }.joined(), links)
  }

  private static func rewritten(_ html: String, _ links: LinkContext) -> String {
    let builder = FragmentBuilder(links)
    builder.read(html)
    return builder.html
  }
}
