import Foundation
import News
import NewsFeeds
import Testing

@Suite("Old and odd feeds")
struct OldFeedTests {
  private static func old(_ version: String, date: String = "<pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate>")
    -> String
  {
    """
    <rss version="\(version)"><channel><title>T</title><link>https://example.org/</link>\(date)
    <item><title>A</title><link>https://example.org/1</link><description>one</description></item>
    <item><description>two &lt;b&gt;bold&lt;/b&gt;</description></item></channel></rss>
    """
  }

  @Test("use the date of the channel before RSS 2.0, where entries have none", arguments: ["0.91", "0.92"])
  func channelDate(version: String) {
    let found = events(Self.old(version))
    #expect(found.complaints == [])
    #expect(found.entries.map(\.date) == [august, august])
    #expect(found.entries.map(\.text) == ["one", "two bold"])
    let built = events(Self.old(version, date: "<lastBuildDate>2026-08-20T13:45:00Z</lastBuildDate>"))
    #expect(built.entries == found.entries)
    let twice = "<pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate><lastBuildDate>2026-09-01</lastBuildDate>"
    #expect(events(Self.old(version, date: twice)).entries == found.entries)
    let unclear = Self.old(version).replacing("<title>A</title>", with: "<title>A</title><pubDate>soon</pubDate>")
    #expect(events(unclear).complaints == ["skipped line 2: the date \"soon\" cannot be read"])
    #expect(events(Self.old("2.0")).complaints == ["skipped line 2: has no date", "skipped line 3: has no date"])
  }

  @Test("are unchanged if only the date of the channel has changed")
  func laterChannelDate() {
    let (first, second) = (
      events(Self.old("0.91")).entries, events(Self.old("0.91", date: "<pubDate>2026-09-01</pubDate>")).entries
    )
    #expect(first.map(\.id) == second.map(\.id))
    #expect(first.map(\.digest) == second.map(\.digest))
    #expect(first.map(\.date) != second.map(\.date))
    // The day of a channel is not that of its entries.
    #expect(second.map(\.sharesName) == [false, false])
  }

  @Test("have a vocabulary with any of its URIs")
  func vocabularies() throws {
    for uri in [
      "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/",
      "http://channel.netscape.com/rdf/simple/0.9/", "http://backend.userland.com/rss2",
      "http://backend.userland.com/rss2.1", "http://backend.userland.com/rss", "http://blogs.law.harvard.edu/tech/rss",
    ] {
      let item = "<item><title>t</title><pubDate>2026</pubDate></item>"
      #expect(try entry("<rss xmlns='\(uri)'><channel>\(item)</channel></rss>").title == "t", "\(uri)")
    }
    func files(_ element: String, _ uri: String) throws -> [String] {
      let fields = "<guid>1</guid><title>t</title><pubDate>2026</pubDate><x:\(element) xmlns:x='\(uri)'/>"
      return try entry(rss("<item>\(fields)</item>")).attachments.map(\.url)
    }
    for uri in [
      "http://www.google.com/schemas/play-podcasts/1.0", "https://podcastindex.org/namespace/1.0",
      "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md",
    ] {
      #expect(try files("image href='https://example.org/a.jpg'", uri) == ["https://example.org/a.jpg"], "\(uri)")
    }
    let board = try files("content url='https://example.org/a.jpg'", "http://www.rssboard.org/media-rss")
    #expect(board == ["https://example.org/a.jpg"])
    let draft = "<x:draft xmlns:x='http://www.w3.org/2007/app'>yes</x:draft>"
    #expect(events(rss("<item><guid>1</guid><title>t</title><pubDate>2026</pubDate>\(draft)</item>")).entries == [])
  }

  @Test("are RSS 0.90 and 1.0 with any prefixes")
  func rdf() throws {
    let netscape = """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
      <channel><title>T</title><link>https://example.org/</link></channel><image><title>i</title></image>
      <item><title>A</title><link>https://example.org/1</link><description>x</description></item>
      <textinput><title>s</title></textinput></rdf:RDF>
      """
    #expect(events(netscape).complaints == ["skipped line 3: has no date"])
    let prefixed = """
      <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://purl.org/rss/1.0/"
        xmlns:x="http://purl.org/dc/elements/1.1/" xmlns:y="http://purl.org/rss/1.0/modules/content/">
      <s:channel r:about="https://example.org/rss"><s:title>T</s:title><s:link>https://example.org/</s:link>
      <x:date>2026-08-19</x:date><s:items><r:Seq><r:li r:resource="https://example.org/1"/></r:Seq></s:items></s:channel>
      <s:item r:about="urn:1"><s:title>A</s:title><s:link>https://example.org/1</s:link><x:creator>Ann</x:creator>
      <s:description>short</s:description><y:encoded><![CDATA[<p>long</p>]]></y:encoded>
      <x:date>2026-08-20T13:45:00Z</x:date><x:subject>Sport</x:subject></s:item></r:RDF>
      """
    let entry = try entry(prefixed)
    #expect(entry.guid == "urn:1")
    #expect(entry.date == august)
    #expect(entry.text == "long")
    #expect(entry.summary == "short")
    #expect(entry.author == "Ann")
    #expect(entry.categories.map(\.slug) == ["sport"])
    #expect(
      events(prefixed.replacing("<x:date>2026-08-20T13:45:00Z</x:date>", with: "")).entries.map(\.date) == [
        august - (37 * 3600 + 45 * 60)
      ])
  }

  @Test("may have unusual prefixes and slightly different namespace URIs")
  func prefixes() throws {
    let entry = try entry(
      """
      <rss version="2.0" xmlns:dc="http://purl.org/rss/1.0/modules/content/" xmlns:content="https://purl.org/dc/elements/1.1"
        xmlns:m="HTTP://search.yahoo.com/mrss"><channel><link>https://example.org/</link>
      <item><guid>1</guid><pubDate>20 Aug 2026</pubDate><content:creator>Ann</content:creator><dc:encoded>x</dc:encoded>
      <m:content url="https://example.org/a.png"/><link xmlns="urn:other">https://example.org/other</link>
      <title xmlns="urn:other">other</title></item></channel></rss>
      """)
    #expect(entry.author == "Ann")
    #expect(entry.text == "x")
    #expect(entry.attachments.map(\.type) == ["image/png"])
    #expect(entry.title == nil)
    #expect(entry.url == nil)
    let spelled =
      "<rss xmlns='http://blogs.law.harvard.edu/tech/rss'><channel><item><pubDate>2026</pubDate><title>t</title><description>x</description></item></channel></rss>"
    #expect(try NewsFeedsTests.entry(spelled).title == "t")
    let atom =
      "<feed xmlns='https://www.w3.org/2005/Atom/'><entry><id>1</id><updated>2026</updated><summary>x</summary></entry></feed>"
    #expect(try NewsFeedsTests.entry(atom).text == "x")
  }

  @Test("may have bases on the root, the channel, the item and its text")
  func bases() throws {
    let text = """
      <rss xml:base="https://example.org/a/"><channel xml:base="b/"><item xml:base="c/"><guid>1</guid><link>p</link>
      <pubDate>20 Aug 2026</pubDate><description xml:base="d/">&lt;img src="i"&gt;x</description>
      <enclosure url="e.mp3"/></item></channel></rss>
      """
    let entry = try entry(text)
    #expect(entry.url == "https://example.org/a/b/c/p")
    #expect(entry.html == "<img src=\"https://example.org/a/b/c/d/i\"/>x")
    let summary = "<description xml:base=\"s/\">s</description>"
    let body = text.replacing("description", with: "content:encoded").replacing("<encl", with: summary + "<encl")
    #expect(try NewsFeedsTests.entry(body).html == entry.html)
    #expect(
      entry.attachments.map(\.url) == ["https://example.org/a/b/c/e.mp3", "https://example.org/a/b/c/d/i"])
  }
}
