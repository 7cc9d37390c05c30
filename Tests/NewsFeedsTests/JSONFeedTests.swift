import Foundation
import News
import NewsFeeds
import Testing

@Suite("JSON Feed")
struct JSONFeedTests {
  private func feed(_ items: String, head: String = "\"home_page_url\":\"https://example.org/\"") -> String {
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"T\",\(head),\n\"items\":[\(items)]}"
  }

  @Test(
    "has the URL of a version as publishers write it",
    arguments: [
      "https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.0", "http://jsonfeed.org/version/1",
      "https://jsonfeed.org/version/1.1/", "http:\\/\\/jsonfeed.org\\/version\\/1\\/",
    ])
  func versions(version: String) throws {
    let item = "{\"id\":\"1\",\"date_published\":\"2026\",\"content_text\":\"x\"}"
    let text = feed(item).replacing("https://jsonfeed.org/version/1.1", with: version)
    #expect(try entry(text).text == "x")
    #expect(try entry(text.replacing("\n", with: "")).text == "x")
    #expect(events("Warning: x\n" + text).entries.map(\.text) == ["x"])
    let spaced = text.replacing("{\"version\":", with: "{ \"version\" :")
    #expect(events("Notice {x\": 1}\n" + spaced).entries.map(\.text) == ["x"])
    #expect(events(text.replacing("jsonfeed.org", with: "jsonfeed.example")).entries.isEmpty)
  }

  @Test("fills every field")
  func everything() throws {
    let entry = try entry(
      feed(
        """
        {"id":"1","url":"/post","title":"Array<Int> &amp;","summary":"In <b>short</b>",
        "content_html":"<p>Hi <img src='p.png'></p>","content_text":"Hi *there*",
        "date_published":"2026-08-20T13:45:00Z","date_modified":"2026-09-01T00:00:00Z",
        "authors":[{"name":"Ann"},{"url":"https://example.org"},{"name":"Bob"}],"tags":["Language","日本"],
        "image":"https://example.org/i.jpg","banner_image":"https://example.org/b.avif","language":"en",
        "attachments":[{"url":"https://example.org/a.mp3","mime_type":"audio/mpeg","size_in_bytes":12,
        "duration_in_seconds":1,"title":"Episode"}],
        "_extension":{"x":1}}
        """, head: "\"feed_url\":\"https://example.org/feed.json\",\"home_page_url\":\"https://example.org/\""))
    #expect(entry.source == "json-feed:https://example.org/feed.json")
    #expect(entry.guid == "1")
    #expect(entry.date == august)
    #expect(entry.title == "Array<Int> &amp;")
    #expect(entry.summary == "In <b>short</b>")
    #expect(entry.text == "Hi *there*")
    #expect(entry.html == "<p>Hi <img src=\"https://example.org/p.png\"/></p>")
    #expect(entry.categories.map(\.slug) == ["language", "ri-ben"])
    #expect(entry.language == "en")
    #expect(entry.url == "https://example.org/post")
    #expect(entry.author == "Ann, Bob")
    #expect(
      entry.attachments == [
        Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg", bytes: 12, alt: "Episode"),
        Attachment(url: "https://example.org/i.jpg", type: "image/jpeg"),
        Attachment(url: "https://example.org/b.avif", type: "image/avif"),
        Attachment(url: "https://example.org/p.png", type: "image/png"),
      ])
  }

  @Test("accepts numbers as ids, the author of version 1, and properties of the whole feed")
  func older() throws {
    let entry = try entry(
      feed(
        "{\"id\":17,\"content_text\":\"x\",\"date_published\":\"2026-08-20T13:45:00Z\",\"author\":null}",
        head: "\"author\":{\"name\":\"Ann\"},\"language\":\"fr\""))
    #expect(entry.guid == "17")
    #expect(entry.author == "Ann")
    #expect(entry.language == "fr")
    #expect(entry.source == "json-feed:T")
  }

  @Test("links to the item's own page, or else to the page that it is about")
  func externalPage() throws {
    func url(_ fields: String) throws -> String? {
      try entry(feed("{\"id\":\"1\",\"content_text\":\"x\",\"date_published\":\"2026-08-20\"\(fields)}")).url
    }
    let external = ",\"external_url\":\"https://example.com/about\""
    #expect(try url(external) == "https://example.com/about")
    #expect(try url(external + ",\"url\":\"/own\"") == "https://example.org/own")
    #expect(try url("") == nil)
    let item = #"{"id":"1","content_text":"x","date_published":"2026-08-20","url":"ftp://example.org/"}"#
    let loss = #"reduced entry 1: the link is omitted: "ftp://example.org/" is no http or https address"#
    #expect(events(feed(item)).complaints == [loss])
  }

  @Test("reports items by number and reads the others")
  func badItems() {
    let events = events(
      feed(
        """
        {"id":"1","content_text":"x"}, 17, {"id":"3","content_text":["x"],"date_published":"2026-08-20"},
        {"id":"4","date_published":"2026-08-20"}, {"id":"5","date_published":"2026-08-20","content_text":"ok"}
        """))
    #expect(
      events.complaints == [
        "skipped entry 1: has no date", "skipped entry 2: is not a JSON object",
        "skipped entry 3: has neither text nor title; the field \"content_text\" has the wrong type and is omitted",
        "skipped entry 4: has neither text nor title",
      ])
    #expect(events.entries.map(\.guid) == ["5"])
  }

  @Test("is rejected above its limit, and if the document is truncated")
  func limits() {
    let whole = Data(feed("{\"id\":\"1\",\"content_text\":\"x\",\"date_published\":\"2026-08-20\"}").utf8)
    var limits = FeedReader.Limits()
    limits.documentBytes = whole.count
    #expect(events(whole, pieces: 7, limits: limits).complaints == [])
    limits.documentBytes -= 1
    #expect(
      events(whole, pieces: 7, limits: limits).complaints
        == [
          "failed line 1: is a JSON Feed of more than \(limits.documentBytes) bytes; use JSON Lines, one object per line"
        ])
    #expect(events(whole.dropLast()).complaints == ["failed line 1: is not valid JSON"])
  }

  private static func item(_ fields: String) -> String { #"{"id":"1","content_text":"x",\#(fields)}"# }

  @Test("is named by its page if it does not name its own address")
  func source() throws {
    let item = Self.item(#""date_published":"2026-08-20""#)
    #expect(try entry(feed(item)).source == "json-feed:https://example.org/")
    let blank = #""feed_url":" ","home_page_url":"https://example.org/""#
    #expect(try entry(feed(item, head: blank)).source == "json-feed:https://example.org/")
    let nameless = #"{"version":"https://jsonfeed.org/version/1","items":[\#(item)]}"#
    #expect(try entry(nameless).source == "json-feed:urn:tidings:feed")
  }

  @Test(
    "has the date of a publication, or else that of the last change",
    arguments: [
      #""date_modified":"2026-08-20T13:45:00Z""#, #""date_published":"soon","date_modified":"2026-08-20T13:45:00Z""#,
      #""date_modified":"2026-09-01","date_published":"2026-08-20T13:45:00Z""#,
    ])
  func dates(fields: String) throws {
    #expect(try entry(feed(Self.item(fields))).date == august)
  }

  @Test("has the authors of an item in place of those of the feed")
  func authors() throws {
    let item = Self.item(#""date_published":"2026-08-20","authors":[{"name":"Bob"}]"#)
    #expect(try entry(feed(item, head: #""authors":[{"name":"Ann"}]"#)).author == "Bob")
    let plain = Self.item(#""date_published":"2026-08-20""#)
    #expect(try entry(feed(plain, head: #""authors":[{"name":"Ann"}],"author":{"name":"Bob"}"#)).author == "Ann")
    let names = String(repeating: "Author, ", count: 600)
    let long = Self.item(#""date_published":"2026-08-20","authors":[{"name":"\#(names)"}]"#)
    let found = events(feed(long, head: #""authors":[{"name":"Ann"}]"#)).entries
    #expect(found.first?.author?.hasPrefix("Author, ") == true)
  }

  @Test("has links relative to the feed's page in an item without a page")
  func pageless() throws {
    let item = Self.item(#""date_published":"2026","content_html":"<a href='more'>x</a>""#)
    #expect(try entry(feed(item)).html == #"<a href="https://example.org/more">x</a>"#)
  }

  @Test("has a version and items; other objects are lines or are rejected")
  func otherObjects() {
    let version = #""version":"https://jsonfeed.org/version/1""#
    #expect(events("{\(version),\"date\":\"2026\",\"text\":\"x\"}").entries.map(\.text) == ["x"])
    #expect(events(#"{"version":"7","items":[],"date":"2026","text":"x"}"#).entries.map(\.text) == ["x"])
    #expect(events("{\(version),\"items\":{}}").complaints == ["failed line 1: the field \"items\" has the wrong type"])
    let items = #""items":[{"id":"1","date_published":"2026","content_text":"x"}]"#
    for text in ["{\(version),\n\"title\":\"T\"}", "{\n\(items)}"] {
      let complaint = "failed line 1: is JSON, but neither a JSON Feed nor one object per line"
      #expect(events(text).complaints == [complaint])
    }
  }

  @Test("is rejected if it has a key that is too long")
  func longKey() {
    let item = Self.item(#""date_published":"2026","\#(String(repeating: "k", count: 1025))" :1"#)
    #expect(events(feed(item)).complaints == ["failed line 1: has a key of more than 1024 bytes"])
    // A quotation of a key in a text may be as long.
    let key = String(repeating: "k", count: 1025)
    let quotation = Self.item(#""date_published":"2026","summary":"\"\"\#(key)\": 1""#)
    #expect(events(feed(quotation)).entries.count == 1)
  }

  @Test("has an item's language and author before those of the feed, and links relative to the feed's page")
  func ownParts() throws {
    let item = Self.item(#""date_published":"2026","url":"1","language":"de","author":{"name":"Bob"}"#)
    let head = #""home_page_url":"https://example.org/a/","feed_url":"https://example.com/","language":"fr""#
    let entry = try entry(feed(item, head: head + #","author":{"name":"Ann"}"#))
    #expect(entry.language == "de")
    #expect(entry.author == "Bob")
    #expect(entry.url == "https://example.org/a/1")
  }

  @Test(
    "has links relative to its page, however that is written, or else to itself",
    arguments: [
      (#""home_page_url":"/blog","feed_url":"/blog/feed.json""#, "https://example.org/blog/feed.json"),
      (#""home_page_url":"/blog""#, "https://example.org/blog/feed.json"),
      (#""home_page_url":"/blog","feed_url":"https://example.org/feed.json""#, nil),
      (#""home_page_url":"/blog","feed_url":"https://example.org/feed.json""#, "https://example.com/feed.json"),
      (#""home_page_url":"example.org/blog","feed_url":"https://example.org/feed.json""#, nil),
      (#""home_page_url":"urn:x","feed_url":"https://example.org/feed.json""#, "https://example.com/feed.json"),
      (#""home_page_url":"urn:x","feed_url":"feed""#, "https://example.org/feed.json"),
      (#""home_page_url":"","feed_url":":""#, "https://example.org/blog/feed.json"),
    ] as [(String, String?)])
  func relativePages(head: String, address: String?) throws {
    let html = #""content_html":"<p><a href='more'>x</a></p>","image":"/a.jpg""#
    let item = #"{"id":"1","url":"/blog/article","date_published":"2026",\#(html)}"#
    let reader = FeedReader(FeedReader.Options(address: address))
    let events = reader.feed(Data(feed(item, head: head).utf8)) + reader.finish()
    #expect(events.complaints == [])
    let entry = try #require(events.entries.first)
    #expect(entry.url == "https://example.org/blog/article")
    #expect(entry.html == #"<p><a href="https://example.org/blog/more">x</a></p>"#)
    #expect(entry.attachments.map(\.url) == ["https://example.org/a.jpg"])
  }

  @Test(
    "has the sizes of files that are not empty, however they are written",
    arguments: [("12", 12), (#""12""#, 12), ("11.6", 12), ("0", nil), ("-1", nil)] as [(String, Int?)])
  func sizes(written: String, bytes: Int?) throws {
    let file = #"{"url":"https://example.org/a.mp3","mime_type":"audio/mpeg","size_in_bytes":\#(written)}"#
    let entry = try entry(feed(Self.item(#""date_published":"2026-08-20","attachments":[\#(file)]"#)))
    #expect(entry.attachments == [Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg", bytes: bytes)])
  }
}
