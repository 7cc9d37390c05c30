import Foundation
import News
import NewsPages
import TestSupport
import Testing

@Suite struct PageRendererTests {
  private static let topics = [
    PageTopic(slug: "harbour", titles: ["en": "Harbour", "de": "Hafen"]), PageTopic(slug: "sport", titles: [:]),
  ]
  private static let date = Date(timeIntervalSince1970: 1_794_636_000)

  private static func item(_ number: Int = 1) -> NewsItem {
    NewsItem(
      id: UUID(uuidString: "01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f\(number % 10)") ?? UUID(), version: 1, date: date,
      text: "The night ferry is back.\n\nSee https://ferry.example/times for all sailings.",
      title: "Night ferry returns",
      summary: "It calls at the old pier again.", topics: ["harbour"], language: "en-GB",
      url: "https://gazette.example/ferry", author: "Mara Quill",
      attachments: [
        Attachment(
          url: "/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6", type: "image/jpeg", width: 1200, height: 800,
          alt: "A white ferry", caption: "At dawn", credit: "Ann"),
        Attachment(url: "https://a.example/b.png", type: "image/png"),
        Attachment(url: "https://a.example/talk.mp3", type: "audio/mpeg", caption: "Interview"),
        Attachment(url: "http://a.example/plain.jpg", type: "image/jpeg", alt: "Plain"),
        Attachment(url: "https://a.example/plan.pdf", type: "application/pdf"),
      ], updated: date + 60)
  }

  private static let renderer = PageRenderer(PageSite(publicURL: "https://news.example", feeds: SampleFeeds.all))

  @Test("An item's page has its content, its date, its language and its files")
  func itemPage() throws {
    let page = try PageScan(Self.renderer.page(of: Self.item(), topics: Self.topics))
    #expect(page.accessibilityProblems == [])
    for text in [
      "Night ferry returns", "It calls at the old pier again.", "Mara Quill", "At dawn", "Photo: Ann", "Harbour",
    ] {
      #expect(page.text.contains(text), "\(text)")
    }
    #expect(page.text.contains("14 November 2026, 06:00 UTC"))
    #expect(page.all("time").first?["datetime"] == "2026-11-14T06:00:00.000Z")
    #expect(page.all("div").contains { $0["lang"] == "en-GB" })
    #expect(page.addresses.contains("https://ferry.example/times"))
    #expect(page.addresses.contains("https://gazette.example/ferry"))
    let images = page.all("img")
    #expect(images.map { $0["src"] } == ["/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6", "https://a.example/b.png"])
    #expect((images[0]["alt"], images[0]["width"], images[0]["height"]) == ("A white ferry", "1200", "800"))
    #expect(images.map { $0["loading"] } == [nil, "lazy"])
    #expect(page.all("audio").first?["src"] == "https://a.example/talk.mp3")
    // The policy of pages blocks pictures by http, so they are links.
    for file in ["http://a.example/plain.jpg", "https://a.example/plan.pdf"] { #expect(page.addresses.contains(file)) }
  }

  @Test("Social cards and canonical links have absolute addresses, which are omitted without a public URL")
  func socialCard() throws {
    let item = Self.item()
    let page = try PageScan(Self.renderer.page(of: item, topics: Self.topics))
    let own = "https://news.example/items/\(item.id.uuidString.lowercased())"
    #expect(page.links("canonical") == [own])
    #expect(page.meta("og:url") == own)
    #expect(page.meta("og:image") == "https://news.example" + item.attachments[0].url)
    #expect(page.meta("og:image:alt") == "A white ferry")
    #expect(page.meta("og:type") == "article")
    #expect(page.meta("og:title") == "Night ferry returns")
    #expect(page.meta("og:description") == "It calls at the old pier again.")
    #expect(page.meta("og:site_name") == "news.example")
    #expect(page.meta("article:published_time") == "2026-11-14T06:00:00.000Z")
    #expect(page.meta("article:modified_time") == "2026-11-14T06:01:00.000Z")
    #expect(page.meta("article:section") == "Harbour")
    #expect(page.meta("twitter:card") == "summary_large_image")

    let local = try PageScan(PageRenderer(PageSite()).page(of: item, topics: Self.topics))
    #expect(local.links("canonical") == [])
    #expect(local.meta("og:url") == nil && local.meta("og:image") == nil)
    #expect(local.meta("og:title") == "Night ferry returns")
    #expect(local.meta("twitter:card") == "summary")
  }

  @Test("Feeds are linked for feed readers, those of a topic on its page, and none if there are none")
  func feeds() throws {
    func feeds(_ topic: String?, _ renderer: PageRenderer) throws -> [String] {
      try PageScan(renderer.page(of: PageRenderer.List(topic: topic), items: [], topics: Self.topics)).links(
        "alternate")
    }
    #expect(try feeds(nil, Self.renderer) == ["/feed.atom", "/feed.rss", "/feed.json"])
    let names = ["atom", "rss", "json"]
    #expect(try feeds("harbour", Self.renderer) == names.map { "/topics/harbour/feed.\($0)" })
    #expect(try feeds(nil, PageRenderer(PageSite(publicURL: "https://news.example"))) == [])
  }

  @Test("A list has links to its items, topics and neighbouring pages")
  func list() throws {
    let list = PageRenderer.List(
      topic: "harbour", isContinued: true, older: "abc", newer: "xyz", query: "before=now")
    let items = [Self.item(1), Self.item(2)]
    let page = try PageScan(Self.renderer.page(of: list, items: items, topics: Self.topics))
    #expect(page.accessibilityProblems == [])
    #expect(page.links("next") == ["/topics/harbour?before=abc"] && page.links("prev") == ["/topics/harbour?after=xyz"])
    #expect(page.links("canonical") == ["https://news.example/topics/harbour?before=now"])
    for item in items { #expect(page.addresses.contains("/items/\(item.id.uuidString.lowercased())")) }
    #expect(page.all("a").first { $0["aria-current"] == "page" }?["href"] == "/topics/harbour")
    #expect(page.all("img").map { $0["loading"] } == [nil, "lazy"])
    #expect(page.text.contains("Harbour – news.example"))

    let empty = try PageScan(Self.renderer.page(of: PageRenderer.List(), items: [], topics: []))
    #expect(empty.accessibilityProblems == [])
    #expect(empty.text.contains("Nothing has been published here yet."))
    #expect(empty.links("next") == [] && empty.links("prev") == [])
  }

  @Test("A topic is shown in the language of the site, or else in English, with its language, or by its slug")
  func topicTitles() throws {
    let topics = [
      PageTopic(slug: "a", titles: ["en": "Harbour", "de-AT": "Hafen"]), PageTopic(slug: "b", titles: ["en": "City"]),
      PageTopic(slug: "c", titles: ["fr": "Ville"]), PageTopic(slug: "d", titles: [:]),
    ]
    let german = PageRenderer(PageSite(language: .german))
    let page = try PageScan(german.page(of: PageRenderer.List(), items: [], topics: topics))
    #expect(page.all("html").first?["lang"] == "de")
    for text in ["Hafen", "City", "Ville", "d", "Alle Meldungen"] { #expect(page.text.contains(text), "\(text)") }
    let languages = ["a", "b", "c", "d"].map { slug in page.all("a").first { $0["href"] == "/topics/\(slug)" }?["lang"]
    }
    #expect(languages == ["de-AT", "en", "fr", nil])
  }

  @Test("All paths begin with that of the public URL, and files of the same server are loaded by their path")
  func basePath() throws {
    let renderer = PageRenderer(PageSite(publicURL: "https://www.example.org/news", feeds: SampleFeeds.all))
    var item = Self.item()
    item.attachments[1].url = "https://www.example.org/news/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7"
    let page = try PageScan(renderer.page(of: item, topics: Self.topics))
    for address in page.addresses where address.hasPrefix("/") { #expect(address.hasPrefix("/news/"), "\(address)") }
    #expect(page.all("img").map { $0["src"] }.last == "/news/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7")
    #expect(page.meta("og:image") == "https://www.example.org/news\(item.attachments[0].url)")
    #expect(page.meta("og:site_name") == "example.org")
  }

  @Test("An item without a title has the beginning of its text as headline", arguments: [nil, " "])
  func untitled(title: String?) throws {
    var item = Self.item()
    (item.title, item.summary, item.text) = (title, nil, "The ferry is back in port. It left at six.")
    let page = Self.renderer.page(of: item, topics: [])
    #expect(page.contains("<h1>The ferry is back in port.</h1>") && page.contains("<p>It left at six.</p>"))
    item.text = "Fog."
    #expect(try PageScan(Self.renderer.page(of: item, topics: [])).text.contains("Fog."))
  }

  @Test("Pictures in the HTML of an item are not shown a second time")
  func picturesOfHTML() throws {
    var item = Self.item()
    item.html = #"<p>Text</p><img src="https://a.example/b.png" alt="b" width="4" height="3"/>"#
    let page = try PageScan(Self.renderer.page(of: item, topics: []))
    #expect(page.all("img").filter { $0["src"] == "https://a.example/b.png" }.count == 1)
    #expect(page.accessibilityProblems == [])
  }

  @Test(
    "An error has a page that search engines do not list, in every language", arguments: InterfaceLanguage.allCases)
  func errors(language: InterfaceLanguage) throws {
    let renderer = PageRenderer(PageSite(language: language))
    for status in [400, 404, 410, 500, 503, 418] {
      let page = try PageScan(renderer.errorPage(status: status, detail: "Because <of> fog"))
      #expect(page.accessibilityProblems == [])
      #expect(page.meta("robots") == "noindex" && page.meta("og:title") == nil)
      #expect(page.text.contains("Because <of> fog") && page.text.contains("\(status)"))
      #expect(!page.text.contains("error-"))
    }
  }

  @Test("The page of a full list with long texts, and the stylesheet, take less than 60 KB")
  func size() throws {
    let items = (0..<24).map { number in
      var item = Self.item(number)
      item.text = String(repeating: "word & ", count: 3000)
      item.summary = nil
      return item
    }
    let topics = (0..<100).map { PageTopic(slug: "topic-\($0)", titles: ["en": "Topic \($0)"]) }
    let page = Self.renderer.page(of: PageRenderer.List(older: "abc"), items: items, topics: topics)
    let assets = Self.renderer.assets.all.reduce(0) { $0 + $1.text.utf8.count }
    #expect(page.utf8.count + assets < 60_000)
    #expect(page.utf8.count > 1024, "smaller pages are not compressed")
    #expect(PageRenderer(PageSite()).page(of: PageRenderer.List(), items: [], topics: []).utf8.count > 1024)
  }

  @Test("Nothing but pictures and recordings of items comes from elsewhere, and nothing runs")
  func selfContained() throws {
    let source = Self.renderer.page(of: Self.item(), topics: Self.topics)
    let page = try PageScan(source)
    for name in ["stylesheet", "icon"] {
      for link in page.links(name) { #expect(link.hasPrefix("/assets/")) }
      #expect(page.links(name).count == 1)
    }
    for asset in Self.renderer.assets.all {
      #expect(!asset.text.contains("@import") && !asset.text.contains("url(") && !asset.text.contains("<script"))
    }
  }

  @Test("A renderer with other settings has another identity, and an equal one the same")
  func identity() {
    let sites = [
      PageSite(), PageSite(language: .german), PageSite(publicURL: "https://a.example"),
      PageSite(publicURL: "https://a.example", feeds: SampleFeeds.all), PageSite(offersNotifications: true),
    ]
    #expect(Set(sites.map { PageRenderer($0).identity }).count == sites.count)
    #expect(PageRenderer(PageSite()).identity == PageRenderer(PageSite()).identity)
  }

  @Test(
    "The button for notifications has its texts, and paths below that of the site",
    arguments: InterfaceLanguage.allCases)
  func notifications(language: InterfaceLanguage) throws {
    let site = PageSite(language: language, publicURL: "https://a.example/news", offersNotifications: true)
    let renderer = PageRenderer(site)
    for topic in [nil, "harbour"] {
      let source = renderer.page(of: PageRenderer.List(topic: topic), items: [Self.item()], topics: Self.topics)
      let page = try PageScan(source, as: .readerWithScript)
      #expect(page.accessibilityProblems == [])
      let area = try #require(page.all("div").first { $0["id"] == "notify" })
      #expect(area["data-topic"] == topic && area["data-worker"] == "/news/worker.js")
      #expect(page.all("script").compactMap { $0["src"] } == ["/news/assets/" + renderer.assets.name(of: "notify.js")])
      let texts = area.attributes.filter {
        !["data-topic", "data-worker"].contains($0.key) && $0.key.hasPrefix("data-")
      }
      #expect(texts.count == 10 && Set(texts.values).count == 10)
      #expect(!texts.values.contains { $0.isEmpty || $0.hasPrefix("notify") })
    }
    _ = try PageScan(renderer.page(of: Self.item(), topics: Self.topics))
    #expect(PageAssets.worker.contains("notificationclick"))
  }

  @Test("A file is found by its name with the hash, and by that of another version")
  func assets() throws {
    let assets = PageAssets([("a.css", "x"), ("b.svg", "y"), ("c.bin", "z")])
    #expect(assets.all.count == 2)
    let name = assets.name(of: "a.css")
    #expect(name.wholeMatch(of: /a-[0-9a-f]{16}\.css/) != nil)
    #expect(assets.asset(named: name)?.isCurrent == true)
    #expect(assets.asset(named: "a-0123456789abcdef.css")?.isCurrent == false)
    for other in ["a.css", "a-.css", "a-0123456789abcdeX.css", "b-0123456789abcdef.css", "", "c.bin"] {
      #expect(assets.asset(named: other) == nil, "\(other)")
    }
    #expect(PageAssets([("a.css", "y")]).name(of: "a.css") != name)
  }
}
