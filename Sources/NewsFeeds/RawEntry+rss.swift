internal import Foundation
internal import News
internal import SafeHTML

extension RawEntry {
  /// Reads an `item` of RSS 2.0 (rssboard.org/rss-specification) or its older forms, with the modules in common use.
  init(rss item: FeedElement, _ feed: FeedMetadata) {
    self.init(position: .line(item.line), source: "rss:" + feed.source)
    let guide = item.first(.none, "guid")
    let base = item.xml("base").flatMap { SafeLink.web($0, base: feed.base ?? feed.fallbackBase) } ?? feed.base
    let about = item.attributes.first { $0.space == .rdf && $0.name == "about" }?.value
    guid = guide?.text.trimmed.nonEmpty ?? about
    // "If isPermaLink is omitted or true, the guid is a permalink".
    let permalink = guide?["isPermaLink"]?.lowercased() == "false" ? nil : guid.flatMap { SafeLink.web($0) }
    let atomLink = item.all(.atom, "link").first { ($0["rel"] ?? "alternate") == "alternate" }?["href"]
    let written = item.value(.none, "link") ?? atomLink
    link = written.flatMap { SafeLink.web($0, base: base ?? feed.fallbackBase) } ?? permalink
    let outerBase = base ?? link ?? feed.fallbackBase
    let body = item.first(.content, "encoded") ?? item.first(.xhtml, "body")
    self.base = Self.base(of: body ?? item.first(.none, "description"), within: outerBase)
    home = feed.link
    dates = ["pubDate", "pubdate", "date"].compactMap { item.value(.none, $0) }
    dates += ["date", "issued", "created", "modified"].compactMap { item.value(.dublinCore, $0) }
    dates += ["published", "updated"].compactMap { item.value(.atom, $0) }
    fallbackDate = feed.date
    title = Self.text(item.first(.none, "title"), within: outerBase)
    let description = Self.text(item.first(.none, "description"), within: outerBase)
    content = Self.text(body, within: outerBase)
    summary = content == nil ? nil : description
    content = content ?? description ?? Self.mediaDescription(item)
    categories = item.all(.none, "category").map(\.text) + item.all(.dublinCore, "subject").map(\.text)
    language = item.value(.dublinCore, "language") ?? item.xml("lang") ?? feed.language
    authors = item.all(.dublinCore, "creator").map(\.text)
    if authors.isEmpty { authors = item.all(.none, "author").map { Self.name(inMailbox: $0.text) } }
    attachments = item.all(.none, "enclosure").compactMap { file in
      file["url"].map {
        Attachment(
          url: SafeLink.web($0, base: outerBase) ?? $0, type: file["type"] ?? "",
          bytes: file["length"].flatMap(Self.count))
      }
    }
    attachments += Self.mediaFiles(item)
  }

  /// Reads the files of Media RSS (rssboard.org/media-rss), in groups or not.
  static func mediaFiles(_ element: FeedElement) -> [Attachment] {
    let places = [element] + element.all(.media, "group")
    let files = places.flatMap { $0.all(.media, "content") + $0.all(.media, "thumbnail") }
    let nested = files.flatMap { $0.all(.media, "thumbnail") }
    return (files + nested).compactMap { file in
      guard let url = file["url"]?.nonEmpty else { return nil }
      // The page of a player is not a media file.
      if file["medium"] == "document" || file["type"]?.utf8.starts(with: "text/html".utf8) == true { return nil }
      return Attachment(
        url: url, type: file["type"] ?? "", bytes: file["fileSize"].flatMap(count),
        width: file["width"].flatMap(pixels), height: file["height"].flatMap(pixels))
    }
  }

  /// Reads the description that some video feeds have in place of a text.
  static func mediaDescription(_ element: FeedElement) -> RawText? {
    let places = [element] + element.all(.media, "group")
    return RawText(places.lazy.compactMap { $0.value(.media, "description") }.first, .unsure)
  }

  /// Parses a length in bytes; nil for 0, which many feeds write for "unknown".
  static func count(_ text: String) -> Int? {
    Int(text.trimmed).flatMap { $0 > 0 ? $0 : nil }
  }

  static func pixels(_ text: String) -> Int? {
    count(text).flatMap { $0 <= 99_999 ? $0 : nil }
  }

  /// Reads a text. Child elements are markup that was not escaped.
  private static func text(_ element: FeedElement?, within base: String?) -> RawText? {
    guard let element else { return nil }
    return element.hasElements ? RawText(element.markup(within: base), .html) : RawText(element.text, .unsure)
  }

  /// Extracts the name from `lawyer@boyer.net (Lawyer Boyer)` or `Lawyer Boyer <lawyer@boyer.net>`. Readers see the
  /// name, not the address.
  private static func name(inMailbox text: String) -> String {
    guard text.utf8.count <= 4 * EntryBuilder.maximumAuthorBytes else { return "" }
    if let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close {
      return String(text[text.index(after: open)..<close]).trimmed
    }
    if let open = text.firstIndex(of: "<"), text.contains("@") {
      return text[..<open].trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\""))
    }
    return text.contains("@") && !text.trimmed.contains(" ") ? "" : text
  }
}
