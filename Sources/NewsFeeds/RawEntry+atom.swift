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
    identifier = entry.value(.dublinCore, "identifier")
    home = feed.link
    // Most ids that are web addresses are those of the entries' pages.
    link = Self.page(links, within: base) ?? guid.flatMap { SafeLink.web($0) }
    noteLoss(of: Self.pages(links).first?.target, used: link)
    page = Self.original(entry, of: link, within: base)
    let body = entry.first(.atom, "content")
    let outerBase = ownBase ?? link ?? feed.fallbackBase
    self.base = Self.base(of: body ?? entry.first(.atom, "summary"), within: outerBase)
    dates = ["published", "issued", "created", "updated", "modified"].compactMap { entry.value(.atom, $0) }
    dates += Self.dublinCoreDates(entry)
    title =
      Self.atomText(entry.first(.atom, "title"), within: outerBase)
      ?? RawText(entry.value(.dublinCore, "title"), .unsure) ?? Self.mediaText("title", of: entry)
    summary =
      Self.atomText(entry.first(.atom, "summary"), within: outerBase)
      ?? RawText(entry.value(.dublinCore, "description"), .unsure) ?? Self.mediaText("description", of: entry)
    content = Self.atomText(body, within: outerBase)
    let labelled = entry.all(.atom, "category").filter { !Exclusion.isKind($0) }
    categories = labelled.compactMap { $0["label"]?.nonEmpty ?? $0["term"] }
    categories += entry.all(.dublinCore, "subject").map(\.text)
    if categories.isEmpty { categories = Self.moduleCategories(entry) }
    language = body?.xml("lang") ?? entry.xml("lang") ?? feed.language
    let original = entry.first(.atom, "source").map(Self.names) ?? []
    authors = [Self.names(entry), Self.moduleAuthors(entry), original].first { !$0.isEmpty } ?? feed.authors
    attachments = links.filter { $0.relation == "enclosure" }.compactMap { file in
      guard let target = file.target else { return nil }
      let url = SafeLink.web(target, base: Self.base(of: file, within: base)) ?? target
      return Attachment(url: url, type: file["type"] ?? "", bytes: file["length"].flatMap(Self.count))
    }
    attachments += Self.mediaFiles(entry)
    if let body { readOther(body, isRead: content != nil, within: outerBase) }
    for part in ["title", "summary"] {
      guard let element = entry.first(.atom, part), part == "title" ? title == nil : summary == nil else { continue }
      readOther(element, isRead: false, within: outerBase)
    }
    lateFiles += Self.pictures(of: entry, feed, beside: attachments)
    lateAuthors = Self.longNames(entry)
    if lateAuthors.isEmpty, authors.isEmpty { lateAuthors = feed.longAuthors }
    readCaptions(entry)
    exclusion = Exclusion(entry)
  }

  static func base(of element: FeedElement?, within base: String?) -> String? {
    element?.xml("base").flatMap { SafeLink.web($0, base: base) } ?? base
  }

  /// Reads content that is no text: a file, or a page of which only the address is known (RFC 4287 section 4.1.3.2). What
  /// cannot be read is reported.
  private mutating func readOther(_ element: FeedElement, isRead: Bool, within base: String?) {
    let type = MediaType.valid(element["type"] ?? "")
    if let source = element["src"]?.trimmed.nonEmpty {
      let url = SafeLink.web(source, base: Self.base(of: element, within: base)) ?? source
      let kind = type ?? MediaType.guessed(from: url)
      if ["image/", "audio/", "video/"].contains(where: kind.hasPrefix) || kind == "application/pdf" {
        lateFiles.append(Attachment(url: url, type: kind))
      } else if !isRead, link.map({ $0.utf8.elementsEqual(url.utf8) }) != true {
        losses.append("the content is omitted: it is at " + PlainText.shortened(PlainText.line(url), to: 64))
      }
    } else if !isRead, element.hasElements || element.text.contains(where: { !$0.isWhitespace }) {
      let name = PlainText.shortened(PlainText.line(element["type"] ?? "text"), to: 64)
      losses.append("the \(element.name.local) is omitted: its type is \"\(name)\"")
    }
  }

  private static func pages(_ links: [FeedElement]) -> [FeedElement] {
    links.filter { $0.relation == "alternate" }
  }

  private static func page(_ links: [FeedElement], within base: String?) -> String? {
    let pages = pages(links)
    let page = pages.first { ($0["type"] ?? "text/html").contains("html") } ?? pages.first
    return page.flatMap { page in page.target.flatMap { SafeLink.web($0, base: Self.base(of: page, within: base)) } }
  }

  private static func names(_ element: FeedElement) -> [String] {
    element.all(.atom, "author").compactMap(name(ofPerson:))
  }

  /// Reads a text construct (RFC 4287 section 3.1) or content (section 4.1.3.3); nil for other media types and external
  /// content.
  static func atomText(_ element: FeedElement?, within base: String? = nil) -> RawText? {
    guard let element else { return nil }
    if element["mode"]?.utf8.elementsEqual("base64".utf8) == true { return encodedText(element) }
    // A longer value is not a type, and comparing it would take time quadratic in its combining marks.
    let type = element["type"]?.nonEmpty ?? "text"
    switch type.utf8.count <= 256 ? type.lowercased().trimmed : "" {
    case "xhtml", "application/xhtml+xml":
      // "The content SHOULD be a single div, which MUST NOT be considered part of the content."
      guard let wrapper = element.wrapper else { return RawText(element.markup(within: base), .html) }
      return RawText(wrapper.markup(within: Self.base(of: element, within: base)), .html)
    case "html", "text/html":
      // Some publishers escape the markup and put it into a `div` nevertheless.
      if let wrapper = element.wrapper, !wrapper.hasElements { return RawText(wrapper.text, .html) }
      return RawText(element.hasElements ? element.markup(within: base, texts: .html) : element.text, .html)
    case "text" where element.hasElements:
      return RawText(element.markup(within: base), .html)
    case let type where type == "text" || type.hasPrefix("text/"):
      return RawText(element.text, .plain)
    default:
      return nil
    }
  }

  /// Reads a text of Atom 0.3 that is encoded with Base64. A text that is not Base64 is taken literally.
  private static func encodedText(_ element: FeedElement) -> RawText? {
    let written = element.text
    let digits = Data(written.utf8.filter { $0 > 0x20 })
    let text = Data(base64Encoded: digits).map { String(decoding: $0, as: UTF8.self) } ?? written
    return RawText(text, element["type"]?.utf8.prefix(256).contains(Array("html".utf8)) == true ? .html : .plain)
  }
}

extension FeedElement {
  /// The `div` that is the whole content; nil if there is none.
  fileprivate var wrapper: FeedElement? {
    guard let child = children.first, child.name.local == "div", children.count == 1, text.trimmed.isEmpty else {
      return nil
    }
    return child
  }
}
