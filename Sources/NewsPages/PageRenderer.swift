import Crypto
import Foundation
public import News

/// Renders the pages for readers from values. A page depends on nothing else: neither on the request nor on the time.
///
///     let pages = PageRenderer(PageSite(publicURL: "https://news.example"))
///     let html = pages.page(of: item, topics: topics)
public struct PageRenderer: Sendable {
  /// A list of items, or one page of a longer list, without its stories.
  public struct List: Sendable {
    /// The section; nil for all news.
    public var topic: String?
    /// Whether the page is not the first one.
    public var isContinued: Bool
    /// The cursor of the page with older items; nil if there are none.
    public var older: String?
    /// The cursor of the page with newer items; nil if there are none.
    public var newer: String?
    /// The query of the page's own address; nil without one.
    public var query: String?

    /// Creates a list. The default is the first and only page of all news.
    public init(
      topic: String? = nil, isContinued: Bool = false, older: String? = nil, newer: String? = nil, query: String? = nil
    ) {
      self.topic = topic
      self.isContinued = isContinued
      self.older = older
      self.newer = newer
      self.query = query
    }
  }

  /// The name of the query parameter whose value is the cursor of a page with older items.
  public static let olderParameter = "before"
  /// The name of the query parameter whose value is the cursor of a page with newer items.
  public static let newerParameter = "after"

  /// The version of the code that renders. It changes with the HTML of equal values.
  private static let format = 1
  /// The maximum number of topics in the navigation.
  static let maximumTopics = 40

  /// The files that pages refer to.
  public let assets: PageAssets
  /// A hash over everything besides the arguments that determines a page: the texts, templates and stylesheet, and the
  /// facts about the site. It is the same on all servers of a version with the same settings.
  public let identity: [UInt8]

  /// Whether lists offer notifications by Web Push, for which they have a script.
  public var offersNotifications: Bool { site.offersNotifications }

  let site: PageSite
  let texts: TextCatalogue
  private let templates: TemplateSet

  /// Creates the renderer of an installation.
  public init(_ site: PageSite) {
    self.site = site
    texts = TextCatalogue(site.language)
    // The templates are part of the program, and tests render each of them.
    templates = try! TemplateSet(embeddedTemplates)
    assets = PageAssets()
    var hash = SHA256()
    func add(_ text: String) { hash.update(data: Data("\(text.utf8.count):\(text)".utf8)) }
    add(
      "\(Self.format) \(TidingsVersion.current) \(site.language.tag) \(site.feeds) \(site.publicURL ?? "") \(site.offersNotifications)"
    )
    for file in embeddedTemplates + embeddedTexts + embeddedAssets { add(file.text) }
    identity = Array(hash.finalize())
  }

  /// Renders a page of a list.
  ///
  /// - Parameters:
  ///   - stories: The stories in UTF-8, newest first (``story(_:isFirst:topics:)``).
  ///   - topics: All topics in the order of the navigation.
  public func page(of list: List, stories: [[UInt8]], topics: [PageTopic]) -> String {
    let topic = list.topic.map { slug in topics.first { $0.slug == slug } ?? PageTopic(slug: slug, titles: [:]) }
    let title = topic.map { $0.title(in: site.language) }
    let path = Self.path(ofTopic: list.topic)
    var head = PageHead(title: title?.text)
    head.description =
      title.map { texts.text("topic-description", ["topic": $0.text, "site": site.name]) }
      ?? texts.text("site-description", ["site": site.name])
    head.path = path + (list.query.map { "?\($0)" } ?? "")
    head.topic = list.topic
    head.isFront = list.topic == nil
    var values = values(of: head, topics: topics)
    values.set("heading", title?.text ?? texts.text("latest"))
    values.set("headingLanguage", title?.language)
    values.set("first", site.link(path))
    values.set("isContinued", list.isContinued)
    values.set("isEmpty", stories.isEmpty)
    values.set("stories", String(decoding: stories.joined(), as: UTF8.self))
    values.set("older", list.older.map { site.link("\(path)?\(Self.olderParameter)=\($0)") })
    values.set("newer", list.newer.map { site.link("\(path)?\(Self.newerParameter)=\($0)") })
    values.set("hasPager", list.older != nil || list.newer != nil)
    if site.offersNotifications { values.set("notify", [notificationValues(ofTopic: list.topic)]) }
    return templates.render("list", values)
  }

  /// Renders an item as a part of a list.
  ///
  /// - Parameters:
  ///   - isFirst: Whether the item is the first one of its page, so that its picture is loaded at once.
  ///   - topics: All topics, whose titles the story shows.
  public func story(_ item: NewsItem, isFirst: Bool, topics: [PageTopic]) -> String {
    var values = storyValues(item, isFirst: isFirst, titles(of: topics))
    values.set("t", texts.texts)
    return templates.render("story", values)
  }

  /// The values of the button for notifications about a topic; nil for all news.
  private func notificationValues(ofTopic topic: String?) -> PageValues {
    var values = PageValues()
    values.set("worker", site.link("/" + PageAssets.workerName))
    values.set("notifyScript", site.link("/assets/" + assets.name(of: "notify.js")))
    values.set("notifyTopic", topic)
    return values
  }

  /// Renders the page of an item.
  ///
  /// - Parameter topics: All topics in the order of the navigation.
  public func page(of item: NewsItem, topics: [PageTopic]) -> String {
    page(of: item, topics: topics, note: nil)
  }

  /// Renders the page of an item that is not published, which has no address of its own.
  ///
  /// - Parameters:
  ///   - topics: All topics in the order of the navigation.
  ///   - note: HTML above the page. It is not escaped.
  package func preview(of item: NewsItem, topics: [PageTopic], note: String) -> String {
    page(of: item, topics: topics, note: note)
  }

  private func page(of item: NewsItem, topics: [PageTopic], note: String?) -> String {
    let content = ItemContentValues(item, self)
    let titles = titles(of: topics)
    var head = PageHead(title: content.headline)
    head.description = content.description
    head.path = note == nil ? Self.path(of: item.id) : nil
    head.isUnlisted = note != nil
    head.item = item
    head.section = item.topics.first.flatMap { titles[$0]?.text }
    head.picture = content.figures.first
    var values = values(of: head, topics: topics)
    content.set(in: &values, site, texts)
    setLabels(of: item, titles, in: &values)
    values.set("note", note)
    return templates.render("item", values)
  }

  /// Renders the page of an error.
  ///
  /// - Parameters:
  ///   - status: The status code of the response.
  ///   - detail: A sentence about this error, in the words of an editor; nil for none.
  public func errorPage(status: Int, detail: String? = nil) -> String {
    let known = texts.texts["error-\(status)-title"] == nil ? 500 : status
    let title = texts.text("error-\(known)-title")
    var head = PageHead(title: title)
    head.isUnlisted = true
    var values = values(of: head, topics: [])
    values.set("status", status)
    values.set("heading", title)
    values.set("explanation", texts.text("error-\(known)-text"))
    values.set("detail", detail)
    return templates.render("error", values)
  }

  /// The path of a list.
  static func path(ofTopic topic: String?) -> String { topic.map { "/topics/\($0)" } ?? "/" }

  /// The path of the page of an item.
  static func path(of id: UUID) -> String { "/items/\(id.uuidString.lowercased())" }

  func titles(of topics: [PageTopic]) -> [String: (text: String, language: String?)] {
    Dictionary(topics.map { ($0.slug, $0.title(in: site.language)) }) { first, _ in first }
  }
}
