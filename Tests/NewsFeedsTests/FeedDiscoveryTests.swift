import Foundation
import NewsFeeds
import TestKit
import Testing

@Suite("Finding the feeds of a page")
struct FeedDiscoveryTests {
  private func feeds(_ page: String, at address: String = "https://example.org/blog/") -> [FeedDiscovery.Link] {
    FeedDiscovery.feeds(in: Data(page.utf8), at: address)
  }

  private func addresses(_ page: String, at address: String = "https://example.org/blog/") -> [String] {
    feeds(page, at: address).map(\.address)
  }

  @Test(
    "reads links in the head and in broken markup",
    arguments: [
      "<html><head><link rel=\"alternate\" type=\"application/rss+xml\" href=\"feed.xml\" title=\"News\"></head></html>",
      "<LINK REL=Alternate TYPE=application/atom+xml HREF=feed.xml TITLE=News>",
      "<!doctype html><head><title>x</title></head><body><p>a<div></p><link href='feed.xml' title='News' rel='home alternate' "
        + "type=' application/feed+json; charset=utf-8'/>",
      "<a rel='alternate' type='application/rdf+xml' href='/blog/feed.xml' title='\n News '>x</a>",
      "<link rel='feed' href='./feed.xml' title='News'>",
      "<p><b><link rel=alternate type=text/xml href=feed.xml title=News",
      "<link rel=alternate type=application/xml href=feed.xml title=News>",
      "<link rel=alternate type=Application/RSS+XML href=feed.xml title=News>",
      "<map><area rel=alternate type=application/rss+xml href=feed.xml title=News></map>",
      "<link rel=alternate type=application/rss+xml href=&quot; href='https://example.org/blog/feed.xml'>"
        + "<link rel=alternate type=application/rss+xml title=News href='feed.xml'>",
    ])
  func links(page: String) {
    #expect(feeds(page).last?.address == "https://example.org/blog/feed.xml")
    #expect(feeds(page).last?.title == "News")
  }

  @Test(
    "ignores other links",
    arguments: [
      "<link rel=stylesheet type=application/rss+xml href=a>", "<link type=application/rss+xml href=a>",
      "<link rel='alternate stylesheet' type=application/rss+xml href=a>", "<link rel=alternate href=a>",
      "<link rel=alternate hreflang=de href=a>", "<link rel=alternate type=text/html href=a>",
      "<link rel=alternate type=application/json+oembed href=a>", "<link rel=alternate type=application/rss+xml>",
      "<link rel=alternate type=application/json href=/wp-json/wp/v2/pages/2>",
      "<link rel=alternate type=application/rss+xml href=javascript:alert(1)>",
      "<link rel=alternate type=application/rss+xml href=android-app://example/>",
      "<!-- <link rel=alternate type=application/rss+xml href=a> -->",
      "<script>var x = '<link rel=alternate type=application/rss+xml href=a>'</script>",
      "<textarea>&lt;link rel=alternate type=application/rss+xml href=a></textarea>", "", "\u{0}", "no page",
    ])
  func others(page: String) {
    #expect(feeds(page) == [])
  }

  @Test("keeps the order of the page, with general types and then comments at the end, and each address once")
  func order() {
    let page = """
      <link rel=alternate type=application/json href=/data.json>
      <link rel=alternate type=application/rss+xml href=/comments/feed>
      <link rel=alternate type=application/rss+xml href=/de title="Kommentare: Beitrag">
      <link rel=alternate type=application/atom+xml href=/feed>
      <link rel=alternate type=application/rss+xml href=/feed.rss>
      <link rel=alternate type=application/rss+xml href=https://example.org/feed>
      """
    #expect(
      addresses(page).map { $0.dropFirst("https://example.org".count) } == [
        "/feed", "/feed.rss", "/data.json", "/comments/feed", "/de",
      ])
    for title in ["Comments", "Kommentare", "Reacties", "Comentario", "Coment\u{E1}rios"] {
      let comments = "<link rel=alternate type=application/rss+xml href=/c title='\(title)'>"
      let found = addresses(comments + "<link rel=alternate type=text/xml href=/feed>")
      #expect(found == ["https://example.org/feed", "https://example.org/c"], "\(title)")
    }
    // Comments of a general type come last, but they come.
    #expect(addresses("<link rel=alternate type=application/json href=/comments>").count == 1)
    let many = (0..<5000).map { "<link rel=alternate type=application/rss+xml href=/\($0)>" }.joined()
    #expect(addresses(many).count == FeedDiscovery.maximumFeeds)
    let link = "<link rel=feed href=/a>"
    for (count, found) in [(1023, 2), (1024, 1)] {
      #expect(addresses(String(repeating: link, count: count) + "<link rel=feed href=/b>").count == found)
    }
  }

  @Test(
    "resolves addresses against the first base, which is relative to the page",
    arguments: [
      ("<base href='https://example.com/x/'>", "a", "https://example.com/x/a"),
      ("<base href=/y/>", "a", "https://example.org/y/a"),
      ("<base href=/y/><base href=/z/>", "a", "https://example.org/y/a"),
      ("<base target=_blank><base href=/y/>", "a", "https://example.org/y/a"),
      ("<base href=javascript:x>", "a", "https://example.org/blog/a"),
      ("", "?a=1&amp;b=2", "https://example.org/blog/?a=1&b=2"),
      ("", "//example.net/a", "https://example.net/a"), ("", "a b", "https://example.org/blog/a%20b"),
    ])
  func bases(base: String, reference: String, address: String) {
    let link = "<link rel=alternate type=application/rss+xml href='\(reference)'>"
    #expect(addresses(base + link) == [address])
    // The base applies to the whole page, also to the links before it.
    #expect(addresses(link + base) == [address])
  }

  @Test("decodes titles by the charset of the response, else of the page, else UTF-8")
  func charsets() throws {
    let link = "<link rel=alternate type=application/rss+xml href=/a title='Новости'>"
    func title(_ page: String, _ encoding: String.Encoding, contentType: String? = nil) throws -> String? {
      let bytes = try #require(page.data(using: encoding))
      return FeedDiscovery.feeds(in: bytes, at: "https://example.org/", contentType: contentType).first?.title
    }
    #expect(try title(link, .utf8) == "Новости")
    #expect(try title(link, .utf16) == "Новости")
    #expect(try title(link, .windowsCP1251, contentType: "text/html; charset=windows-1251") == "Новости")
    #expect(try title("<meta charset=windows-1251>" + link, .windowsCP1251) == "Новости")
    let page = "<meta charset=utf-8>" + link
    #expect(try title(page, .windowsCP1251, contentType: "text/html; charset=windows-1251") == "Новости")
    let old = "<META http-equiv=Content-Type content='text/html; charset=windows-1251'>"
    #expect(try title(old + link, .windowsCP1251) == "Новости")
    #expect(try title("<meta charset=windows-1251>" + link, .utf8) == "Новости")
  }

  @Test("omits titles of more than 1 KiB", arguments: [(1024, true), (1025, false)])
  func longTitles(count: Int, isKept: Bool) {
    let found = feeds("<link rel=feed href=/a title='\(String(repeating: "x", count: count))'>")
    #expect(found.map { $0.title != nil } == [isKept])
  }

  @Test("reads the first 4 MiB")
  func limit() {
    let link = Data("<link rel=alternate type=application/rss+xml href=/a>".utf8)
    let filler = Data(repeating: UInt8(ascii: " "), count: FeedDiscovery.maximumBytes - link.count)
    #expect(FeedDiscovery.feeds(in: filler + link, at: "https://example.org/").count == 1)
    #expect(
      FeedDiscovery.feeds(in: filler + Data(repeating: 0x20, count: 20) + link, at: "https://example.org/").count == 0)
  }

  private static let tokens = [
    "<", ">", "\"", "'", "=", "<link ", "rel=", "alternate", " type=", "application/rss+xml", " href=", "/a", "<base ",
    "<!--", "-->", "<script>", "</script>", "<![CDATA[", "&amp;", "&#0;", "\u{0}", "<head>", "</head>", "<svg>", "é",
    "<p",
  ].map { Data($0.utf8) }

  @Test("accepts any bytes", arguments: 0..<10)
  func noise(seed: UInt64) async {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      await Task.yield()
      var page = Data()
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        if Int.random(in: 0..<10, using: &random) == 0 { page.append(UInt8.random(in: 0...255, using: &random)) }
        page += Self.tokens.randomElement(using: &random) ?? Data()
      }
      let found = FeedDiscovery.feeds(in: page, at: "https://example.org/")
      #expect(found == FeedDiscovery.feeds(in: page, at: "https://example.org/"))
      #expect(found.allSatisfy { $0.address.hasPrefix("http") && $0.address.utf8.count <= 2048 })
    }
  }

  static let shapes: [(name: String, make: @Sendable (Int) -> String)] = [
    ("links", { String(repeating: "<link rel=alternate type=application/rss+xml href=/a>", count: $0 / 53) }),
    ("attributes", { "<link " + (0..<$0 / 8).map { "a\($0)=1" }.joined(separator: " ") + ">" }),
    ("nested elements", { String(repeating: "<div>", count: $0 / 5) }),
    ("open tags", { String(repeating: "<a ", count: $0 / 3) }),
    (
      "a long address",
      { "<link rel=alternate type=application/rss+xml href=" + String(repeating: "e\u{301}", count: $0 / 3) }
    ),
    ("a long relation", { "<link rel='" + String(repeating: "e\u{301}", count: $0 / 3) + "' href=a>" }),
    (
      "titles",
      {
        let title = String(repeating: "e\u{301}", count: $0 / 3)
        return "<link rel=feed href=a title='\(title)'>"
      }
    ),
    ("declarations", { String(repeating: "<meta ", count: $0 / 6) }),
  ]

  @Test("takes time in proportion to the size", arguments: shapes.indices)
  func cost(index: Int) {
    let make = Self.shapes[index].make
    let growth = growth(from: 60_000, of: { Data(make($0).utf8) }) { page in
      _ = FeedDiscovery.feeds(in: page, at: "https://example.org/")
    }
    #expect(growth < linearGrowth, "\(Self.shapes[index].name)")
  }
}
