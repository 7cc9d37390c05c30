import Foundation
import News
import NewsFeeds
import Testing

@Suite("RSS")
struct RSSTests {
  @Test("fills every field")
  func everything() throws {
    let entry = try entry(
      rss(
        """
        <item>
          <title>Tom &amp;amp; Jerry</title>
          <link>https://example.org/2026/post</link>
          <guid isPermaLink="false">tag:1</guid>
          <pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate>
          <dc:creator>Ann Author</dc:creator><dc:creator>Bob</dc:creator>
          <category>Developer Tools</category><category domain="x"><![CDATA[Straße]]></category>
          <category>developer tools</category>
          <description>A &lt;b&gt;short&lt;/b&gt; one</description>
          <content:encoded><![CDATA[<p>Long <a href="/x">text</a></p><img src="pic.jpg" alt="Pic"><script>x</script>]]></content:encoded>
          <enclosure url="https://example.org/a.mp3" type="audio/mpeg" length="1234"/>
          <media:content url="https://example.org/b.webp" medium="image" width="10" height="20" fileSize="99"/>
          <media:group><media:thumbnail url="https://example.org/c.png"/></media:group>
        </item>
        """, channel: "<link>https://example.org/</link><language>en-us</language>"))
    #expect(entry.source == "rss:https://example.org/")
    #expect(entry.guid == "tag:1")
    #expect(entry.date == august)
    #expect(entry.title == "Tom & Jerry")
    #expect(entry.summary == "A short one")
    #expect(entry.text == "Long text\n\nPic")
    #expect(
      entry.html == "<p>Long <a href=\"https://example.org/x\">text</a></p>"
        + "<img src=\"https://example.org/2026/pic.jpg\" alt=\"Pic\"/>")
    #expect(
      entry.categories == [
        FeedCategory(slug: "developer-tools", label: "Developer Tools"), FeedCategory(slug: "strasse", label: "Straße"),
      ])
    #expect(entry.language == "en-US")
    #expect(entry.url == "https://example.org/2026/post")
    #expect(entry.author == "Ann Author, Bob")
    #expect(!entry.breaking)
    #expect(
      entry.attachments == [
        Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg", bytes: 1234),
        Attachment(url: "https://example.org/b.webp", type: "image/webp", bytes: 99, width: 10, height: 20),
        Attachment(url: "https://example.org/c.png", type: "image/png"),
        Attachment(url: "https://example.org/2026/pic.jpg", type: "image/jpeg", alt: "Pic"),
      ])
  }

  @Test(
    "detects whether titles and descriptions are markup",
    arguments: [
      ("Array&lt;Int&gt;", "Array<Int>"), ("a &lt;b&gt;bold&lt;/b&gt; word", "a bold word"),
      ("<![CDATA[Q&A: 1 < 2]]>", "Q&A: 1 < 2"), ("caf&amp;eacute;", "café"), ("caf&eacute;&nbsp;x", "café x"),
      ("Dvo&rcaron;&aacute;k&comma; a&nvlt;b", "Dvořák, a<\u{20D2}b"), ("&amp;period;&amp;Acy;", ".А"),
      ("&amp;LT;b&amp;GT; &amp;amp;comma; &amp;unheard; &amp;comma", "<b> &comma; &unheard; &comma"),
      ("two\n  lines", "two lines"), ("x <b>y</b> z", "x y z"), ("<![CDATA[ ]]>", ""),
    ])
  func titles(written: String, title: String) throws {
    let entry = try entry(
      rss("<item><title>\(written)</title><pubDate>20 Aug 2026</pubDate><description>x</description></item>"))
    #expect(entry.title ?? "" == title)
  }

  @Test("keeps the lines of a plain-text description, and does not convert it to HTML")
  func plainDescription() throws {
    let entry = try entry(
      rss("<item><pubDate>20 Aug 2026</pubDate><description>One &amp;amp;\n\ntwo 3 &lt; 4</description></item>"))
    #expect(entry.text == "One &\n\ntwo 3 < 4")
    #expect(entry.html == nil)
    #expect(entry.summary == nil)
  }

  @Test(
    "names an entry by its guid, else its link, else title and date",
    arguments: [
      ("<guid>https://example.org/g</guid>", "https://example.org/g", "https://example.org/g"),
      ("<guid isPermaLink='false'>https://example.org/g</guid>", "https://example.org/g", nil),
      ("<guid> 17 </guid><link>/post</link>", "17", "https://example.org/post"),
      ("<link>https://example.org/l</link>", "https://example.org/l", "https://example.org/l"),
      ("<link href='/l'/>", "https://example.org/l", "https://example.org/l"),
      ("<atom:link>https://example.org/l</atom:link>", "https://example.org/l", "https://example.org/l"),
      ("<guid>https://example.org/g</guid><link>/l</link>", "https://example.org/g", "https://example.org/l"),
      ("<guid isPermaLink='true'>17</guid>", "17", nil),
    ])
  func names(fields: String, guid: String, url: String?) throws {
    let entry = try entry(
      rss("<item>\(fields)<pubDate>20 Aug 2026</pubDate><description>x</description></item>"))
    #expect(entry.guid == guid)
    #expect(entry.url == url)
  }

  @Test(
    "finds the author's name",
    arguments: [
      ("<author>ann@example.org (Ann)</author>", "Ann"), ("<author>Ann &lt;ann@example.org&gt;</author>", "Ann"),
      ("<author>ann@example.org</author>", nil), ("<author>Ann</author>", "Ann"),
      ("<dc:creator><![CDATA[Ann]]></dc:creator><author>x@y (Z)</author>", "Ann"),
      ("<author>Ann (ann@example.org)</author>", "Ann"), ("<author>Ann (Example News)</author>", "Ann (Example News)"),
      ("<author>\"Ann\" &lt;ann@example.org&gt;</author>", "Ann"),
      ("<author>Ann ann@example.org</author>", "Ann ann@example.org"),
      ("<itunes:author>Bob</itunes:author><dc:author>Ann</dc:author>", "Ann"),
      ("<dc:creator>Ann (ann@example.org)</dc:creator>", "Ann"), ("<dc:author>Ann</dc:author>", "Ann"),
      ("<itunes:author>Ann</itunes:author>", "Ann"), ("<author><name>Ann</name></author>", "Ann"),
      ("<author>ann@example.org</author><itunes:author>Bob</itunes:author>", "Bob"),
      ("<atom:author><atom:name>Ann</atom:name></atom:author>", "Ann"),
      ("<dc:creator>Ann</dc:creator><dc:creator>Ann</dc:creator>", "Ann"),
      ("<dc:creator>&amp;nbsp;</dc:creator><dc:creator>Ann</dc:creator>", "Ann"),
    ])
  func authors(field: String, author: String?) throws {
    let entry = try entry(
      rss("<item>\(field)<pubDate>20 Aug 2026</pubDate><description>x</description></item>"))
    #expect(entry.author == author)
  }

  @Test(
    "has its own language before that of the feed",
    arguments: [
      ("<item xml:lang='fr'><dc:language>it</dc:language>", "it"), ("<item xml:lang='fr'>", "fr"), ("<item>", "de"),
    ])
  func languages(start: String, language: String) throws {
    let item = start + "<guid>1</guid><title>t</title><pubDate>2026</pubDate></item>"
    let channel = "<link>https://example.org/</link><language>de</language>"
    #expect(try entry(rss(item, channel: channel)).language == language)
  }

  @Test(
    "finds the address of a file",
    arguments: ["url='/a.mp3'/>", "href='/a.mp3'/>", "url='/a.mp3' href='/b.mp3'/>", "> /a.mp3 </enclosure>"])
  func files(written: String) throws {
    let item = "<item><guid>1</guid><title>t</title><pubDate>2026</pubDate><enclosure \(written)</item>"
    #expect(try entry(rss(item)).attachments == [Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg")])
    // The type is that of the path.
    for end in ["?x=1", "#t=10"] {
      let file = try entry(rss(item.replacing("/a.mp3", with: "/a.mp3" + end))).attachments.first
      #expect(file?.type == "audio/mpeg", "\(end)")
    }
  }

  @Test("reads undeclared prefixes, the Dublin Core date, and unescaped markup")
  func quirks() throws {
    let entry = try entry(
      """
      \u{FEFF}
        <?xml version="1.0"?>
      <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://example.invalid/rss-0.91.dtd">
      <rss version="0.91"><channel><item><title>t</title><dc:date>2026-08-20T13:45:00Z</dc:date>
      <content:encoded><p>One<br/>two</p><p>three</p></content:encoded></item><link>https://example.org</link></channel></rss>
      """)
    #expect(entry.date == august)
    #expect(entry.text == "One\ntwo\n\nthree")
  }

  @Test(
    "reads escaped markup beside elements as without them",
    arguments: [
      ("&lt;p&gt;Hi&lt;/p&gt;<img src='http://e.org/p.gif' width='1' height='1'/>", "<p>Hi</p>"),
      ("<b>A</b><![CDATA[<p>B</p>]]>", "<b>A</b><p>B</p>"),
      ("&lt;b&gt;One <br/>two&lt;/b&gt; &lt;i&gt;x&lt;/i&gt;", "<b>One <br/>two</b> <i>x</i>"),
      ("&lt;em&gt;<b>x</b>&lt;/em&gt;", "<em><b>x</b></em>"), ("Tom &amp;amp; Jerry<br/>", "Tom &amp; Jerry<br/>"),
      ("Use &lt;b&gt; for <b>bold</b>", "Use &lt;b&gt; for <b>bold</b>"),
      ("The &lt;b&gt; and &lt;/b&gt; tags <i>x</i>", "The &lt;b&gt; and &lt;/b&gt; tags <i>x</i>"),
      ("<p>one &lt;b&gt;x&lt;/b&gt;</p>", "<p>one &lt;b&gt;x&lt;/b&gt;</p>"),
      ("a &lt; b \u{22}c\u{22}<br/>d", "a &lt; b &quot;c&quot;<br/>d"),
    ])
  func mixedText(written: String, html: String) throws {
    let item = "<item><pubDate>20 Aug 2026</pubDate><title>t</title><description>\(written)</description></item>"
    #expect(try entry(rss(item)).html == html)
  }

  @Test("takes the text of XHTML literally")
  func literalText() throws {
    let body = "<body xmlns='http://www.w3.org/1999/xhtml'>&lt;b&gt;x&lt;/b&gt;<br/>y</body>"
    #expect(try entry(rss("<item><pubDate>20 Aug 2026</pubDate>\(body)</item>")).text == "<b>x</b>\ny")
  }

  @Test("reads RSS 1.0, whose items are siblings of the channel")
  func rdf() throws {
    let entry = try entry(
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel rdf:about="https://example.org/rss"><title>T</title><link>https://example.org/</link>
      <dc:language>de</dc:language></channel>
      <item rdf:about="https://example.org/1"><title>A</title><link>https://example.org/1</link>
      <description>Text</description><dc:date>2026-08-20T13:45:00Z</dc:date></item></rdf:RDF>
      """)
    #expect(entry.source == "rss:https://example.org/")
    #expect(entry.guid == "https://example.org/1")
    #expect(entry.language == "de")
    #expect(entry.text == "Text")
  }

  @Test("uses the channel's link as its name, not its Atom link")
  func channelLink() throws {
    let channel = """
      <atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="https://example.org/feed.xml"/>
      <image><link>https://example.org/image</link></image><link> https://example.org/home </link>
      """
    let item = "<item><guid>1</guid><pubDate>20 Aug 2026</pubDate><description>x</description></item>"
    #expect(try entry(rss(item, channel: channel)).source == "rss:https://example.org/home")
    #expect(try entry(rss(item, channel: "")).source == "rss:Example")
    #expect(try entry(rss(item, channel: "<title>Other</title>")).source == "rss:Example")
    let links = "<link>https://example.org/</link><link>https://example.org/2</link>"
    #expect(try entry(rss(item, channel: links)).source == "rss:https://example.org/")
    #expect(try entry("<rss><channel>\(item)</channel></rss>").source == "rss:urn:tidings:feed")
  }

  @Test(
    "reads other encodings",
    arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .isoLatin1, .windowsCP1252])
  func encodings(encoding: String.Encoding) throws {
    let names: [String.Encoding: String] = [.isoLatin1: "ISO-8859-1", .windowsCP1252: "windows-1252"]
    let text = rss("<item><pubDate>20 Aug 2026</pubDate><description>Grüße</description></item>")
      .replacing("UTF-8", with: names[encoding] ?? "UTF-16")
    let mark: [UInt8] =
      encoding == .utf16LittleEndian ? [0xFF, 0xFE] : encoding == .utf16BigEndian ? [0xFE, 0xFF] : []
    let events = events(Data(mark) + (try #require(text.data(using: encoding))))
    #expect(events.complaints == [])
    #expect(events.entries.map(\.text) == ["Grüße"])
  }
}
