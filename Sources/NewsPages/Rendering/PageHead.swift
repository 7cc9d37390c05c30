import News

/// The facts about a page that its head, its navigation and its foot show.
struct PageHead {
  /// The title; nil for the front page.
  var title: String?
  var description: String?
  /// The path and query of the page; nil for a page without an address of its own.
  var path: String?
  /// The slug of the section.
  var topic: String?
  /// The title of the section of the item.
  var section: String?
  var isFront = false
  /// Whether search engines should not list the page.
  var isUnlisted = false
  /// The item; nil for a list.
  var item: NewsItem?
  /// The picture of the item.
  var picture: PagePicture?
}

extension PageRenderer {
  /// Returns the values of the head, the navigation and the foot.
  func values(of head: PageHead, topics: [PageTopic]) -> PageValues {
    var values = PageValues()
    values.set("t", texts.texts)
    values.set("language", site.language.tag)
    values.set("siteName", site.name)
    values.set("documentTitle", head.title.map { "\($0) – \(site.name)" } ?? site.name)
    values.set("description", head.description)
    values.set("isUnlisted", head.isUnlisted)
    values.set("stylesheet", site.link("/assets/" + assets.name(of: "reader.css")))
    values.set("icon", site.link("/assets/" + assets.name(of: "icon.svg")))
    values.set("home", site.link("/"))
    values.set("canonical", head.path.flatMap { site.absolute($0) })
    values.set("isFront", head.isFront)
    values.set("hasTopics", !topics.isEmpty)
    values.set("topics", topics.prefix(Self.maximumTopics).map { navigationLink($0, isCurrent: $0.slug == head.topic) })
    values.set("feeds", feeds(of: head, topics))
    values.set("hasFeeds", !site.feeds.isEmpty)
    if head.path != nil { setCard(head, in: &values) }
    return values
  }

  private func navigationLink(_ topic: PageTopic, isCurrent: Bool) -> PageValues {
    let title = topic.title(in: site.language)
    var values = PageValues()
    values.set("href", site.link(Self.path(ofTopic: topic.slug)))
    values.set("topicTitle", title.text)
    values.set("topicLanguage", title.language)
    values.set("isCurrent", isCurrent)
    return values
  }

  /// The feeds of the site, or of a section, for feed readers to discover (RFC 8288, `rel="alternate"`).
  private func feeds(of head: PageHead, _ topics: [PageTopic]) -> [PageValues] {
    let topic = head.topic.flatMap { slug in topics.first { $0.slug == slug } }
    let title = topic.map { "\($0.title(in: site.language).text) – \(site.name)" } ?? site.name
    let folder = topic.map { Self.path(ofTopic: $0.slug) } ?? ""
    return site.feeds.map { feed in
      var values = PageValues()
      values.set("format", feed.name)
      values.set("type", feed.mediaType)
      values.set("href", site.link("\(folder)/\(feed.fileName)"))
      values.set("feedTitle", "\(title) (\(feed.name))")
      return values
    }
  }

  /// Sets the properties of social cards (The Open Graph protocol, ogp.me; Twitter cards). Addresses in them are absolute.
  private func setCard(_ head: PageHead, in values: inout PageValues) {
    var properties: [PageValues] = []
    func add(_ property: String, _ content: String?) {
      guard let content, !content.isEmpty else { return }
      var values = PageValues()
      values.set("property", property)
      values.set("content", content)
      properties.append(values)
    }
    add("og:site_name", site.name)
    add("og:type", head.item == nil ? "website" : "article")
    add("og:title", head.title ?? site.name)
    add("og:description", head.description)
    add("og:url", head.path.flatMap { site.absolute($0) })
    let picture = head.picture.flatMap { picture in picture.absolute(on: site).map { (picture, $0) } }
    if let (picture, address) = picture {
      add("og:image", address)
      add("og:image:width", picture.width.map(String.init))
      add("og:image:height", picture.height.map(String.init))
      add("og:image:alt", picture.alt)
    }
    if let item = head.item {
      add("article:published_time", PageDate(item.date, texts).machine)
      add("article:modified_time", PageDate(max(item.date, item.updated), texts).machine)
      add("article:section", head.section)
    }
    values.set("properties", properties)
    values.set("card", picture == nil ? "summary" : "summary_large_image")
  }
}
