internal import Foundation
internal import News
internal import SafeHTML

extension RawEntry {
  /// Reads an `entry` of Atom (RFC 4287) or of its predecessor 0.3.
  init(atom entry: FeedElement, _ feed: FeedMetadata) {
    self.init(position: .line(entry.line), source: "atom:" + feed.source)
    let ownBase = entry.xml("base").flatMap { SafeLink.web($0, base: feed.base ?? feed.fallbackBase) } ?? feed.base
    let links = entry.all(.atom, "link")
    let base = ownBase ?? feed.fallbackBase
    guid = entry.value(.atom, "id")
    home = feed.link
    let pages = links.filter { ($0["rel"] ?? "alternate") == "alternate" }
    let page = pages.first { ($0["type"] ?? "text/html").contains("html") } ?? pages.first
    link = page.flatMap { page in
      page["href"].flatMap { SafeLink.web($0, base: Self.base(of: page, within: base)) }
    }
    let body = entry.first(.atom, "content")
    let outerBase = ownBase ?? link ?? feed.fallbackBase
    self.base = Self.base(of: body ?? entry.first(.atom, "summary"), within: outerBase)
    dates = ["published", "issued", "created", "updated", "modified"].compactMap { entry.value(.atom, $0) }
    title = Self.text(entry.first(.atom, "title"), within: outerBase)
    summary = Self.text(entry.first(.atom, "summary"), within: outerBase) ?? Self.mediaDescription(entry)
    content = Self.text(body, within: outerBase)
    categories = entry.all(.atom, "category").compactMap { $0["label"]?.nonEmpty ?? $0["term"] }
    categories += entry.all(.dublinCore, "subject").map(\.text)
    language = body?.xml("lang") ?? entry.xml("lang") ?? feed.language
    let own = Self.names(entry)
    let original = entry.first(.atom, "source").map(Self.names) ?? []
    authors = own.isEmpty ? (original.isEmpty ? feed.authors : original) : own
    attachments = links.filter { $0["rel"] == "enclosure" }.compactMap { file in
      guard let target = file["href"], let url = SafeLink.web(target, base: Self.base(of: file, within: base)) else {
        return nil
      }
      return Attachment(url: url, type: file["type"] ?? "", bytes: file["length"].flatMap(Self.count))
    }
    attachments += Self.mediaFiles(entry)
  }

  static func base(of element: FeedElement?, within base: String?) -> String? {
    element?.xml("base").flatMap { SafeLink.web($0, base: base) } ?? base
  }

  private static func names(_ element: FeedElement) -> [String] {
    element.all(.atom, "author").compactMap { $0.value(.atom, "name") }
  }

  /// Reads a text construct (RFC 4287 section 3.1) or content (section 4.1.3.3); nil for other media types and external
  /// content.
  private static func text(_ element: FeedElement?, within base: String?) -> RawText? {
    guard let element else { return nil }
    // A longer value is not a type, and comparing it would take time quadratic in its combining marks.
    let type = element["type"] ?? "text"
    switch type.utf8.count <= 256 ? type.lowercased().trimmed : "" {
    case "xhtml", "application/xhtml+xml":
      // "The content SHOULD be a single div, which MUST NOT be considered part of the content."
      let wrapper = element.children.count == 1 ? element.children.first : nil
      guard let wrapper, wrapper.name.local == "div" else { return RawText(element.markup(within: base), .html) }
      return RawText(wrapper.markup(within: Self.base(of: element, within: base)), .html)
    case "html", "text/html":
      return RawText(element.hasElements ? element.markup(within: base) : element.text, .html)
    case "text" where element.hasElements:
      return RawText(element.markup(within: base), .html)
    case let type where type == "text" || type.hasPrefix("text/"):
      return RawText(element.text, .plain)
    default:
      return nil
    }
  }
}
