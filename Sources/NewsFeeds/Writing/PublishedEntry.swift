internal import Foundation
internal import News

/// An item as an entry of a feed.
struct PublishedEntry {
  /// The maximum length of the beginning of a text, in Unicode scalars.
  private static let excerptLength = 300

  /// The item, whose files have absolute URLs.
  let item: NewsItem
  /// The id of the entry in all formats (RFC 9562 section 4).
  let id: String
  /// The whole content as HTML; nil if the feed has summaries only.
  let html: String?
  /// The whole content as plain text, if the item has no HTML; nil if the feed has summaries only.
  let text: String?
  /// The summary, or, in a feed of summaries, the beginning of the text of an item without one.
  let summary: String?

  init(_ item: NewsItem, of site: FeedSite) {
    var item = item
    for index in item.attachments.indices where item.attachments[index].url.hasPrefix("/") {
      item.attachments[index].url = site.url + item.attachments[index].url
    }
    self.item = item
    id = "urn:uuid:" + item.id.uuidString.lowercased()
    switch site.content {
    case .full:
      html = item.html ?? Self.markup(item.text)
      text = item.html == nil ? item.text : nil
      summary = item.summary
    case .summary:
      html = nil
      text = nil
      summary = item.summary ?? Self.excerpt(item.text)
    }
  }

  /// The paragraphs of a plain text as HTML. Many readers show a text without them as one line.
  static func markup(_ text: String) -> String {
    var html = ""
    var lines: [Substring] = []
    func paragraph() -> String {
      let escaped = lines.map { line in
        line.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      }
      return lines.isEmpty ? "" : "<p>\(escaped.joined(separator: "<br/>\n"))</p>\n"
    }
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r\n", "\r"].contains($0) }) {
      if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
        html += paragraph()
        lines = []
      } else {
        lines.append(line)
      }
    }
    return html + paragraph()
  }

  /// The beginning of a text on one line, up to the end of a word.
  static func excerpt(_ text: String) -> String {
    let words = text.unicodeScalars.prefix(4 * excerptLength).split(whereSeparator: \.properties.isWhitespace)
    var excerpt = String.UnicodeScalarView()
    for word in words {
      guard excerpt.count + word.count < excerptLength || excerpt.isEmpty else { return String(excerpt) + "…" }
      if !excerpt.isEmpty { excerpt.append(" ") }
      excerpt.append(contentsOf: word.prefix(excerptLength))
    }
    return String(excerpt) + (text.unicodeScalars.dropFirst(4 * excerptLength).isEmpty ? "" : "…")
  }
}
