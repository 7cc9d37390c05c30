import Foundation
import NewsFeeds
import Testing

@Suite("Broken XML")
struct BrokenXMLTests {
  private static func item(_ name: String, _ fields: String = "") -> String {
    "<item><guid>\(name)</guid><pubDate>20 Aug 2026</pubDate><description>\(name)</description>\(fields)</item>"
  }

  /// Returns the events of a text, which must be the same however the bytes are split.
  private func found(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> [FeedEvent] {
    let bytes = Data(text.utf8)
    let expected = events(bytes)
    for pieces in [1, 2, 3, 7, 50, 333] {
      #expect(events(bytes, pieces: pieces) == expected, "pieces of \(pieces)", sourceLocation: sourceLocation)
    }
    return expected
  }

  @Test(
    "skips only the entry that contains it",
    arguments: [
      ("<b>x</p>", "is not well-formed XML: Opening and ending tag mismatch: b line 6 and p"),
      ("<b></p><items>x</items>", "is not well-formed XML: Opening and ending tag mismatch: b line 6 and p"),
      ("a < b", "is not well-formed XML: StartTag: invalid element name"),
      ("<a href='x>y</a>", "is not well-formed XML: Unescaped '<' not allowed in attributes values"),
      ("<a x='1' x='2'/>", "is not well-formed XML: Attribute x redefined"),
      ("<!-- a -- b -->", "is not well-formed XML: Double hyphen within comment"),
      (
        "<![CDATA[" + item("no entry") + "]]></b>",
        "is not well-formed XML: Opening and ending tag mismatch: item line 6 and b"
      ),
      (
        "<!-- " + item("no entry") + " --></b>",
        "is not well-formed XML: Opening and ending tag mismatch: item line 6 and b"
      ),
      ("\u{FFFF}", "has bytes or characters that XML does not allow"),
    ])
  func inside(fields: String, problem: String) {
    let events = found(rss(Self.item("1") + "\n" + Self.item("2", fields) + "\n" + Self.item("3")))
    #expect(events.entries.map(\.guid) == ["1", "3"])
    #expect(events.complaints.count == 1)
    #expect(events.complaints.first?.hasPrefix("skipped line 6: \(problem)") == true, "\(events.complaints)")
  }

  @Test("keeps the words of an unknown entity, as browsers do")
  func unknownEntities() {
    let found = found(
      rss(Self.item("1", "<category>A &unheard; B</category>\n<link>/?a&b;</link>") + "&x;" + Self.item("2")))
    #expect(found.entries.map(\.guid) == ["1", "2"])
    #expect(found.entries.first?.categories.map(\.label) == ["A &unheard; B"])
    #expect(found.complaints == ["noted line 5: refers to entities that are unknown; their names are read as text"])
  }

  @Test(
    "is no reason to drop an entry for its words or its languages",
    arguments: [
      "<title>Two</title><title xml:lang='de'>Zwei</title>", "<guid> 1\n</guid>",
      "<description><![CDATA[Close each entry with </item>.]]></description>",
      "<category><![CDATA[How to write <![CDATA[ sections]]></category>",
      "<description><![CDATA[<item> and </item> and <![CDATA[ ]]></description>",
      "<description>&lt;/description> and &lt;item> and &lt;/item></description>",
    ])
  func words(fields: String) {
    let found = found(rss(Self.item("1", fields) + Self.item("2")))
    #expect(found.entries.map(\.guid) == ["1", "2"] && found.complaints == [])
  }

  @Test("reports the line of the error if it is not that of the entry")
  func lines() {
    let events = found(
      rss(Self.item("1", "\n\n<b></p>") + Self.item("2") + "\n" + Self.item("3", "\n<b></p>") + Self.item("4")))
    #expect(
      events.complaints == [
        "skipped line 5: is not well-formed XML: Opening and ending tag mismatch: b line 7 and p (line 7)",
        "skipped line 8: is not well-formed XML: Opening and ending tag mismatch: b line 9 and p (line 9)",
      ])
    #expect(events.entries.map(\.guid) == ["2", "4"])
  }

  @Test("ends at the next start tag, whatever blank is in that", arguments: ["", " ", "\t", "\n", "\r\n"])
  func blanks(blank: String) {
    let next = Self.item("2").replacing("<item>", with: "<item\(blank)>")
    let found = found(rss(Self.item("1", "<b></p>") + next))
    #expect(found.entries.map(\.guid) == ["2"])
    #expect(found.complaints.count == 1)
  }

  @Test("skips only the last entry if the feed's end tag follows; otherwise, parsing fails")
  func last() {
    let text = rss(Self.item("1") + Self.item("2", "<b></p>"))
    #expect(found(text).entries.map(\.guid) == ["1"])
    #expect(found(text).complaints.map { $0.prefix(15) } == ["skipped line 5:"])
    let cut = String(text.dropLast(6))
    #expect(found(cut).entries.map(\.guid) == ["1"])
    #expect(found(cut).complaints.map { $0.prefix(14) } == ["failed line 5:"])
  }

  @Test("skips no entry if it is between entries")
  func between() {
    for rubbish in ["&", "</p>", "</item>", "<!-- a -- b -->", "<image><title>A & B</title></image>"] {
      let events = found(rss(Self.item("1") + "\n" + rubbish + Self.item("2")))
      #expect(events.entries.map(\.guid) == ["1", "2"])
      #expect(events.complaints.count == 1)
      #expect(events.complaints.first?.hasPrefix("noted line 6: ") == true)
    }
  }

  @Test("before the first entry ends parsing, unless the feed is identified already")
  func head() {
    let late = found(
      rss(Self.item("1"), channel: "<description>A <b></p> B</description><link>https://example.org/</link>"))
    #expect(late.complaints.map { $0.prefix(14) } == ["failed line 4:"])
    let early = found(
      rss(Self.item("1"), channel: "<link>https://example.org/</link><description>A <b></p> B</description>"))
    #expect(early.complaints.map { $0.prefix(13) } == ["noted line 4:"])
    #expect(early.entries.map(\.source) == ["rss:https://example.org/"])
    let entry = "<entry><id>1</id><title>t</title><updated>2026</updated></entry>"
    let named = found(atom(entry, head: "<id>urn:f</id><subtitle>A <b></p> B</subtitle>"))
    #expect(named.complaints.map { $0.prefix(13) } == ["noted line 1:"])
    #expect(named.entries.map(\.source) == ["atom:urn:f"])
  }

  @Test("before the feed is identified ends parsing after the entries whose dates are still ambiguous")
  func waiting() {
    let item = Self.item("1").replacing("20 Aug 2026", with: "01/05/2024")
    let found = found(rss(item + "<b></p>", channel: "<language>fr</language>"))
    #expect(found.entries.map(\.guid) == ["1"])
    #expect(found.complaints.map { $0.prefix(14) } == ["failed line 5:"])
  }

  @Test("does not turn parts of an entry into parts of the feed")
  func metadata() {
    let channel = "<link>https://example.org/</link><language>en</language>"
    let stray = "<title>x</title></item><language>de</language><link>https://example.org/2</link>"
    let events = found(rss(Self.item("1") + stray + Self.item("2"), channel: channel))
    #expect(events.entries.map(\.language) == ["en", "en"])
    #expect(Set(events.entries.map(\.source)) == ["rss:https://example.org/"])
  }

  @Test("does not change the prefixes and bases in effect")
  func namespaces() {
    func entry(_ name: String, _ extra: String = "") -> String {
      """
      <a:entry><a:id>\(name)</a:id><a:updated>2026-08-20T13:45:00Z</a:updated><a:link href="\(name)"/><d:creator>Ann</d:creator>
      <a:content type="xhtml"><h:div><h:p>x</h:p></h:div></a:content>\(extra)</a:entry>
      """
    }
    let events = found(
      """
      <a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:q="urn:a&amp;b&quot;"
        xmlns:d="http://purl.org/dc/elements/1.1/" xml:base="https://example.org/x/"><a:id>urn:f</a:id>
      \(entry("1"))\(entry("2", "<a:id>"))\(entry("3"))</a:feed>
      """)
    #expect(events.complaints.count == 1)
    #expect(events.entries.map(\.url) == ["https://example.org/x/1", "https://example.org/x/3"])
    #expect(events.entries.map(\.html) == ["<p>x</p>", "<p>x</p>"])
    #expect(events.entries.map(\.source) == ["atom:urn:f", "atom:urn:f"])
  }

  @Test(
    "never merges two entries",
    arguments: [
      ("</item>", ""), ("</item>\n<item>", ""), ("</description></item>", ""), ("]]></description>", "</description>"),
    ])
  func mixed(lost: String, left: String) throws {
    func item(_ name: String) -> String {
      "<item><guid>\(name)</guid><pubDate>20 Aug 2026</pubDate><title>\(name)</title><description><![CDATA[\(name)]]></description></item>\n"
    }
    var text = rss("\n" + ["1", "2", "3", "4"].map(item).joined())
    let start = try #require(text.firstRange(of: "<guid>2")).lowerBound
    let place = try #require(text[start...].firstRange(of: lost))
    text.replaceSubrange(place, with: left)
    let events = found(text)
    #expect(events.entries.allSatisfy { $0.guid == $0.title && $0.guid == $0.text })
    #expect(events.entries.map(\.guid).first == "1")
    #expect(events.entries.map(\.guid).last == "4")
    #expect(events.complaints.count == 1)
  }

  @Test("is suspected where an entry has two of what occurs once, or a section that begins in another one")
  func suspected() {
    let twice = "has two different elements"
    let dates = "<pubDate>2026-01-01</pubDate><pubDate>2026-01-02</pubDate>"
    let item = rss("<item><guid>1</guid><title>x</title><link>/1</link><link>/2</link>\(dates)</item>")
    #expect(events(item).complaints == ["skipped line 5: \(twice) \"link\" and may be two entries"])
    let ids = atom("<entry><id>1</id><id>2</id><title>t</title><updated>2026</updated></entry>")
    #expect(events(ids).complaints == ["skipped line 2: \(twice) \"id\" and may be two entries"])
    let published = "<published>2026-01-01</published><published>2026-01-02</published>"
    let titles = atom("<entry><id>1</id><title>a</title><title>b</title>\(published)</entry>")
    #expect(events(titles).complaints == ["skipped line 2: \(twice) \"title\" and may be two entries"])
    for (name, next) in [("description", "<item>"), ("description", "<item id='2'>"), ("content:encoded", "<item>")] {
      let first = "<item><guid>1</guid><title>t</title><pubDate>2026</pubDate><\(name)><![CDATA[1</\(name)></item>"
      let found = found(rss(first + "\(next)<guid>2</guid><\(name)>2]]></\(name)></item>"))
      let message = "skipped line 5: has a nested CDATA section and may be two entries"
      #expect(found.complaints == [message], "\(name) \(next)")
    }
  }

  @Test(
    "is not that of an entry inside of an extension, as superseded versions are",
    arguments: [
      "<x:a><item><guid>0</guid></item></x:a>",
      "<x:a><x:b><item><guid>0</guid></item><item><guid>1</guid></item></x:b></x:a><x:a><item/></x:a>",
      "<x:a><rss><channel><item><title>0</title></item></channel></rss></x:a>",
    ])
  func extensions(fields: String) {
    let extended = Self.item("1", fields).replacing("<item>", with: "<item xmlns:x='urn:x'>", maxReplacements: 1)
    let valid = found(rss(extended + Self.item("2")))
    #expect(valid.entries.map(\.guid) == ["1", "2"] && valid.entries.map(\.text) == ["1", "2"])
    #expect(valid.complaints == [])
    // The first entry without end tag is known at the end of the document, later ones at once.
    let cut = "\n<item xmlns:x='urn:x'><guid>0</guid><x:a>\n"
    let broken = found(rss(Self.item("1") + cut + Self.item("2") + cut + Self.item("3")))
    #expect(broken.entries.map(\.guid) == ["1", "2", "3"])
    #expect(broken.complaints.map { $0.prefix(15) } == ["skipped line 6:", "skipped line 8:"])
    #expect(broken.complaints.last == "skipped line 8: has another entry inside (line 9)")
  }

  @Test("is reported once for an entry that is too large")
  func large() {
    var limits = FeedReader.Limits()
    limits.entryBytes = 1000
    for count in [1100, 50_000] {
      let large = Self.item("2", String(repeating: "<b>xxxx</b>", count: count / 11) + "<b></p>")
      let bytes = Data(rss(Self.item("1") + large + Self.item("3")).utf8)
      let found = events(bytes, limits: limits)
      #expect(found.complaints.first == "skipped line 5: is larger than 1000 bytes")
      // The bytes of a large entry that were discarded cannot be searched again.
      #expect(found.entries.map(\.guid) == (count < 16_000 ? ["1", "3"] : ["1"]))
      #expect(found.complaints.count == (count < 16_000 ? 1 : 2))
    }
  }

  @Test("ends parsing if it is everywhere")
  func everywhere() {
    let events = events(rss(Self.item("1") + String(repeating: "<item>", count: 10_010)))
    #expect(events.entries.count == 1)
    #expect(events.complaints.count == 10_001)
    #expect(events.complaints.last == "failed line 5: has another entry inside")
  }

  @Test("is skipped with an entry that uses declared entities, and causes no file to be read")
  func entities() {
    let declarations = """
      <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
      <!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY h SYSTEM "http://127.0.0.1:9/">
      """
    for type in ["rss [\(declarations)]", "rss SYSTEM \"file:///etc/passwd\" [\(declarations)]"] {
      for name in ["a", "c", "f", "h"] {
        for use in ["<title>&\(name);</title>", "<enclosure url='&\(name);'/>"] {
          let events = found(declared(type, Self.item("1") + Self.item("2", use) + Self.item("3")))
          #expect(events.entries.map(\.guid) == ["1", "3"], "\(type) \(use)")
          #expect(events.complaints.count == 1)
          #expect(events.complaints.first?.contains("uses the entity \"\(name)\", which is unknown") == true)
        }
      }
    }
    let parameter = found(declared("rss [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]", Self.item("1")))
    #expect(parameter.complaints == [])
    #expect(parameter.entries.map(\.guid) == ["1"])
  }

  private func declared(_ type: String, _ items: String) -> String {
    rss(items).replacing("<rss", with: "<!DOCTYPE \(type)>\n<rss", maxReplacements: 1)
  }
}
