import Foundation
import News
import NewsFeeds
import Testing

@Suite("Fields that exceed their limits")
struct FieldLimitTests {
  private func found(_ fields: String) -> [FeedEvent] {
    events("{\"date\":\"2026-08-20\",\(fields)}")
  }

  @Test("are shortened at a word and reported, and the entry is kept")
  func shortened() throws {
    let words = String(repeating: "harbour ", count: 40_000)
    let events = found(
      "\"text\":\"\(words)\",\"title\":\"\(words.prefix(1200))\",\"author\":\"\(words.prefix(300))\",\"summary\":\"\(words.prefix(17_000))\""
    )
    #expect(
      events.complaints == [
        "reduced line 1: the title is shortened: it has 1199 bytes, more than 1024",
        "reduced line 1: the text is shortened: it has 319999 bytes, more than 262144",
        "reduced line 1: the summary is shortened: it has 16999 bytes, more than 16384",
        "reduced line 1: the author is shortened: it has 300 bytes, more than 256",
      ])
    let entry = try #require(events.entries.first)
    for (text, limit) in [
      (entry.title, 1024), (entry.text, 262_144), (entry.summary, 16_384), (entry.author, 256),
    ] {
      let text = try #require(text)
      #expect(text.hasSuffix("harbour\u{2026}"))
      #expect(limit - 12...limit ~= text.utf8.count)
    }
  }

  @Test("are shortened between characters if they have no spaces", arguments: ["港", "e\u{301}", "👩‍🚒", "한"])
  func characters(character: String) throws {
    let title = try #require(
      found("\"text\":\"x\",\"title\":\"\(String(repeating: character, count: 2000))\"").entries.first?.title)
    #expect(title.utf8.count <= 1024)
    #expect(title.utf8.count > 900)
    #expect(title.dropLast().allSatisfy { $0 == Character(character) })
  }

  @Test("are not shortened at a space that is far from the limit")
  func longWords() {
    let word = String(repeating: "x", count: 2000)
    let events = found("\"text\":\"x\",\"title\":\"a \(word)\",\"language\":\"ab \(word)\"")
    #expect(events.entries.first?.title?.hasPrefix("a xxxx") == true)
    #expect(events.complaints.last?.hasPrefix("reduced line 1: the language \"ab xxxx") == true, "\(events.complaints)")
  }

  @Test(
    "are shortened even if a character has more marks than the field has bytes", arguments: ["\u{301}", "\u{1D165}"])
  func marks(mark: String) throws {
    let long = "e" + String(repeating: mark, count: 400)
    let events = found("\"text\":\"x\",\"author\":\"\(long)\",\"url\":\"\(long)\",\"language\":\"\(long)\"")
    let author = try #require(events.entries.first?.author)
    #expect(author.utf8.count <= 256 && author.hasSuffix("\u{2026}"))
    #expect(events.complaints.count == 3)
    #expect(events.complaints.allSatisfy { $0.utf8.count < 160 })
  }

  @Test("are whole at the limit")
  func exact() {
    let text = String(repeating: "x", count: 262_144)
    #expect(found("\"text\":\"\(text)\"").complaints == [])
    #expect(found("\"text\":\"\(text)\"").entries.first?.text == text)
    #expect(found("\"text\":\"\(text)x\"").entries.first?.text.utf8.count == 262_144)
    let html = "<p>\(String(repeating: "x", count: 524_281))</p>"
    #expect(found("\"text\":\"x\",\"html\":\"\(html)\"").complaints == [])
    let longer = html.replacing("</p>", with: "x</p>")
    let loss = "reduced line 1: the HTML is shortened: it has 524289 bytes, more than 524288"
    #expect(found("\"text\":\"x\",\"html\":\"\(longer)\"").complaints == [loss])
  }

  @Test(
    "are the texts of files, which are shortened",
    arguments: [("alt", "description", 1024), ("caption", "caption", 2048), ("credit", "credit", 256)])
  func fileTexts(field: String, name: String, limit: Int) throws {
    for count in [limit, limit + 1] {
      let text = String(repeating: "x", count: count)
      let file = #"{"url":"https://example.org/a.png","\#(field)":"\#(text)"}"#
      let events = found("\"text\":\"x\",\"attachments\":[\(file)]")
      let loss = "reduced line 1: the \(name) of an attachment is shortened: it has \(count) bytes, more than \(limit)"
      #expect(events.complaints == (count > limit ? [loss] : []))
      let read = try #require(events.entries.first?.attachments.first)
      let texts = ["alt": read.alt, "caption": read.caption, "credit": read.credit]
      let value = try #require(texts[field] ?? nil)
      #expect(count > limit ? value.utf8.count <= limit && value.hasSuffix("\u{2026}") : value == text)
    }
  }

  @Test("are categories, which are shortened", arguments: [256, 257])
  func longCategories(count: Int) {
    let events = found("\"text\":\"x\",\"topics\":[\"\(String(repeating: "x", count: count))\"]")
    let loss = "reduced line 1: the category is shortened: it has 257 bytes, more than 256"
    #expect(events.complaints == (count > 256 ? [loss] : []))
    #expect(events.entries.first?.categories.first.map { $0.label.utf8.count <= 256 } == true)
  }

  @Test("are languages that are no tags, of which 16 are reported, each once", arguments: [2, 16, 17])
  func manyLanguages(count: Int) {
    let items = (1...count).flatMap { language in
      ["a", "b"].map { name in
        "<item><guid>\(name)\(language)</guid><title>x</title><pubDate>2026</pubDate>"
          + "<dc:language>no tag \(language)</dc:language></item>"
      }
    }
    let found = events(rss(items.joined()))
    #expect(found.entries.count == 2 * count)
    #expect(found.complaints.count == min(count, 16))
  }

  @Test(
    "are shortened HTML whose last text goes to the limit",
    arguments: [
      ("<p>intro</p><pre>", "word ", "</pre>"), ("<pre>", "word ", "</pre>"), ("<p>", "word", "</p>"),
      ("<p>", "wörd", "</p>"), ("<p>", "&lt;", "</p>"), ("<p>x <b>y</b> ", "word ", "</p>"),
      ("<p>", "\u{1F600}", "</p>"),
      ("<ul><li>", "word &amp; ", "</ul>"), ("<p>", "a &lt; b ", "</p>"), ("<blockquote><p>", "\u{6587}", "</p>"),
    ])
  func longText(start: String, text: String, end: String) throws {
    let content = start + String(repeating: text, count: 600_000 / text.utf8.count) + end
    let events = events(
      atom(
        "<entry><id>1</id><updated>2026-01-01</updated><content type='html'><![CDATA[\(content)]]></content></entry>"))
    let html = try #require(events.entries.first?.html)
    #expect(400_000...512 * 1024 ~= html.utf8.count)
    let last = try #require(html.range(of: "\u{2026}</", options: .backwards))
    #expect(html[..<last.lowerBound].utf8.suffix(8).allSatisfy { $0 != UInt8(ascii: "<") })
    #expect(!html.unicodeScalars.contains("\u{FFFD}"))
    #expect(text != "&lt;" || html.hasSuffix("&lt;\u{2026}</p>"))
  }

  @Test("are shortened HTML with all elements closed")
  func html() throws {
    let html = "<ul>" + String(repeating: "<li><b>harbour</b></li>", count: 30_000) + "</ul>"
    let events = found("\"html\":\"\(html)\"")
    #expect(events.complaints.first?.contains("the HTML is shortened") == true)
    let short = try #require(events.entries.first?.html)
    #expect(short.utf8.count <= 524_288 && short.utf8.count > 400_000)
    #expect(short.hasPrefix("<ul><li><b>harbour</b></li>") && short.hasSuffix("</li></ul>"))
  }

  @Test("are reported for categories, attachments, links and languages")
  func others() throws {
    let categories = (0..<40).map { "<category>c\($0)</category>" }.joined()
    let files = (0..<40).map { "<enclosure url='https://example.org/\($0).png'/>" }.joined()
    let long = "https://example.org/" + String(repeating: "a", count: 2048)
    let events = events(
      rss(
        """
        <item><guid isPermaLink="false">1</guid><link>\(long)</link><pubDate>2026-08-20</pubDate><title>x</title>
        <category>🎈</category>\(categories)<enclosure url='\(long)'/><enclosure url='data:image/png,x'/>\(files)\(files)
        <dc:language>English language</dc:language></item>
        """))
    #expect(
      events.complaints == [
        "reduced line 5: the link is omitted: it has 2068 bytes, more than 2048",
        "reduced line 5: an attachment is omitted: it has 2068 bytes, more than 2048",
        "reduced line 5: an attachment is omitted: \"data:image/png,x\" is no http or https address",
        "reduced line 5: 8 attachments are omitted: an item has at most 32",
        "reduced line 5: the category \"🎈\" is omitted: it has no letter or digit",
        "reduced line 5: 24 categories are omitted: an item has at most 16",
        "reduced line 5: the language \"English language\" is omitted: it is not a language tag",
      ])
    let entry = try #require(events.entries.first)
    #expect(entry.categories.map(\.label) == (0..<16).map { "c\($0)" })
    #expect(entry.attachments.map(\.url) == (0..<32).map { "https://example.org/\($0).png" })
  }

  @Test("are the first 256 categories of an entry, of which 16 are kept", arguments: [(256, 240), (257, 241)])
  func manyCategories(count: Int, omitted: Int) {
    let categories = (0..<count).map { "<category>c\($0)</category>" }.joined()
    let item = "<item><guid>1</guid><pubDate>2026-08-20</pubDate><title>x</title>\(categories)</item>"
    #expect(
      events(rss(item)).complaints == ["reduced line 5: \(omitted) categories are omitted: an item has at most 16"])
  }

  @Test("are the first 64 authors of an entry", arguments: [64, 65])
  func manyCreators(count: Int) {
    let authors = (1...count).map { "<dc:creator>\($0)</dc:creator>" }.joined()
    let found = events(rss("<item><guid>1</guid><pubDate>2026</pubDate><title>x</title>\(authors)</item>"))
    #expect(found.entries.first?.author == (1...64).map { "\($0)" }.joined(separator: ", "))
    #expect(found.complaints == (count == 64 ? [] : ["reduced line 5: 1 of 65 authors are omitted"]))
    // A feed keeps no more authors than that, so that its entries lose none.
    let names = (1...count).map { "<author><name>\($0)</name></author>" }.joined()
    let text = atom("<entry><id>1</id><title>x</title><updated>2026</updated></entry>", head: "<id>a</id>" + names)
    let persons = (1...count).map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
    let item = #"{"id":"1","content_text":"x","date_published":"2026","authors":[\#(persons)]}"#
    for text in [text, #"{"version":"https://jsonfeed.org/version/1","items":[\#(item)]}"#] {
      #expect(events(text).entries.first?.author == found.entries.first?.author)
      #expect(events(text).complaints == [])
    }
  }

  private static let authors = (1...120).map { "Author \($0)" }.joined(separator: ", ")

  @Test(
    "are shortened lists of authors in one element",
    arguments: [
      rss("<item><guid>1</guid><title>x</title><pubDate>2026</pubDate><dc:creator>\(authors)</dc:creator></item>"),
      rss("<item><guid>1</guid><title>x</title><pubDate>2026</pubDate><author>\(authors)</author></item>"),
      atom("<entry><id>1</id><title>x</title><author>\(authors)</author></entry>"),
      atom("<entry><id>1</id><title>x</title></entry>", head: "<id>a</id><author>\(authors)</author>"),
      atom(
        "<entry><id>1</id><title>x</title></entry>",
        head: "<id>a</id><author><name>\(String(repeating: authors + ", ", count: 4))</name></author>"),
      """
      {"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_text":"x","date_published":"2026",
      "authors":[{"name":"\(String(repeating: authors + ", ", count: 4))"}]}]}
      """,
      """
      {"version":"https://jsonfeed.org/version/1.1","authors":[{"name":"\(String(repeating: authors + ", ", count: 4))"}],
      "items":[{"id":"1","content_text":"x","date_published":"2026"}]}
      """,
    ])
  func manyAuthors(text: String) throws {
    let found = events(text.replacing("<updated>", with: "<updated>"))
    let dated =
      found.entries.isEmpty ? events(text.replacing("<title>x", with: "<updated>2026</updated><title>x")) : found
    let author = try #require(dated.entries.first?.author)
    #expect(author.hasPrefix("Author 1, Author 2, ") && author.hasSuffix("\u{2026}") && author.utf8.count <= 256)
    #expect(dated.complaints.filter { $0.contains("the author is shortened") }.count == 1)
  }

  @Test("are long lists of mail addresses, of which readers see the names", arguments: [", ", "; "])
  func mailAuthors(separator: String) throws {
    let list = (1...60).map { "a\($0)@example.org (Author \($0))" }.joined(separator: separator)
    let item = "<item><guid>1</guid><title>x</title><pubDate>2026</pubDate><author>\(list)</author></item>"
    let author = try #require(events(rss(item)).entries.first?.author)
    #expect(author.hasPrefix("Author 1, Author 2, ") && !author.contains("@"))
  }

  @Test("do not change the digest by what older versions did not read")
  func digests() throws {
    let item = "<item><guid>1</guid><title>x</title><pubDate>2026</pubDate>"
    let plain = try #require(events(rss(item + "</item>")).entries.first)
    let long = try #require(events(rss(item + "<dc:creator>\(Self.authors)</dc:creator></item>")).entries.first)
    #expect(long.digest == plain.digest && long.author != nil)
    // The list comes before other authors.
    let both = events(rss(item + "<author>Bob</author><dc:creator>\(Self.authors)</dc:creator></item>"))
    #expect(both.entries.first?.author?.hasPrefix("Author 1, ") == true)
  }

  @Test("are shortened titles of feeds and lists")
  func feedTitles() throws {
    let title = String(repeating: "harbour ", count: 1000)
    let feeds = [
      rss("", channel: "<title>\(title)</title>").replacing("<title>Example</title>", with: ""),
      atom("", head: "<title>\(title)</title>"),
      "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"\(title)\",\"items\":[]}",
    ]
    for feed in feeds {
      let reader = FeedReader()
      let events = reader.feed(Data(feed.utf8)) + reader.finish()
      #expect(reader.properties.title?.hasSuffix("harbour\u{2026}") == true)
      #expect(events.complaints.count == 1 && events.complaints[0].contains("the title of the feed is shortened"))
    }
    let list = try OPML(
      reading: Data(
        """
        <opml version="2.0"><head><title>\(title)</title></head><body><outline text="\(title)">
        <outline text="\(title)" xmlUrl="https://example.org/feed"/></outline></body></opml>
        """.utf8))
    #expect(list.title?.hasSuffix("harbour\u{2026}") == true)
    #expect(list.feeds.first?.title?.hasSuffix("harbour\u{2026}") == true)
    #expect(list.feeds.first?.topics.first?.label.hasSuffix("harbour\u{2026}") == true)
    #expect(list.problems.map(\.position) == [.line(1), .line(2)])
  }

  @Test("of the wrong type in a JSON Feed leave the rest of the item")
  func types() throws {
    let events = events(
      """
      {"version":"https://jsonfeed.org/version/1.1","title":7,"authors":"Ann","items":[
      {"id":1,"content_text":"x","date_published":1787233500,"title":2026,"tags":"Sport","authors":[{"name":"Ann"},7],
      "url":{"a":1},"attachments":[{"url":"https://example.org/1.mp3","size_in_bytes":"5"},{"mime_type":"x"}],"image":false}]}
      """)
    #expect(
      events.complaints == [
        "reduced entry 1: the field \"url\" has the wrong type and is omitted",
        "reduced entry 1: the field \"image\" has the wrong type and is omitted",
        "reduced entry 1: the field \"authors\" has the wrong type and is omitted",
        "reduced entry 1: the field \"attachments\" has the wrong type and is omitted",
      ])
    let entry = try #require(events.entries.first)
    #expect(entry.date == august)
    #expect(entry.title == "2026")
    #expect(entry.categories.map(\.label) == ["Sport"])
    #expect(entry.author == "Ann")
    #expect(entry.attachments.map(\.bytes) == [5])
  }

  @Test(
    "omit addresses that clients and restores refuse",
    arguments: [
      "https://\(String(repeating: "a.", count: 130))example/", "https://a%20b.example/", "https://a%2Fb.example/",
      "https://[fe80::1%25eth0]/",
    ])
  func hosts(address: String) throws {
    let item = "<item><guid isPermaLink='false'>1</guid><title>x</title><pubDate>2026</pubDate>"
    let found = events(rss(item + "<link>\(address)</link><enclosure url='\(address)a.mp3'/></item>"))
    let entry = try #require(found.entries.first)
    #expect(entry.url == nil && entry.attachments.isEmpty)
    #expect(found.complaints.count == 2)
  }

  @Test("are no reason to lose an entry that consists of a picture or a file")
  func pictures() throws {
    let picture = "&lt;img src='https://example.org/1.jpg'>"
    let item = "<item><link>https://example.org/1</link><pubDate>2026-01-01</pubDate>"
    #expect(try entry(rss(item + "<description>\(picture)</description></item>")).text == "https://example.org/1")
    let alt = picture.replacing("src", with: "alt='A pier' src")
    #expect(try entry(rss(item + "<description>\(alt)</description></item>")).text == "A pier")
    let file = "<item><pubDate>2026-01-01</pubDate><enclosure url='https://example.org/1.mp3'/></item>"
    #expect(try entry(rss(file)).text == "https://example.org/1.mp3")
    #expect(events(rss(item + "</item>")).complaints == ["skipped line 5: has neither text nor title"])
  }
}
