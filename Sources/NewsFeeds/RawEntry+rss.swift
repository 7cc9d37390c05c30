internal import Foundation
internal import News
internal import SafeHTML

extension RawEntry {
  /// Reads an `item` of RSS 2.0 (rssboard.org/rss-specification) or its older forms, with the modules in common use and
  /// elements of Atom.
  init(rss item: FeedElement, _ feed: FeedMetadata) {
    self.init(position: .line(item.line), source: "rss:" + feed.source)
    let guide = item.first(.none, "guid")
    let base = item.xml("base").flatMap { SafeLink.web($0, base: feed.base ?? feed.fallbackBase) } ?? feed.base
    let about = item.attributes.first { $0.space == .rdf && $0.name == "about" }?.value
    guid = guide?.text.trimmed.nonEmpty ?? about
    identifier = item.value(.atom, "id") ?? item.value(.dublinCore, "identifier")
    // "If isPermaLink is omitted or true, the guid is a permalink".
    let permalink = guide?["isPermaLink"]?.lowercased() == "false" ? nil : guid.flatMap { SafeLink.web($0) }
    let links = item.all(.none, "link") + item.all(.atom, "link")
    let written = links.lazy.filter { $0.relation == "alternate" }.compactMap(\.target).first
    link = written.flatMap { SafeLink.web($0, base: base ?? feed.fallbackBase) } ?? permalink
    noteLoss(of: written, used: link)
    page = Self.original(item, of: link, within: base ?? feed.fallbackBase)
    let outerBase = base ?? link ?? feed.fallbackBase
    let body = Self.first(of: Self.bodies, in: item, within: outerBase)
    let description = Self.first(of: Self.descriptions, in: item, within: outerBase)
    self.base = Self.base(of: body?.element ?? description?.element, within: outerBase)
    home = feed.link
    dates = ["pubDate", "pubdate", "date", "published", "updated"].compactMap { item.value(.none, $0) }
    dates += Self.dublinCoreDates(item)
    dates += ["published", "updated"].compactMap { item.value(.atom, $0) }
    fallbackDate = feed.date
    title = Self.first(of: Self.titles, in: item, within: outerBase)?.text ?? Self.mediaText("title", of: item)
    content = body?.text ?? description?.text ?? Self.mediaText("description", of: item)
    summary = body == nil ? nil : description?.text
    categories = item.all(.none, "category").map(\.text) + item.all(.dublinCore, "subject").map(\.text)
    if categories.isEmpty { categories = Self.moduleCategories(item) }
    language = item.value(.dublinCore, "language") ?? item.xml("lang") ?? feed.language
    authors = Self.authors(item)
    let files = item.all(.none, "enclosure").map { ($0, $0["url"] ?? $0["href"] ?? $0.text.trimmed.nonEmpty) }
    let linked = links.filter { $0.relation == "enclosure" }.map { ($0, $0.target) }
    attachments = (files + linked).compactMap { file, target in
      target.map {
        Attachment(
          url: SafeLink.web($0, base: outerBase) ?? $0, type: file["type"] ?? "",
          bytes: file["length"].flatMap(Self.count))
      }
    }
    attachments += Self.mediaFiles(item)
    lateFiles = Self.pictures(of: item, feed, beside: attachments)
    lateAuthors = Self.longNames(item)
    readCaptions(item)
    exclusion = Exclusion(item)
  }

  private static func authors(_ item: FeedElement) -> [String] {
    let creators = item.all(.dublinCore, "creator").map { name(inMailbox: $0.text) }.compactMap(\.trimmed.nonEmpty)
    if !creators.isEmpty { return creators }
    // The authors of Atom, with or without its namespace, have a name inside.
    let own = (item.all(.none, "author") + item.all(.atom, "author")).compactMap {
      $0.value(.none, "name") ?? name(ofPerson: $0)
    }
    return own.isEmpty ? moduleAuthors(item) : own
  }

  // MARK: Texts

  /// The elements that may be a title, in order of preference.
  static let titles = [
    FeedName(space: .none, local: "title"), FeedName(space: .dublinCore, local: "title"),
    FeedName(space: .itunes, local: "title"), FeedName(space: .atom, local: "title"),
  ]

  /// The elements with a whole text, in order of preference.
  private static let bodies = [
    FeedName(space: .content, local: "encoded"), FeedName(space: .xhtml, local: "body"),
    FeedName(space: .none, local: "body"), FeedName(space: .none, local: "fullitem"),
    FeedName(space: .xhtml, local: "div"), FeedName(space: .atom, local: "content"),
    FeedName(space: .none, local: "content"),
  ]

  /// The elements with a text that may be a summary, in order of preference.
  private static let descriptions = [
    FeedName(space: .none, local: "description"), FeedName(space: .itunes, local: "summary"),
    FeedName(space: .dublinCore, local: "description"), FeedName(space: .dublinCore, local: "abstract"),
    FeedName(space: .none, local: "summary"), FeedName(space: .atom, local: "summary"),
    FeedName(space: .itunes, local: "subtitle"),
  ]

  /// Finds the first element of the most preferred name that has text.
  private static func first(
    of names: [FeedName], in item: FeedElement, within base: String?
  ) -> (element: FeedElement, text: RawText)? {
    for name in names {
      for element in item.all(name.space, name.local) {
        if let text = text(element, within: base) { return (element, text) }
      }
    }
    return nil
  }

  /// Reads a text. Child elements are markup that was not escaped. Only XHTML has no escaped markup beside them.
  static func text(_ element: FeedElement, within base: String? = nil) -> RawText? {
    guard element.hasElements else { return RawText(element.text, .unsure) }
    return RawText(element.markup(within: base, texts: element.name.space == .xhtml ? .plain : .unsure), .html)
  }
}
