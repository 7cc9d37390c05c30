import Foundation
import News
import NewsFeeds
import Testing

@Suite("Reading a feed")
struct FeedReaderTests {
  private static let item = "<item><guid>1</guid><pubDate>20 Aug 2026</pubDate><description>x</description></item>"
  private static let line = "{\"date\":\"2026-08-20\",\"text\":\"x\"}"

  @Test(
    "recognises the format by content",
    arguments: [
      (rss(item), FeedFormat.rss), (atom(""), .atom), ("\u{FEFF}\n\n <rss><channel/></rss>", .rss), (line, .jsonLines),
      ("\u{FEFF}\n" + line + "\n" + line, .jsonLines), (line + "\n", .jsonLines), ("{}\n{}", .jsonLines),
      ("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[]}", .jsonFeed),
      (" \n{\n\"version\":\n\"https://jsonfeed.org/version/1.1\",\"items\":[]}", .jsonFeed),
      ("{\"text\":\"broken\n" + line, .jsonLines),
      ("{\"items\":[\n],\"version\":\"https://jsonfeed.org/version/1.1\"}", .jsonFeed),
      ("{\"version\": \t\r\n\"https://jsonfeed.org/version/1.1\",\"items\":[]}", .jsonFeed),
    ])
  func formats(text: String, format: FeedFormat) {
    for pieces in [Int.max, 1, 3] {
      let reader = FeedReader()
      var failures = 0
      var rest = Data(text.utf8)
      while !rest.isEmpty {
        failures += reader.feed(Data(rest.prefix(pieces))).complaints.count { $0.hasPrefix("failed") }
        rest = Data(rest.dropFirst(pieces))
      }
      failures += reader.finish().complaints.count { $0.hasPrefix("failed") }
      #expect(reader.format == format)
      #expect(failures == 0)
    }
  }

  @Test(
    "reports what an unreadable file is",
    arguments: [
      ("", "line 1: is empty"), (" \n\n", "line 3: is empty"), ("hello", "line 1: is neither XML nor JSON"),
      ("\u{FEFF}", "line 1: is empty"),
      ("\n[{}]", "line 2: is a JSON array; a JSON Feed or one object per line is required"),
      ("<html><body/></html>", "line 1: is XML, but not a feed: its root is <html>"),
      ("\n\n<svg xmlns='http://www.w3.org/2000/svg'/>", "line 3: is XML, but not a feed: its root is <svg>"),
      ("{\n\"a\": 1\n}", "line 1: is JSON, but neither a JSON Feed nor one object per line"),
    ])
  func unreadable(text: String, problem: String) {
    #expect(events(text).complaints == ["failed " + problem])
    #expect(events(Data(text.utf8), pieces: 1).complaints == ["failed " + problem])
  }

  static let samples: [String] = [
    "\u{FEFF}\n"
      + rss(
        """
        <item><title>Grüße &amp; caf&eacute; 日本</title><guid>1</guid><pubDate>20 Aug 2026</pubDate>
        <content:encoded><![CDATA[<p>x]]]]><![CDATA[> <b>ü😀</b>]]></content:encoded></item><item><title>no date</title></item>
        <!-- <item> --><item><link>/2</link><dc:date>bad</dc:date><description>y</description></item>
        """),
    atom(
      """
      <entry><id>1</id><updated>2026-08-20T13:45:00Z</updated><content type="xhtml"><div>a&#228;<p>é</p></div></content></entry>
      """),
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\n\"items\":[{\"id\":\"ü\",\"content_text\":\"日\",\"date_published\":\"2026\"},1]}",
    "\n{\"date\":\"2026\",\"text\":\"ü日\"}\r\n{\"date\":\n\n{\"date\":\"2026\",\"text\":\"😀\"}",
    rss("<item><guid>1</guid><pubDate>20 Aug 2026</pubDate><description>x</description></item><item><title>cut"),
    "<rss><channel>\n<item></channel>", "<rss>&unknown;</rss>", "<rss><channel><item><description>a & b</description>",
    "<html>" + String(repeating: " ", count: 200) + "a & b</html>",
  ]

  @Test("gives the same events for any division of the bytes", arguments: samples)
  func pieces(text: String) {
    let bytes = Data(text.utf8)
    let expected = events(bytes)
    #expect(!expected.isEmpty)
    for split in 0...bytes.count {
      let reader = FeedReader()
      let found = reader.feed(Data(bytes.prefix(split))) + reader.feed(Data(bytes.dropFirst(split))) + reader.finish()
      #expect(found == expected, "cut at \(split)")
    }
    for size in 1...5 { #expect(events(bytes, pieces: size) == expected, "pieces of \(size)") }
  }

  @Test("gives only complete entries of a truncated file", arguments: samples.prefix(4))
  func truncated(text: String) {
    let bytes = Data(text.utf8)
    let whole = events(bytes).entries
    for length in 0..<bytes.count {
      let found = events(bytes.prefix(length)).entries
      #expect(found == Array(whole.prefix(found.count)), "cut off at \(length)")
    }
  }

  @Test("reports entries without date or content by line, and reads the others")
  func incomplete() {
    let events = events(
      rss(
        """
        <item><title>t</title><description>x</description></item>
        <item><link>/1</link><pubDate>20 Aug 2026</pubDate></item>
        <item><pubDate>20 Aug 2026</pubDate><description>&lt;img src="/x.png"&gt;</description></item>
        <item><pubDate>whenever</pubDate><description>x</description></item>
        <item><pubDate>n/a</pubDate><dc:date>2026-08-21</dc:date><description>fine</description></item>
        """))
    #expect(
      events.complaints == [
        "skipped line 5: has no date", "skipped line 6: has neither text nor title",
        "skipped line 8: the date \"whenever\" cannot be read",
      ])
    #expect(events.entries.map(\.text) == ["https://example.org/x.png", "fine"])
  }

  @Test("skips entries above the limit and rejects unlimited nesting")
  func excess() {
    var limits = FeedReader.Limits()
    limits.entryBytes = 2000
    let large = "<item><description>" + String(repeating: "<b>x</b>", count: 1000) + "</description></item>"
    let large2 = "<item><description>" + String(repeating: "x", count: 3000) + "</description></item>"
    let last = Self.item.replacing("<guid>1", with: "<guid>2")
    let found = events(Data(rss(Self.item + large + large2 + last).utf8), pieces: 100, limits: limits)
    #expect(found.entries.count == 2)
    #expect(found.complaints == Array(repeating: "skipped line 5: is larger than 2000 bytes", count: 2))
    // Other elements are left out without a report.
    let long = "<description>" + String(repeating: "x", count: 3000) + "</description>"
    let head = events(Data(rss(Self.item, channel: long).utf8), limits: limits)
    #expect(head.entries.count == 1 && head.complaints == [])
    #expect((FeedReader.Limits().entryBytes, FeedReader.Limits().documentBytes) == (8_388_608, 67_108_864))
    let deep = rss("<item><description>" + String(repeating: "<b>", count: 1000))
    #expect(events(deep).complaints == ["skipped line 5: has more than 256 nested elements"])
    // The namespaces of entries in a row are not nested.
    let row = (0..<300).map { Self.item.replacing("<guid>1", with: "<x:a xmlns:x='urn:x'/><guid>\($0)") }.joined()
    #expect(events(rss(row)).complaints == [])
    #expect(events(rss(row)).entries.count == 300)
  }

  @Test("reports the problems of a document in the order of its lines")
  func problems() {
    let item = Self.item.replacing("<description>x", with: "<description>x\u{1}")
    #expect(
      events(rss(item, channel: "<title>A & B</title>")).complaints == [
        "noted line 4: has ampersands that are not escaped; they are read as text",
        "noted line 5: has control characters, which XML does not allow; they are removed",
      ])
  }

  @Test("omits links and files whose port no client can connect to")
  func ports() throws {
    let files = [
      "http://10.1.2.3:99999/a.jpg", "https://a.example:18446744073709551616/b.jpg", "https://a.example:81/c.jpg",
    ]
    let found = events(
      rss(
        "<item><pubDate>2026-08-20</pubDate><description>x</description><link>http://10.1.2.3:99999/</link>"
          + files.map { "<enclosure url='\($0)' type='image/jpeg'/>" }.joined() + "</item>"))
    #expect(found.complaints.count == 3)
    let entry = try #require(found.entries.first)
    #expect(entry.url == nil)
    #expect(entry.attachments.map(\.url) == ["https://a.example:81/c.jpg"])
  }

  @Test("accepts any bytes", arguments: 0..<20)
  func noise(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 7
    let pieces = [
      "<rss><channel>", "<item>", "</item>", "<description>", "</description>", "x", "\n", "{\"date\":\"2026\"", ",",
      "}",
      "\"text\":\"x\"", "<![CDATA[", "]]>", "&amp;", "&#0;", "<!DOCTYPE", "<?xml", "?>", "\u{0}", "é", "[", "<feed>",
    ]
    for _ in 0..<200 {
      var bytes = Data()
      for _ in 0..<20 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes +=
          state >> 60 == 0
          ? Data([UInt8(truncatingIfNeeded: state >> 40)]) : Data(pieces[Int(state >> 33) % pieces.count].utf8)
      }
      let found = events(bytes)
      #expect(found == events(bytes, pieces: 3))
      #expect(found.entries.allSatisfy { !$0.text.isEmpty })
    }
  }

  @Test("shortens the name of a root that is no feed")
  func longRoot() {
    let found = events("<\(String(repeating: "x", count: 1000))/>").complaints
    #expect(found.map { $0.utf8.count < 150 } == [true], "\(found)")
  }

  @Test("gives no events after a failure or the end")
  func ended() {
    let reader = FeedReader()
    #expect(reader.feed(Data("[1, 2, 3]".utf8)).count == 1)
    #expect(reader.feed(Data(rss(Self.item).utf8)) == [])
    #expect(reader.finish() == [])
  }
}
