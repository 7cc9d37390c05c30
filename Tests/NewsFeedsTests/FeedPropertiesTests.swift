import Foundation
import NewsFeeds
import Testing

@Suite("The properties of a feed")
struct FeedPropertiesTests {
  /// Reads a feed; the properties must be the same however the bytes are divided.
  private func properties(
    _ text: String, at address: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) -> FeedProperties {
    let found = [Int.max, 1, 7].map { pieces in
      let reader = FeedReader(FeedReader.Options(address: address))
      var rest = Data(text.utf8)[...]
      while !rest.isEmpty {
        _ = reader.feed(Data(rest.prefix(pieces)))
        rest = rest.dropFirst(pieces)
      }
      _ = reader.finish()
      return reader.properties
    }
    #expect(found.allSatisfy { $0 == found[0] }, sourceLocation: sourceLocation)
    return found[0]
  }

  private static let item = "<item><guid>1</guid><pubDate>2026</pubDate><title>not the feed's</title></item>"

  @Test("are read from RSS, also after the items")
  func rssProperties() {
    let text = """
      <rss version="2.0" xml:lang="de" xmlns:a="http://www.w3.org/2005/Atom" xmlns:y="http://purl.org/rss/1.0/modules/syndication/">
      <channel><title>Tom &amp;amp; &lt;b&gt;Jerry&lt;/b&gt;</title><link>https://example.org/</link><language>en-us</language>
      <a:link rel="self" href="/feed"/><a:link rel="hub" href="https://hub.example/"/>
      \(Self.item)
      <a:link rel="hub" href="https://hub.example/"/><a:link rel="hub" href="https://hub.example/2"/>
      <ttl> 60 </ttl><ttl>5</ttl><skipHours><hour>0</hour><hour>24</hour><hour>7</hour><hour>25</hour><hour>x</hour></skipHours>
      <skipDays><day> Saturday </day><day>sunday</day><day>Someday</day></skipDays>
      <y:updatePeriod>hourly</y:updatePeriod><y:updateFrequency>2</y:updateFrequency>
      <y:updateBase>2000-01-01T12:00+00:00</y:updateBase>
      </channel></rss>
      """
    var expected = FeedProperties()
    expected.title = "Tom & Jerry"
    expected.language = "en-US"
    expected.homePage = "https://example.org/"
    expected.hubs = ["https://hub.example/", "https://hub.example/2"]
    expected.minutesToLive = 60
    expected.updateMinutes = 30
    expected.updateBase = Date(timeIntervalSince1970: 946_728_000)
    expected.skippedHours = [0, 7]
    expected.skippedDays = [1, 7]
    #expect(properties(text) == expected)
    expected.ownAddress = "https://example.net/feed"
    #expect(properties(text, at: "https://example.net/x/y") == expected)
  }

  @Test(
    "have the title that an entry with the same elements has",
    arguments: [
      "<dc:title>Feed Title</dc:title>", "<title><b>Feed</b> Title</title>", "<title><p>Feed Title</p></title>",
      "<title></title><dc:title>Feed Title</dc:title>", "<dc:title>Other</dc:title><title>Feed Title</title>",
      "<itunes:title>Other</itunes:title><dc:title>Feed Title</dc:title>", "<atom:title>Feed Title</atom:title>",
      "<title>Feed Title</title><title>Other</title>", "<title>Feed &lt;i&gt;Title&lt;/i&gt;</title>",
      "<title><![CDATA[<b>Feed</b> Title]]></title>",
    ])
  func rssTitles(elements: String) throws {
    let item = "<item><guid>1</guid><pubDate>2026</pubDate>\(elements)</item>"
    let text = "<rss version='2.0'><channel><link>https://example.org/</link>\(elements)\(item)</channel></rss>"
    #expect(properties(text).title == "Feed Title")
    #expect(try entry(text).title == "Feed Title")
    #expect(
      properties(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
          + "<channel>\(elements)</channel></rdf:RDF>"
      ).title == "Feed Title")
  }

  @Test(
    "have the title that an Atom entry with the same elements has",
    arguments: [
      "<dc:title>Feed Title</dc:title>", "<title><b>Feed</b> Title</title>",
      "<dc:title>Feed &lt;b>Title&lt;/b></dc:title>",
      "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>Feed <b>Title</b></p></div></title>",
      "<title type='xhtml'>Feed <b>Title</b></title>",
      "<title type='html'>&lt;p>Feed &lt;b>Title&lt;/b>&lt;/p></title>",
      "<dc:title>Other</dc:title><title>Feed Title</title>",
    ])
  func atomTitles(elements: String) throws {
    let text = atom("<entry><id>1</id><updated>2026</updated>\(elements)</entry>", head: elements)
    #expect(properties(text).title == "Feed Title")
    #expect(try entry(text).title == "Feed Title")
  }

  @Test("are read from Atom")
  func atomProperties() {
    let head = """
      <id>urn:f</id><title type="html">Tom &amp;amp; Jerry</title><link href="/"/><link rel="self" href="atom.xml"/>
      <link rel="hub self" href="https://hub.example/"/><link rel="alternate" href="/other"/>
      <y:updatePeriod xmlns:y="http://purl.org/rss/1.0/modules/syndication/">weekly</y:updatePeriod>
      """
    var expected = FeedProperties()
    expected.title = "Tom & Jerry"
    expected.language = "de"
    expected.homePage = "https://example.org/"
    expected.ownAddress = "https://example.org/blog/atom.xml"
    expected.hubs = ["https://hub.example/"]
    expected.updateMinutes = 7 * 24 * 60
    #expect(
      properties(atom("", attributes: "xml:lang='de' xml:base='https://example.org/blog/'", head: head)) == expected)
    let markup = "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a <b>b</b></div></title>"
    #expect(properties(atom("", head: markup)).title == "a b")
  }

  @Test("are read from JSON Feed")
  func jsonProperties() {
    let text = """
      {"version":"https://jsonfeed.org/version/1.1","title":"T < t","home_page_url":"https://example.org/",
      "feed_url":"feed.json","language":"en_GB","expired":true,"items":[],
      "hubs":[{"type":"rssCloud","url":"https://cloud.example/"},{"type":"WebSub","url":"https://hub.example/"},17,
      {"type":"pubsubhubbub","url":"/hub"}]}
      """
    var expected = FeedProperties()
    expected.title = "T < t"
    expected.language = "en-GB"
    expected.homePage = "https://example.org/"
    expected.ownAddress = "https://example.net/feed.json"
    expected.hubs = ["https://hub.example/", "https://example.net/hub"]
    expected.hasEnded = true
    #expect(properties(text, at: "https://example.net/feed.json") == expected)
  }

  @Test("of the wrong type are ignored, and the items are read")
  func wrongTypes() throws {
    let text = """
      {"version":"https://jsonfeed.org/version/1","expired":"yes","hubs":{"type":"WebSub"},
      "items":[{"id":"1","content_text":"x","date_published":"2026"}]}
      """
    #expect(try entry(text).text == "x")
    #expect(properties(text) == FeedProperties())
  }

  @Test("are empty for JSON Lines, and before anything is read")
  func none() {
    #expect(properties("{\"date\":\"2026\",\"text\":\"x\"}\n") == FeedProperties())
    #expect(FeedReader().properties == FeedProperties())
  }

  @Test(
    "ignore values that are not valid",
    arguments: [
      "<ttl>0</ttl>", "<ttl>-5</ttl>", "<ttl>soon</ttl>", "<ttl/>", "<sy:updatePeriod>often</sy:updatePeriod>",
      "<sy:updatePeriod>\(String(repeating: "x", count: 100))</sy:updatePeriod>", "<skipHours>7</skipHours>",
      "<skipDays><day/></skipDays>", "<atom:link rel='hub' href='ftp://hub.example/'/>", "<atom:link rel='hub'/>",
      "<atom:link rel='self' href='javascript:x'/>",
    ])
  func invalid(field: String) {
    #expect(properties("<rss version='2.0'><channel>\(field)</channel></rss>") == FeedProperties())
  }

  @Test("have bounds")
  func bounds() {
    let hubs = (1...20).map { "<atom:link rel='hub' href='https://hub.example/\($0)'/>" }.joined()
    let found = properties(
      "<rss><channel>\(hubs)<ttl>99999999</ttl><title>\(String(repeating: "x", count: 1025))</title></channel></rss>")
    #expect(found.hubs.count == 8)
    #expect(found.minutesToLive == 527_040)
    #expect(found.title.map { $0.utf8.count <= 1024 && $0.hasSuffix("x\u{2026}") } == true)
    let often = "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>1000</sy:updateFrequency>"
    #expect(properties("<rss><channel>\(often)</channel></rss>").updateMinutes == 1)
    let half = "<sy:updateFrequency>2</sy:updateFrequency>"
    #expect(properties("<rss><channel>\(half)</channel></rss>").updateMinutes == 720)
    let midnight = "<skipHours><hour>24</hour></skipHours>"
    #expect(properties("<rss><channel>\(midnight)</channel></rss>").skippedHours == [0])
  }

  @Test("are the first of several ones")
  func repeated() {
    func read(_ channel: String) -> FeedProperties { properties("<rss><channel>\(channel)</channel></rss>") }
    let own = ["1", "2"].map { "<atom:link rel='self' href='https://example.org/\($0)'/>" }.joined()
    let pages = ["3", "4"].map { "<atom:link href='https://example.org/\($0)'/>" }.joined()
    #expect(read(own).ownAddress == "https://example.org/1")
    #expect(read(pages).homePage == "https://example.org/3")
    #expect(read(pages + "<link>https://example.org/</link>").homePage == "https://example.org/")
    let hourly = "<sy:updatePeriod>hourly</sy:updatePeriod>"
    #expect(read(hourly + hourly.replacing("hourly", with: "daily")).updateMinutes == 60)
    let frequencies = [2, 5].map { "<sy:updateFrequency>\($0)</sy:updateFrequency>" }.joined()
    #expect(read(hourly + frequencies).updateMinutes == 30)
    #expect(read(hourly + "<sy:updateFrequency>0</sy:updateFrequency>").updateMinutes == 60)
    let bases = ["2026-01-01", "2026-02-01"].map { "<sy:updateBase>\($0)</sy:updateBase>" }.joined()
    #expect(read(hourly + bases).updateBase == Date(timeIntervalSince1970: 1_767_225_600))
  }

  @Test(
    "have the interval of each period",
    arguments: [
      ("Hourly", 60), ("hourly", 60), ("daily", 1440), ("weekly", 10_080), ("monthly", 43_200), ("yearly", 525_600),
    ])
  func periods(name: String, minutes: Int) {
    let period = "<sy:updatePeriod>\(name)</sy:updatePeriod>"
    #expect(properties("<rss><channel>\(period)</channel></rss>").updateMinutes == minutes)
  }

  @Test("allow a request at once, or at the start of the next hour that is not skipped")
  func allowedTime() {
    var properties = FeedProperties()
    // 20 August 2026, 13:45 UTC, is a Thursday.
    #expect(properties.allowedTime(from: august) == august)
    properties.skippedHours = [12, 14]
    #expect(properties.allowedTime(from: august) == august)
    properties.skippedHours = [13, 14]
    #expect(properties.allowedTime(from: august) == august + 75 * 60)
    properties.skippedHours = Set(0...12).union(14...23)
    #expect(properties.allowedTime(from: august + 3600) == august + 23.25 * 3600)
    properties.skippedHours = []
    properties.skippedDays = [5, 6]
    #expect(properties.allowedTime(from: august) == august + (10.25 + 24) * 3600)
    properties.skippedDays = [4, 6]
    #expect(properties.allowedTime(from: august) == august)
    properties.skippedDays = Set(1...7)
    #expect(properties.allowedTime(from: august) == august)
    properties.skippedDays = [4]
    let before = Date(timeIntervalSince1970: -1)
    // 31 December 1969 was a Wednesday.
    #expect(properties.allowedTime(from: before) == Date(timeIntervalSince1970: 0))
  }
}
