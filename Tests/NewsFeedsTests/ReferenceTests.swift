import Foundation
import News
import NewsFeeds
import Testing

@Suite("Unescaped ampersands and forbidden references")
struct ReferenceTests {
  private static let stray = "has ampersands that are not escaped; they are read as text"
  private static let forbidden = "has references to characters that XML does not allow; they are removed"

  private func item(_ text: String) -> String {
    atom("<entry><id>1</id><title>t</title><updated>2026-08-20</updated>\n<content>\(text)</content></entry>")
  }

  /// Returns the events of a text, which must be the same however the bytes are split.
  private func found(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> [FeedEvent] {
    let expected = events(text)
    for pieces in [1, 2, 3, 7, 64, 333] {
      #expect(
        events(Data(text.utf8), pieces: pieces) == expected, "pieces of \(pieces)", sourceLocation: sourceLocation)
    }
    return expected
  }

  @Test(
    "are read as text and noted with their line",
    arguments: [
      ("A & B", "A & B"), ("A && B", "A && B"), ("AT&T", "AT&T"), ("a &; b", "a &; b"), ("a &1; b", "a &1; b"),
      ("a &-b; c", "a &-b; c"), ("a &.b; c", "a &.b; c"),
      ("a &#; b", "a &#; b"), ("a &#x; b", "a &#x; b"), ("a &#1x; b", "a &#1x; b"), ("a&b#c;", "a&b#c;"),
      ("&" + String(repeating: "n", count: 65) + ";", "&" + String(repeating: "n", count: 65) + ";"),
      ("a &\u{E9} b", "a &\u{E9} b"), ("x &", "x &"), ("\n\nA & B", "A & B"),
    ])
  func strayAmpersands(written: String, text: String) {
    let events = found(item(written))
    #expect(events.entries.map(\.text) == [text])
    #expect(events.complaints == ["noted line \(written.hasPrefix("\n") ? 5 : 3): \(Self.stray)"])
  }

  @Test("are kept in links and attributes")
  func links() {
    let events = found(
      rss(
        """
        <item><guid isPermaLink="false">1</guid><pubDate>20 Aug 2026</pubDate><title>t</title>
        <link>https://example.org/?a=1&copy=2&amp;b=3&c</link><enclosure url="https://example.org/a.mp3?x=1&y=2"/></item>
        """))
    #expect(events.entries.map(\.url) == ["https://example.org/?a=1&copy=2&b=3&c"])
    #expect(events.entries.first?.attachments.map(\.url) == ["https://example.org/a.mp3?x=1&y=2"])
    #expect(events.complaints == ["noted line 6: \(Self.stray)"])
  }

  @Test(
    "are left alone where ampersands have no meaning, and in references",
    arguments: [
      ("<![CDATA[A & B &#0;]]>", "A & B &#0;"), ("x<!-- A & B &#0; -->", "x"), ("x<?y A & B ?>", "x"),
      ("<![CDATA[a]] > & b]]> c", "a]] > & b c"), ("x<!-- - -> & -->", "x"), ("x<?y ? > & ?>", "x"),
      ("A &amp; B", "A & B"), ("&#65;&#x42;&#X43;", "ABC"), ("caf&eacute;", "café"), ("&#233;", "é"),
      ("&LT;&comma;&nvlt;&rcaron;", "<,<\u{20D2}ř"), ("&lt;&gt;&quot;&apos;", "<>\"'"),
    ])
  func intact(written: String, text: String) {
    let events = found(item(written))
    #expect(events.entries.map(\.text) == [text])
    #expect(events.complaints == [])
  }

  @Test(
    "are decoded in attributes",
    arguments: [
      ("?a=1&amp;b=2", "?a=1&b=2"), ("?a=1&#38;b=2", "?a=1&b=2"), ("?a=1&#x26;b=2", "?a=1&b=2"),
      ("?a=1&b=2", "?a=1&b=2"), ("?a=&amp;amp;", "?a=&amp;"), ("?a=&amp;#38;", "?a=&#38;"),
      ("?a=&eacute;", "?a=%C3%A9"),
      ("?a=&#233;", "?a=%C3%A9"), ("?a=&lt;", "?a=%3C"),
    ])
  func attributes(written: String, target: String) throws {
    let text = atom(
      "<entry><id>1</id><title>t</title><updated>2026</updated><link href='//a.example/\(written)'/></entry>")
    #expect(found(text).entries.map(\.url) == ["https://a.example/\(target)"])
  }

  @Test("are repaired after comments and sections, and before the first item")
  func around() {
    let events = found(
      rss(
        "<item><guid>1</guid><pubDate>20 Aug 2026</pubDate><title>a &<!-- & --> b <![CDATA[&]]> & c</title></item>",
        channel: "<title>A & B</title><link>https://example.org/</link>"))
    #expect(events.entries.map(\.title) == ["a & b & & c"])
    #expect(events.complaints == ["noted line 4: \(Self.stray)"])
  }

  @Test(
    "to forbidden characters are removed and noted",
    arguments: ["&#0;", "&#8;", "&#x1F;", "&#xD83D;&#xDE00;", "&#xFFFF;", "&#x110000;", "&#99999999999999999999;"])
  func forbiddenCharacters(reference: String) {
    let events = found(item("a\(reference)b"))
    #expect(events.entries.map(\.text) == ["ab"])
    #expect(events.complaints == ["noted line 3: \(Self.forbidden)"])
  }

  @Test("do not make an unknown entity known")
  func unknown() {
    let events = found(item("A & B &unheard;"))
    #expect(events.entries.map(\.text) == ["A & B &unheard;"])
  }
}
