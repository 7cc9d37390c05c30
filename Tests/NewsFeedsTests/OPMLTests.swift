import Foundation
import NewsFeeds
import TestKit
import Testing

@Suite("Lists of feeds")
struct OPMLTests {
  private func list(_ outlines: String, head: String = "<title>Feeds</title>") throws(FeedProblem) -> OPML {
    try OPML(
      reading: Data(
        "<?xml version=\"1.0\"?>\n<opml version=\"2.0\"><head>\(head)</head><body>\n\(outlines)\n</body></opml>".utf8))
  }

  private func problem(_ text: String) -> String? {
    problem(Data(text.utf8))
  }

  private func problem(_ data: Data) -> String? {
    do {
      _ = try OPML(reading: data)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("have feeds with names and addresses, and topics by folder and category")
  func everything() throws {
    let list = try list(
      """
      <outline text="Top &amp; more" type="rss" xmlUrl="https://example.org/feed?a=1&amp;b=2" htmlUrl="https://example.org/" language=" en-us "/>
      <outline text="News"><outline title="Local News" text="ignored">
        <outline type="RSS" title="Title" text="Text" XMLURL=" feed://example.net/feed " category="/Boston/Weather,/Sport"/>
        <outline text="&lt;b&gt;Bold&lt;/b&gt; " xmlurl="feed:https://example.com/feed"><outline text="inside"/></outline>
      </outline></outline>
      <outline text="After" xmlUrl="http://example.edu/"/>
      """)
    #expect(list.title == "Feeds")
    #expect(list.problems == [])
    #expect(
      list.feeds == [
        OPML.Feed(
          address: "https://example.org/feed?a=1&b=2", title: "Top & more", homePage: "https://example.org/",
          language: "en-US"),
        OPML.Feed(
          address: "https://example.net/feed", title: "Title",
          topics: [
            FeedCategory(slug: "news", label: "News"), FeedCategory(slug: "local-news", label: "Local News"),
            FeedCategory(slug: "boston", label: "Boston"), FeedCategory(slug: "weather", label: "Weather"),
            FeedCategory(slug: "sport", label: "Sport"),
          ]),
        OPML.Feed(
          address: "https://example.com/feed", title: "Bold",
          topics: [FeedCategory(slug: "news", label: "News"), FeedCategory(slug: "local-news", label: "Local News")]),
        OPML.Feed(address: "http://example.edu/", title: "After"),
      ])
  }

  @Test("name each feed once, with the topics of all its folders")
  func repeated() throws {
    let feed = "<outline text='F' xmlUrl='https://example.org/feed'/>"
    let list = try list("<outline text='A'>\(feed)</outline><outline text='B'>\(feed)\(feed)</outline>\(feed)")
    #expect(list.feeds.count == 1)
    #expect(list.feeds.first?.topics.map(\.slug) == ["a", "b"])
    let folders = (0..<20).map { "<outline text='T\($0)'>" }.joined()
    let deep = try self.list(folders + feed + String(repeating: "</outline>", count: 20))
    #expect(deep.feeds.first?.topics.map(\.slug) == (0..<16).map { "t\($0)" })
  }

  @Test("report outlines of feeds without a valid address, and ignore other outlines")
  func invalid() throws {
    let list = try list(
      """
      <outline text="No address" type="rss"/>
      <outline text="File" xmlUrl="file:///etc/passwd"/>
      <outline text="Script" xmlUrl="javascript:alert(1)"/>
      <outline xmlUrl=""/>
      <outline text="A link" type="link" url="https://example.org/"/><outline/><outline text="Folder"/>
      <outline text="Relative" type="atom" url="/feed"/>
      <outline text="Url" type="rss" url="https://example.org/feed" htmlUrl="javascript:alert(1)"/>
      <outline text="Untyped" xmlUrl="" url="https://example.org/other"/>
      """)
    #expect(list.feeds.map(\.address) == ["https://example.org/feed"])
    #expect(list.feeds.map(\.homePage) == [nil])
    #expect(
      list.problems.map(\.description) == [
        "line 3: the feed \"No address\" has no http or https address (xmlUrl)",
        "line 4: the feed \"File\" has no http or https address (xmlUrl)",
        "line 5: the feed \"Script\" has no http or https address (xmlUrl)",
        "line 6: the feed \"\" has no http or https address (xmlUrl)",
        "line 8: the feed \"Relative\" has no http or https address (xmlUrl)",
        "line 10: the feed \"Untyped\" has no http or https address (xmlUrl)",
      ])
  }

  @Test("have folders that claim to be feeds, and other spellings of attributes and types")
  func dialects() throws {
    let list = try list(
      """
      <outline type="rss" title="tech"><outline type="rss" title="A" xmlUrl="https://example.org/a"/></outline>
      <outline type="rss" text="empty" xmlUrl=""><outline text="B" feed_url="https://example.org/b"/></outline>
      <outline type="RSS2" text="C" href="https://example.org/c"/>
      <outline type="application/atom+xml" name="D" url="https://example.org/d"/>
      <outline text="E" XML_URL="https://example.org/e"/><outline type="link" href="https://example.org/f"/>
      <outline xmlns:x="urn:x" x:text="no" text="F" xml-url="https://example.org/g"/>
      <outline text="G" xmlUrl="" XMLURL="https://example.org/h"/>
      """)
    #expect(list.problems == [])
    #expect(list.feeds.map(\.title) == ["A", "B", "C", "D", "E", "F", "G"])
    #expect(list.feeds.map { $0.topics.map(\.slug) } == [["tech"], ["empty"], [], [], [], [], []])
    for type in ["feed", "rdf", "podcast"] {
      #expect(try self.list("<outline type='\(type)' url='https://example.org/'/>").feeds.count == 1, "\(type)")
    }
  }

  private static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

  @Test(
    "report names of folders and feeds that are shortened, and categories",
    arguments: [
      ("text='\(text(256))'", 0), ("text='\(text(257))'", 1),
      ("xmlUrl='https://a.example/' text='\(text(1024))'", 0), ("xmlUrl='https://a.example/' text='\(text(1025))'", 1),
      ("xmlUrl='https://a.example/' category='/\(text(256))'", 0),
      ("xmlUrl='https://a.example/' category='/\(text(257))'", 1),
      ("xmlUrl='https://a.example/' category='\(String(repeating: "/a,", count: 2730))'", 0),
      ("xmlUrl='https://a.example/' category='\(String(repeating: "/a,", count: 2731))'", 1),
    ] as [(String, Int)])
  func long(attributes: String, problems: Int) throws {
    let found = try list("<outline \(attributes)/>").problems.map(\.description)
    #expect(found.count == problems)
    #expect(found.allSatisfy { $0.hasPrefix("line 3: a name or category of ") && $0.hasSuffix(" is shortened") })
  }

  @Test("have the preferred one of several addresses, the first title, and at most 100 problems")
  func several() throws {
    let names = ["xmlUrl", "feedUrl", "rssUrl", "atomUrl", "xml", "url", "href", "link", "uri"]
    for (index, name) in names.enumerated() {
      let attributes = names[index...].reversed().map { "\($0)='https://example.org/\($0)'" }
      let list = try list("<outline type='rss' text='A' \(attributes.joined(separator: " "))/>")
      #expect(list.feeds.map(\.address) == ["https://example.org/\(name)"])
    }
    #expect(try list("", head: "<title>First</title><title>Second</title>").title == "First")
    for outline in ["<outline type='rss' text='A'/>", "<outline text='A' text='B'/>"] {
      #expect(try list(String(repeating: outline, count: 101)).problems.count == 100)
    }
  }

  @Test("keep folders with different names and the same slug apart")
  func slugs() throws {
    let list = try list(
      "<outline text='C'><outline text='C#'><outline text='c' xmlUrl='https://example.org/'/></outline></outline>")
    #expect(list.feeds.first?.topics.map(\.label) == ["C", "C#"])
    let inner = "<outline text='B' xmlUrl='https://example.org/b'/>"
    let nested = try self.list("<outline text='A' category='/x' xmlUrl='https://example.org/a'>\(inner)</outline>")
    #expect(nested.feeds.map { $0.topics.map(\.slug) } == [["x"], []])
    let labelled = try self.list("<outline text='A' category='/x,/y'>\(inner)</outline>")
    #expect(labelled.feeds.first?.topics.map(\.slug) == ["x", "y"])
    let folders = ["Sport", "SPORT"].map { "<outline text='\($0)'>\(inner)</outline>" }.joined()
    #expect(try self.list(folders).feeds.first?.topics.map(\.label) == ["Sport"])
    for category in ["", " category='/x'"] {
      let long = try self.list("<outline text='\(Self.text(300))'\(category)>\(inner)</outline>")
      let sizes = long.feeds.flatMap(\.topics).map(\.label.utf8.count)
      #expect(sizes.count == 1 && sizes.allSatisfy { $0 <= 256 }, "\(sizes)")
    }
  }

  @Test("are read after text and before text that do not belong to them")
  func around() throws {
    let body = "<opml><body><outline text='F' xmlUrl='https://example.org/'/></body></opml>"
    for text in ["Warning: x\n" + body, "<!-- x --><?xml version='1.0'?>" + body, body + "<script>a & b</script>"] {
      #expect(try OPML(reading: Data(text.utf8)).feeds.map(\.title) == ["F"])
    }
  }

  @Test("are read in any encoding, with unescaped ampersands, and without a head")
  func lenient() throws {
    let text = "<outline text='Žluť & kůň' xmlUrl='https://example.org/?a=1&b=2'/>"
    #expect(try list(text, head: "").title == nil)
    #expect(try list(text).feeds.first?.title == "Žluť & kůň")
    #expect(try list(text).feeds.first?.address == "https://example.org/?a=1&b=2")
    let whole = " \n<?xml version='1.0' encoding='windows-1250'?><OPML><body>\(text)</body></OPML>"
    let encoded = try OPML(reading: try #require(whole.data(using: .windowsCP1250)))
    #expect(encoded.feeds.first?.title == "Žluť & kůň")
    let wide = try OPML(reading: try #require(whole.replacing("windows-1250", with: "UTF-16").data(using: .utf16)))
    #expect(wide == encoded)
  }

  @Test(
    "are rejected whole with a line and a reason",
    arguments: [
      ("", "line 1: is empty"), ("\n \n", "line 3: is empty"), ("{}", "line 1: is not XML"),
      ("<rss version='2.0'/>", "line 1: is XML, but not OPML: its root is <rss>"),
      ("<opml>\n<body><outline text='a'></body></opml>", "line 2: is not well-formed XML: "),
      ("\n<opml>\n<body>", "line 2: is not well-formed XML: it is truncated"),
    ])
  func rejected(text: String, problem expected: String) {
    #expect(problem(text)?.hasPrefix(expected) == true, "\(problem(text) ?? "none")")
  }

  @Test("neither multiply entities nor read files, and have limits")
  func hostile() {
    let entities = """
      <!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
      """
    for name in ["a", "b", "f"] {
      for body in ["<outline text='&\(name);' xmlUrl='https://example.org/'/>", "<title>&\(name);</title>"] {
        #expect(
          problem("\(entities)<opml><body>\(body)</body></opml>")?.contains("uses the entity \"\(name)\"") == true)
      }
    }
    let deep = "<opml><body>" + String(repeating: "<outline text='a'>", count: 300)
    #expect(problem(deep) == "line 1: has more than 256 nested elements")
    func nested(_ count: Int) -> String {
      let (start, end) = (String(repeating: "<x>", count: count - 1), String(repeating: "</x>", count: count - 1))
      return "<opml>\(start)\(end)</opml>"
    }
    #expect(problem(nested(256)) == nil)
    #expect(problem(nested(257)) == "line 1: has more than 256 nested elements")
    let attributes = (0..<200).map { "a\($0)='1'" }.joined(separator: " ")
    #expect(problem("<opml><outline \(attributes)/></opml>")?.contains("more than 128 attributes") == true)
    let feeds = (0...10_000).map { "<outline xmlUrl='https://example.org/\($0)'/>\n" }.joined()
    #expect(problem("<opml>\n\(feeds)</opml>") == "line 10002: has more than 10000 feeds")
    #expect(problem(Data(count: OPML.maximumBytes + 1)) == "line 1: is a list of more than 8388608 bytes")
    let largest = Data("{".utf8) + Data(repeating: 0x20, count: OPML.maximumBytes - 1)
    #expect(problem(largest) == "line 1: is not XML")
    let long =
      "<opml><body><outline text='\(String(repeating: "x", count: 5000))' xmlUrl='https://example.org/'/></body></opml>"
    #expect((try? OPML(reading: Data(long.utf8)))?.feeds.first?.title?.utf8.count == 1024)
  }

  @Test(
    "have addresses without a scheme, and with those that open feeds and podcasts",
    arguments: [
      ("itpc://example.org/feed", "https://example.org/feed"), ("pcast://example.org/feed", "https://example.org/feed"),
      ("FEED:http://example.org/feed", "http://example.org/feed"), ("podcast:example.org/a", "https://example.org/a"),
      ("example.org/feed", "https://example.org/feed"), ("www.example.org", "https://www.example.org"),
      ("example.org:8080/feed?a=1", "https://example.org:8080/feed?a=1"), ("example.org", "https://example.org"),
      ("example.org?a=1", "https://example.org?a=1"), ("my-site.example/feed", "https://my-site.example/feed"),
      ("//example.org/feed", "https://example.org/feed"), ("feed.xml", nil), ("/feed.xml", nil),
      ("feeds/news.xml", nil),
      ("mailto:ann@example.org", nil), ("javascript:alert(1)", nil), ("urn:x:y.z", nil), ("a b.org/feed", nil),
      ("feeds:example.org/a", "https://example.org/a"), ("itpcs://example.org/a", "https://example.org/a"),
      ("rss://example.org/a", "https://example.org/a"), ("example.x/feed", nil), (".example.org/feed", nil),
      ("exa_mple.org/feed", nil), ("example.org:port/feed", nil),
      ("ftp://example.org/feed", nil), ("feed:", nil), ("127.0.0.1/feed", nil),
    ] as [(String, String?)])
  func addresses(written: String, address: String?) throws {
    let list = try list("<outline text='A' xmlUrl='\(written)'/>")
    #expect(list.feeds.map(\.address) == [address].compactMap { $0 })
    #expect(list.problems.isEmpty == (address != nil))
  }

  @Test("are read although an attribute is written twice, or has a `<` in it")
  func tags() throws {
    let list = try list(
      """
      <outline text="A" text="B"
        text='C' xmlUrl="https://example.org/a"/>
      <!-- <outline text="A" text="B" --><outline text="1 &lt; 2 < 3" xmlUrl='https://example.org/b'/>
      <outline text = 'D' title="D" xmlUrl="https://example.org/d" ></outline><outline text='E>' xmlUrl='https://example.org/e'/>
      <outline text="No address" type="rss"/>
      """)
    #expect(list.feeds.map(\.title) == ["A", "1 < 2 < 3", "D", "E>"])
    #expect(
      list.problems.map(\.description) == [
        "line 7: the feed \"No address\" has no http or https address (xmlUrl)",
        "line 3: has the attribute \"text\" twice; the first one applies",
        "line 3: has the attribute \"text\" twice; the first one applies",
      ])
    let later = "\n<opml><body><outline text='A' text='B' xmlUrl='https://example.org/'/></body></opml>"
    #expect(
      try OPML(reading: Data(later.utf8)).problems.map(\.description) == [
        "line 2: has the attribute \"text\" twice; the first one applies"
      ])
    for broken in ["<outline text='a/><outline/>", "<outline text=a/>", "<outline <b/>", "<outline"] {
      #expect(throws: FeedProblem.self) { try self.list(broken) }
    }
  }

  @Test("are equal after they are written and read, but in the order of their folders")
  func roundTrip() throws {
    let sport = FeedCategory(slug: "sport", label: "Sports & Games")
    let news = FeedCategory(slug: "news", label: "News")
    let first = OPML.Feed(address: "https://example.org/a?x=1&y='2'", title: "A & \"B\" <c>", topics: [sport])
    let second = OPML.Feed(
      address: "https://example.org/b", title: "B", homePage: "https://example.org/", language: "de")
    let third = OPML.Feed(
      address: "https://example.org/c", title: "C", topics: [news, FeedCategory(slug: "sport", label: "sport")])
    let fourth = OPML.Feed(address: "https://example.org/d", title: "D", topics: [sport])
    let list = OPML(title: "Our <feeds>", feeds: [first, second, third, fourth])
    let read = try OPML(reading: list.data(createdAt: august))
    #expect(read == OPML(title: "Our <feeds>", feeds: [first, fourth, second, third]))
    #expect(try OPML(reading: read.data()) == read)
  }

  @Test("are written with folders that all readers understand")
  func written() {
    let list = OPML(
      title: "T\u{0}",
      feeds: [
        OPML.Feed(address: "https://example.org/b", title: "B\nb"),
        OPML.Feed(
          address: "https://example.org/a", homePage: "https://example.org/", language: "en",
          topics: [FeedCategory(slug: "sport", label: "Sport"), FeedCategory(slug: "news", label: "News")]),
        OPML.Feed(
          address: "https://example.org/c", title: "C", topics: [FeedCategory(slug: "sport", label: "Sport")]),
      ])
    #expect(
      String(decoding: list.data(createdAt: august), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <opml version="2.0">
          <head>
            <title>T</title>
            <dateCreated>Thu, 20 Aug 2026 13:45:00 GMT</dateCreated>
          </head>
          <body>
            <outline type="rss" text="B b" title="B b" xmlUrl="https://example.org/b"/>
            <outline text="Sport" title="Sport" category="/sport">
              <outline type="rss" text="https://example.org/a" title="https://example.org/a" xmlUrl="https://example.org/a" \
        htmlUrl="https://example.org/" language="en" category="/sport,/news"/>
              <outline type="rss" text="C" title="C" xmlUrl="https://example.org/c" category="/sport"/>
            </outline>
          </body>
        </opml>

        """)
    #expect((try? OPML(reading: OPML().data())) == OPML())
  }

  @Test("accept any bytes", arguments: 0..<10)
  func noise(seed: UInt64) async {
    var random = SplitMix64(seed: seed)
    let tokens = [
      "<opml>", "</opml>", "<body>", "<outline ", "text='a'", " xmlUrl='https://example.org/", "'/>", ">", "</outline>",
      "&",
      "&amp;", "&x;", "<!DOCTYPE opml [", "]>", "<![CDATA[", "]]>", "<!--", "-->", "\u{0}", "é", " category='/a,b'",
      "\n",
    ].map { Data($0.utf8) }
    for _ in 0..<300 {
      await Task.yield()
      var data = Data("<opml>".utf8)
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        if Int.random(in: 0..<20, using: &random) == 0 { data.append(UInt8.random(in: 0...255, using: &random)) }
        data += tokens.randomElement(using: &random) ?? Data()
      }
      guard let list = try? OPML(reading: data) else { continue }
      #expect(list.feeds.allSatisfy { $0.address.hasPrefix("http") && $0.topics.count <= 16 })
      #expect((try? OPML(reading: list.data()))?.feeds.map(\.address).sorted() == list.feeds.map(\.address).sorted())
    }
  }

  static let shapes: [(name: String, make: @Sendable (Int) -> String)] = [
    ("feeds", { size in (0..<size / 40).map { "<outline xmlUrl='https://a.b/\($0)'/>" }.joined() }),
    ("folders", { String(repeating: "<outline text='Ab'/>", count: $0 / 20) }),
    (
      "folders in folders",
      { size in
        let folders = (0..<200).map { "<outline text='Topic \($0)'>" }.joined()
        let feeds = (0..<size / 40).map { "<outline xmlUrl='https://a.b/\($0)'/>" }.joined()
        return folders + feeds + String(repeating: "</outline>", count: 200)
      }
    ),
    (
      "categories",
      { size in
        "<outline xmlUrl='https://a.b/' category='" + String(repeating: "/a,", count: size / 3) + "'/>"
      }
    ),
    ("a name of combining marks", { "<outline text='e\(String(repeating: "\u{316}\u{301}", count: $0 / 4))'/>" }),
    ("a type of combining marks", { "<outline type='e\(String(repeating: "\u{316}\u{301}", count: $0 / 4))'/>" }),
    ("ampersands", { "<title>" + String(repeating: "&", count: $0) + "</title>" }),
    (
      "long references",
      { "<title>" + String(repeating: "&" + String(repeating: "a", count: 70), count: $0 / 71) + "</title>" }
    ),
  ]

  @Test("take time in proportion to the size", arguments: shapes.indices)
  func cost(index: Int) {
    let make = Self.shapes[index].make
    let growth = growth(from: 20_000, of: { Data("<opml>\(make($0))</opml>".utf8) }) { data in
      _ = try? OPML(reading: data)
    }
    #expect(growth < linearGrowth, "\(Self.shapes[index].name)")
  }
}
