import Foundation
import News

extension PageRenderer {
  /// The lengths of texts in lists, in Unicode scalars.
  private static let headlineLength = 160
  private static let excerptLength = 280
  /// The length of a headline that is the beginning of a text without a title.
  static let derivedHeadlineLength = 110

  /// Returns the values of an item in a list.
  func storyValues(
    _ item: NewsItem, isFirst: Bool, _ titles: [String: (text: String, language: String?)]
  ) -> PageValues {
    var values = PageValues()
    let (headline, rest) = Self.headline(of: item)
    values.set("href", site.link(Self.path(of: item.id)))
    values.set("headline", Excerpt.of(headline, limit: Self.headlineLength))
    values.set("excerpt", Excerpt.of(item.summary ?? rest, limit: Self.excerptLength))
    values.set("itemLanguage", item.language)
    values.set("author", item.author.map { Excerpt.of($0, limit: 80) })
    let date = PageDate(item.date, texts)
    values.set("datetime", date.machine)
    values.set("date", date.text)
    setLabels(of: item, titles, in: &values)
    if let picture = item.attachments.lazy.compactMap({ PagePicture($0, on: site) }).first {
      values.set("picture", [picture.values(isLazy: !isFirst, texts)])
    }
    return values
  }

  /// Sets the topics of an item.
  func setLabels(
    of item: NewsItem, _ titles: [String: (text: String, language: String?)], in values: inout PageValues
  ) {
    let labels = item.topics.compactMap { slug -> PageValues? in
      // A topic that was deleted has no page.
      guard let title = titles[slug] else { return nil }
      var values = PageValues()
      values.set("href", site.link(Self.path(ofTopic: slug)))
      values.set("topicTitle", title.text)
      values.set("topicLanguage", title.language)
      return values
    }
    values.set("isBreaking", item.breaking)
    values.set("labels", labels)
    values.set("hasKicker", item.breaking || !labels.isEmpty)
  }

  /// Returns the headline of an item, and the text after it.
  static func headline(of item: NewsItem) -> (headline: String, rest: String) {
    headline(title: item.title, text: item.text)
  }

  /// Returns the headline of an item with a title and a text, and the text after it.
  package static func headline(title: String?, text: String) -> (headline: String, rest: String) {
    if let title, !Excerpt.of(title, limit: 1).isEmpty { return (title, text) }
    return Excerpt.headline(of: text, limit: derivedHeadlineLength)
  }
}

/// The content of an item on its own page.
struct ItemContentValues {
  let item: NewsItem
  let headline: String
  /// A text for search engines and social cards.
  let description: String
  /// The sanitised HTML; empty if the headline says all.
  private let body: String
  /// The pictures that the HTML does not contain.
  let figures: [PagePicture]
  private let recordings: [Attachment]
  private let files: [Attachment]

  init(_ item: NewsItem, _ renderer: PageRenderer) {
    self.item = item
    let (headline, rest) = PageRenderer.headline(of: item)
    self.headline = headline
    description = Excerpt.of(item.summary ?? item.text, limit: 200)
    let markup = item.html.map { ItemMarkup($0) }
    body = markup.flatMap { $0.html.isEmpty ? nil : $0.html } ?? HTMLText.paragraphs(rest)
    var (figures, recordings, files) = ([PagePicture](), [Attachment](), [Attachment]())
    for attachment in item.attachments where markup?.pictures.contains(attachment.url) != true {
      if let picture = PagePicture(attachment, on: renderer.site) {
        figures.append(picture)
      } else if attachment.isRecording, attachment.source(on: renderer.site) != nil {
        recordings.append(attachment)
      } else {
        files.append(attachment)
      }
    }
    (self.figures, self.recordings, self.files) = (figures, recordings, files)
  }

  func set(in values: inout PageValues, _ site: PageSite, _ texts: TextCatalogue) {
    values.set("headline", headline)
    values.set("summary", item.summary)
    values.set("body", body)
    values.set("itemLanguage", item.language)
    values.set("author", item.author)
    let date = PageDate(item.date, texts)
    values.set("datetime", date.machine)
    values.set("date", date.text)
    values.set("leads", figures.prefix(1).map { $0.values(isLazy: false, texts) })
    values.set("figures", figures.dropFirst().map { $0.values(isLazy: true, texts) })
    values.set("recordings", recordings.map { recording($0, site) })
    let links = files.compactMap { file($0, site) }
    values.set("files", links)
    values.set("hasFiles", !links.isEmpty)
    if let link = item.url.flatMap({ WebLink.normalised($0) }), let host = URL(string: link)?.host() {
      values.set("original", link)
      values.set("originalText", texts.text("original", ["host": host]))
    }
  }

  private func recording(_ attachment: Attachment, _ site: PageSite) -> PageValues {
    var values = PageValues()
    values.set("source", attachment.source(on: site))
    values.set("isVideo", attachment.type.utf8.starts(with: "video/".utf8))
    values.set("alt", attachment.alt ?? attachment.caption)
    values.set("width", attachment.width)
    values.set("height", attachment.height)
    values.set("caption", attachment.caption)
    values.set("credit", attachment.credit)
    values.set("hasCaption", attachment.caption?.isEmpty == false || attachment.credit?.isEmpty == false)
    return values
  }

  private func file(_ attachment: Attachment, _ site: PageSite) -> PageValues? {
    guard let link = attachment.link(on: site) else { return nil }
    var values = PageValues()
    values.set("source", link)
    let name = attachment.caption ?? attachment.alt ?? link.split(separator: "/").last.map(String.init) ?? link
    values.set("fileName", Excerpt.of(name, limit: 120))
    values.set("type", attachment.type)
    values.set("credit", attachment.credit)
    return values
  }
}

extension Attachment {
  fileprivate var isRecording: Bool {
    type.utf8.starts(with: "audio/".utf8) || type.utf8.starts(with: "video/".utf8)
  }
}
