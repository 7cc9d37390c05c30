import Foundation
import News
import NewsFeeds
import Testing

/// Feeds as they are written, read again by the reader of feeds.
@Suite struct FeedWriterTests {
  private static let site = FeedSite(url: "https://news.example/api", title: "Harbour & \"News\"")
  private static let id = UUID(uuidString: "01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6") ?? UUID()
  private static let moment = Date(timeIntervalSince1970: 1_794_636_004.218)

  private static func item(text: String = "After nine years it calls again.", title: String? = "The ferry") -> NewsItem
  {
    NewsItem(
      id: id, version: 7, date: moment - 3600, text: text, title: title, topics: ["harbour", "sport"],
      language: "en-GB",
      url: "https://news.example/ferry?a=1&b=2", author: "Mara <Quill>",
      attachments: [
        Attachment(url: "/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7", type: "image/png", bytes: 12),
        Attachment(url: "https://files.example/a.mp4", type: "video/mp4", bytes: 34, width: 640, height: 480),
      ], updated: moment)
  }

  private static func document(
    _ format: PublishedFormat, _ items: [NewsItem], site: FeedSite = site, topic: String? = nil,
    archives: FeedHead.Archives = .init(count: 0), removals: [(id: UUID, date: Date)] = []
  ) -> String {
    let writer = FeedWriter(format, of: site)
    let head = FeedHead(topic: topic, updated: moment, archives: archives, removals: removals)
    return String(decoding: writer.document(head, entries: items.map(writer.entry)), as: UTF8.self)
  }

  @Test("The reader of feeds gets all that an entry has from each format", arguments: PublishedFormat.allCases)
  func reading(format: PublishedFormat) throws {
    let read = try entry(Self.document(format, [Self.item()]))
    #expect(read.origin == Self.id)
    #expect(read.guid == "urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6")
    #expect(read.title == "The ferry")
    #expect(read.text == "After nine years it calls again.")
    #expect(read.date == RFC3339.truncated(format == .rss ? Self.moment - 3600.218 : Self.moment - 3600))
    #expect(read.url == "https://news.example/ferry?a=1&b=2")
    #expect(read.author == "Mara <Quill>")
    #expect(read.language == "en-GB")
    #expect(read.categories.map(\.slug) == ["harbour", "sport"])
    #expect(
      read.attachments.map(\.url) == [
        "https://news.example/api/v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7", "https://files.example/a.mp4",
      ])
    #expect(read.attachments.map(\.bytes) == [12, 34])
    #expect(read.attachments.map(\.type) == ["image/png", "video/mp4"])
    // The other formats have no place for the size of a picture.
    let file = try #require(read.attachments.last)
    #expect(file.width == (format == .rss ? 640 : nil) && file.height == (format == .rss ? 480 : nil))
  }

  @Test("A document names its site and its own address, and the times of changes", arguments: PublishedFormat.allCases)
  func head(format: PublishedFormat) {
    let text = Self.document(format, [Self.item()])
    let reader = FeedReader()
    _ = reader.feed(Data(text.utf8)) + reader.finish()
    #expect(reader.properties.title == Self.site.title)
    #expect(reader.properties.homePage == Self.site.url)
    #expect(reader.properties.ownAddress == Self.site.address(of: format, topic: nil))
    #expect(text.ranges(of: "2026-11-14T06:00:04.218Z").count == (format == .atom ? 2 : 1), "\(text)")
    #expect(text.contains("<lastBuildDate>Sat, 14 Nov 2026 06:00:04 GMT</lastBuildDate>") == (format == .rss))
    #expect(text.contains("<description>Harbour &amp; \"News\"</description>") == (format == .rss))
    #expect(text.contains("</docs>") == (format == .rss) && text.contains("<generator") == (format != .json))
  }

  @Test("HTML and a summary are in each format", arguments: PublishedFormat.allCases)
  func markup(format: PublishedFormat) throws {
    var item = Self.item()
    item.html = "<p>After <em>nine</em> years it calls again.</p>"
    item.summary = "It is back."
    let read = try entry(Self.document(format, [item]))
    #expect(read.html == item.html)
    #expect(read.text == item.text)
    #expect(read.summary == "It is back.")
  }

  @Test("Texts with characters of XML and those that XML does not allow pass", arguments: PublishedFormat.allCases)
  func characters(format: PublishedFormat) throws {
    let text = "a < b && \"c\" ]]> \u{1}\u{8}\u{B}\u{1F}\u{FFFE}\u{FFFF}\u{FFFD}😀 ü</content>"
    let read = try entry(Self.document(format, [Self.item(text: text, title: "<\(text)\u{0}>")]))
    for part in ["a < b && \"c\" ]]> ", "😀 ü</content>"] {
      #expect(read.text.contains(part), "\(read.text)")
      // Readers of RSS take a title with tags for markup.
      if format != .rss { #expect(read.title?.contains(part) == true) }
    }
    if format != .json {
      let isForbidden: (UInt32) -> Bool = { $0 < 0x20 && ![9, 10, 13].contains($0) || 0xFFFE...0xFFFF ~= $0 }
      let document = Self.document(format, [Self.item(text: text)])
      #expect(document.unicodeScalars.contains { $0.value == 0xFFFD })
      #expect(!document.unicodeScalars.contains { isForbidden($0.value) })
    }
  }

  @Test("The lines and paragraphs of a text stay", arguments: PublishedFormat.allCases)
  func paragraphs(format: PublishedFormat) throws {
    let text = "One line\nand another.\n\nA second paragraph <b>."
    #expect(try entry(Self.document(format, [Self.item(text: text)])).text == text)
    for end in ["\r\n", "\r"] {
      let document = Self.document(format, [Self.item(text: text.replacing("\n", with: end))])
      let read = try entry(document)
      #expect(read.text == text)
      // The text of JSON has no markup.
      guard format != .json else { continue }
      #expect(read.html == "<p>One line<br/>\nand another.</p>\n<p>A second paragraph &lt;b&gt;.</p>")
      let blank = try entry(Self.document(format, [Self.item(text: "One\n \t\ntwo")]))
      #expect(blank.html == "<p>One</p>\n<p>two</p>")
      #expect(!Self.document(format, [Self.item(text: "One\n\n\ntwo")]).contains("&lt;p&gt;&lt;/p&gt;"))
      #expect(!document.contains("\r") && !document.contains("&#13;"))
    }
    #expect(try entry(Self.document(format, [Self.item(title: "High\rtide")])).title == "High tide")
    #expect(try entry(Self.document(format, [Self.item(title: "\u{FFFE}High tide")])).title == "High tide")
  }

  @Test("A feed of summaries has the beginning of a text without summary", arguments: PublishedFormat.allCases)
  func summaries(format: PublishedFormat) throws {
    var site = Self.site
    site.content = .summary
    var item = Self.item(text: String(repeating: "words and words ", count: 100))
    let short = try entry(Self.document(format, [item], site: site)).text
    #expect(short.hasPrefix("words and words words") && short.hasSuffix("…"))
    #expect(short.unicodeScalars.count <= 301)
    item.text = String(repeating: "x", count: 150) + " " + String(repeating: "y", count: 150)
    #expect(try entry(Self.document(format, [item], site: site)).text == String(repeating: "x", count: 150) + "…")
    item.text = "High tide" + String(repeating: " ", count: 1200) + "again"
    #expect(try entry(Self.document(format, [item], site: site)).text == "High tide…")
    item.summary = "It is back."
    item.html = "<p>whole</p>"
    let summary = Self.document(format, [item], site: site)
    #expect(try entry(summary).text == "It is back.")
    #expect(summary.ranges(of: "It is back.").count == 1)
    item.summary = nil
    item.text = String(repeating: "x", count: 5000)
    #expect(try entry(Self.document(format, [item], site: site)).text.unicodeScalars.count <= 301)
  }

  @Test("An entry of Atom has a title, and a link or its content (RFC 4287 section 4.1.2)")
  func requiredParts() {
    var site = Self.site
    site.content = .summary
    var item = Self.item(title: nil)
    let linked = Self.document(.atom, [item], site: site)
    #expect(linked.contains("<title></title>") && linked.contains("<summary>After") && !linked.contains("<content"))
    item.url = nil
    let unlinked = Self.document(.atom, [item], site: site)
    #expect(unlinked.contains("<content>After") && !unlinked.contains("<summary"))
  }

  @Test("The documents of a feed link to each other")
  func links() {
    let current = Self.document(.atom, [], topic: "harbour", archives: .init(count: 3))
    let address = "https://news.example/api/topics/harbour/feed.atom"
    #expect(current.contains("<id>\(address)</id>"))
    #expect(current.contains("<link rel=\"self\" href=\"\(address)\"/>"))
    #expect(current.contains("<link rel=\"prev-archive\" href=\"\(address)?archive=3\"/>"))
    #expect(!current.contains("fh:archive/") && !current.contains("next-archive"))
    #expect(current.contains("<title>Harbour &amp; \"News\": harbour</title>"))
    let archive = Self.document(.atom, [], archives: .init(number: 2, count: 3))
    for link in [
      "rel=\"self\" href=\"https://news.example/api/feed.atom?archive=2\"",
      "rel=\"current\" href=\"https://news.example/api/feed.atom\"",
      "rel=\"prev-archive\" href=\"https://news.example/api/feed.atom?archive=1\"",
      "rel=\"next-archive\" href=\"https://news.example/api/feed.atom?archive=3\"", "<fh:archive/>",
      "<id>https://news.example/api/feed.atom</id>",
    ] {
      #expect(archive.contains(link), "\(link)")
    }
    let last = Self.document(.rss, [], archives: .init(number: 1, count: 1))
    #expect(!last.contains("prev-archive") && !last.contains("next-archive"))
    #expect(last.contains("<fh:archive/>"))
    let json = Self.document(.json, [], archives: .init(count: 2))
    #expect(json.contains("\"next_url\":\"https://news.example/api/feed.json?archive=2\""))
    let jsonArchive = Self.document(.json, [], archives: .init(number: 1, count: 2))
    #expect(jsonArchive.contains("\"feed_url\":\"https://news.example/api/feed.json\""))
  }

  @Test("Current documents name the hub, archives do not", arguments: PublishedFormat.allCases)
  func hubs(format: PublishedFormat) {
    let site = FeedSite(url: "https://news.example", title: "News", hubs: ["https://hub.example/?a=1&b=2"])
    let current = Self.document(format, [], site: site)
    #expect(current.contains("https://hub.example/?a=1&\(format == .json ? "" : "amp;")b=2"))
    #expect(!Self.document(format, [], site: site, archives: .init(number: 1, count: 1)).contains("hub.example"))
    guard format != .json else { return }
    #expect(current.contains("rel=\"hub\" href=\"https://hub.example/?a=1&amp;b=2\"/>"))
    let quoted = FeedSite(url: "https://news.example", title: "News", hubs: ["https://hub.example/?a=\"b\""])
    #expect(Self.document(format, [], site: quoted).contains("href=\"https://hub.example/?a=&quot;b&quot;\""))
  }

  @Test("A JSON Feed has no empty lists but that of its items")
  func emptyLists() {
    let item = NewsItem(id: Self.id, version: 1, date: Self.moment, text: "x", updated: Self.moment)
    let text = Self.document(.json, [item])
    for name in ["attachments", "hubs", "tags"] { #expect(!text.contains("\"\(name)\""), "\(text)") }
  }

  @Test("Atom has the ids and times of removed items")
  func removals() {
    let text = Self.document(.atom, [], removals: [(Self.id, Self.moment)])
    #expect(
      text.contains(
        "<at:deleted-entry ref=\"urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6\" when=\"2026-11-14T06:00:04.218Z\"/>"))
  }

  @Test(
    "Dates of RSS have the weekday and month in English",
    arguments: [
      (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_794_636_004.218, "Sat, 14 Nov 2026 06:00:04 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
  func dates(seconds: Double, text: String) {
    var item = Self.item()
    item.date = Date(timeIntervalSince1970: seconds)
    #expect(Self.document(.rss, [item]).contains("<pubDate>\(text)</pubDate>"))
  }

  @Test("The fingerprint changes with each setting")
  func fingerprints() {
    // The same characters are in other settings.
    var sites = [Self.site, FeedSite(url: Self.site.url + "Harbour", title: " & \"News\"")]
    for change: (inout FeedSite) -> Void in [
      { $0.title += "x" }, { $0.url += "x" }, { $0.content = .summary }, { $0.hubs = ["https://hub.example"] },
    ] {
      var site = Self.site
      change(&site)
      sites.append(site)
    }
    let all = sites.flatMap { site in PublishedFormat.allCases.map { FeedWriter($0, of: site).fingerprint } }
    #expect(Set(all).count == all.count)
  }

  @Test("An item of RSS has its text once, a guid that is no address, and a length of each enclosure")
  func partsOfRSS() {
    var item = Self.item()
    item.attachments[0].bytes = nil
    let text = Self.document(.rss, [item])
    #expect(text.contains("<guid isPermaLink=\"false\">urn:uuid:") && !text.contains("<content:encoded>"))
    #expect(text.contains(" length=\"0\" type=\"image/png\"/>"))
    #expect(text.contains("href=\"https://news.example/api/feed.rss\" type=\"application/rss+xml\"/>"))
  }

  @Test("The author of an entry of Atom without an author is the site")
  func siteAuthor() throws {
    var item = Self.item()
    item.author = nil
    #expect(try entry(Self.document(.atom, [item])).author == Self.site.title)
  }

  @Test("Only a guid that is a UUID as a URN names the origin")
  func origins() throws {
    for (guid, isOrigin) in [
      ("urn:uuid:01A1DA5C-3a40-7c11-9d0e-52b7c1e0a4f6", true), ("URN:UUID:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6", true),
      ("01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6", false), ("urn:uuid:00000000-0000-0000-0000-000000000000", false),
      ("urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f", false),
    ] {
      let read = try entry(
        rss("<item><guid>\(guid)</guid><title>x</title><pubDate>Sat, 14 Nov 2026 06:00:04 GMT</pubDate></item>"))
      #expect((read.origin == Self.id) == isOrigin, "\(guid)")
      #expect(isOrigin || read.origin == nil)
    }
  }
}
