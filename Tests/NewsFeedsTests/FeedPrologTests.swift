import Foundation
import NewsFeeds
import Testing

@Suite("Text around a feed")
struct FeedPrologTests {
  private static let feed = rss("<item><guid>1</guid><title>Žluť</title><pubDate>2026-01-01</pubDate></item>")
  private static let bare = String(feed.split(separator: "\n", maxSplits: 1)[1])
  private static let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

  @Test(
    "is ignored before it",
    arguments: [
      "<!-- cached -->\n", "Warning: Undefined variable $x in /var/www/plugin.php on line 3\n", declaration,
      "<br />\n<b>Notice</b>: Undefined index: x in <b>/a.php</b> on line <b>7</b><br />\n", "\u{FEFF}\u{FEFF}",
      "\u{FEFF}\n ",
      "x\u{1}y\n", "<!-- <rss> -->\n \n", "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n", "<?php echo '<rss>' ?>",
      String(repeating: "Warning: deprecated\n", count: 2000),
    ])
  func before(text: String) {
    let bytes = Data((text + Self.feed).utf8)
    for pieces in [Int.max, 7] {
      let events = events(bytes, pieces: pieces)
      #expect(events.entries.map(\.title) == ["Žluť"])
      #expect(!events.complaints.contains { $0.hasPrefix("failed") || $0.hasPrefix("skipped") })
    }
  }

  @Test(
    "is ignored after it",
    arguments: ["<!-- 0.2 s -->", "<script>if (a < b && c) x()</script>", "</html>", "\u{0}", "bye & <"]
  )
  func after(text: String) {
    let bytes = Data((Self.feed + "\n" + text).utf8)
    for pieces in [Int.max, 7] {
      let events = events(bytes, pieces: pieces)
      #expect(events.entries.count == 1)
      #expect(!events.complaints.contains { $0.hasPrefix("failed") || $0.hasPrefix("skipped") })
    }
  }

  @Test("is ignored before a root of any kind")
  func roots() {
    let entry = "<entry xmlns='http://www.w3.org/2005/Atom'><id>1</id><title>t</title><updated>2026</updated></entry>"
    let rdf = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'"
    let item = "<item><title>t</title><date>2026</date></item>"
    let fields = "<a:id>1</a:id><a:title>t</a:title><a:updated>2026</a:updated>"
    let prefixed = "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:id>f</a:id><a:entry>\(fields)</a:entry></a:feed>"
    for text in [entry, atom(entry), prefixed, "<rdf:RDF \(rdf)><channel/>\(item)</rdf:RDF>"] {
      #expect(events("Warning: x\n" + text).entries.map(\.title) == ["t"], "\(text)")
    }
  }

  @Test("does not hide the declared encoding")
  func encoding() throws {
    let declared = Self.declaration.replacing("UTF-8", with: "windows-1250") + Self.bare
    let bytes = Data("<!-- x -->\nWarning: y\n".utf8) + (try #require(declared.data(using: .windowsCP1250)))
    #expect(events(bytes).entries.map(\.title) == ["Žluť"])
    #expect(events(bytes, pieces: 5).entries.map(\.title) == ["Žluť"])
  }

  @Test("is reported with the line of the feed")
  func lines() {
    let found = events("Warning\n\n" + Self.feed.replacing("2026-01-01", with: "x"))
    #expect(
      found.complaints == [
        "skipped line 7: the date \"x\" cannot be read", "noted line 1: has other content before it, which is ignored",
      ])
  }

  private static let jsonFeed =
    #"{"version":"https:\/\/jsonfeed.org\/version\/1.1","items":[{"id":"1","content_html":"<html><p>x","date_published":"2026"}]}"#

  @Test(
    "is ignored around a JSON Feed as programs write it",
    arguments: [
      "Warning: x\n\(jsonFeed)", "body{}\n\(jsonFeed)", "Notice: {main} in {x}\n\(jsonFeed)\n<!-- 0.2 s -->",
      "Notice: {\"main\"} in x\n\(jsonFeed)",
      "\(jsonFeed)<!-- 0.2 s -->", "\(jsonFeed) <!-- 0.2 s -->\n", "Warning: { \(jsonFeed.replacing("\\/", with: "/"))",
      "<br />\n<b>Warning</b>: x<br />\n\(jsonFeed.replacing("<html>", with: ""))",
    ])
  func jsonFeeds(text: String) {
    for pieces in [Int.max, 7] {
      let found = events(Data(text.utf8), pieces: pieces)
      #expect(found.entries.map(\.text) == ["x"])
      #expect(found.complaints.allSatisfy { $0.contains("has other content before it") })
    }
    #expect(events("Warning {\"a\":1} https://jsonfeed.org/version/1").entries.isEmpty)
    #expect(events("body{} https://jsonfeed.org/version/1").complaints == ["failed line 1: is neither XML nor JSON"])
  }

  @Test("is ignored around a JSON Feed")
  func json() {
    let feed = """
      {"version":"https://jsonfeed.org/version/1.1","title":"a}\\"","items":[{"id":"1","content_text":"{",
      "date_published":"2026-01-01"}]}
      """
    for text in ["Warning: x\n" + feed, feed + "\n<!-- 0.2 s {} -->", feed + "<script>{}</script>"] {
      #expect(events(text).entries.map(\.guid) == ["1"])
    }
    // A text of a feed may be about a JSON Feed.
    let about = Self.feed.replacing("<pubDate>", with: "<description>\(feed)</description><pubDate>")
    #expect(events("Warning: x\n" + about).entries.map(\.title) == ["Žluť"])
  }

  @Test("does not make a page a feed")
  func pages() {
    let pages = [
      "<!DOCTYPE html><p><rss><channel>", "<html><body><feed>", "just text", "<p>one</p>",
      "<!DOCTYPE html><p>" + Self.bare, "<!DOCTYPE HTML><p>" + Self.bare,
    ]
    let much = String(repeating: "Warning: deprecated\n", count: 4000)
    for page in pages + [much + Self.feed] {
      #expect(events(page).entries.isEmpty)
      #expect(events(page).complaints.contains { $0.hasPrefix("failed") })
    }
  }
}
