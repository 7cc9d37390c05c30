import Foundation
import News
import NewsFeeds
import Testing

@Suite("Atom")
struct AtomTests {
  private static let dates =
    "<id>e1</id><published>2026-08-20T13:45:00Z</published><updated>2026-08-21T00:00:00Z</updated>"

  @Test("fills every field")
  func everything() throws {
    let entry = try entry(
      atom(
        """
        <entry>\(Self.dates)
          <title type="html">Tom &amp;amp; &lt;i&gt;Jerry&lt;/i&gt;</title>
          <link rel="edit" href="/edit"/><link href="posts/1"/>
          <link rel="enclosure" xml:base="files/" href="a" type="Audio/X; a=b" length="12"/>
          <author><name>Ann</name><email>a@example.org</email></author><author><name>Bob</name></author>
          <category term="lang" label="Language"/><category term="Community"/>
          <summary>In short</summary>
          <content type="html" xml:base="posts/">&lt;p&gt;See &lt;img src="p.png"&gt; it&lt;/p&gt;</content>
        </entry>
        """, attributes: "xml:lang=\"de\" xml:base=\"https://example.org/blog/\""))
    #expect(entry.source == "atom:urn:example:feed")
    #expect(entry.guid == "e1")
    #expect(entry.date == august)
    #expect(entry.title == "Tom & Jerry")
    #expect(entry.summary == "In short")
    #expect(entry.text == "See it")
    #expect(entry.html == "<p>See <img src=\"https://example.org/blog/posts/p.png\"/> it</p>")
    #expect(entry.categories.map(\.label) == ["Language", "Community"])
    #expect(entry.language == "de")
    #expect(entry.url == "https://example.org/blog/posts/1")
    #expect(entry.author == "Ann, Bob")
    #expect(
      entry.attachments == [
        Attachment(url: "https://example.org/blog/files/a", type: "audio/x", bytes: 12),
        Attachment(url: "https://example.org/blog/posts/p.png", type: "image/png"),
      ])
  }

  @Test(
    "reads content of each kind",
    arguments: [
      ("<content>a &lt;b&gt; c\nd</content>", "a <b> c\nd", nil),
      ("<content type='text'>x</content>", "x", nil),
      ("<content type='html'>a &amp;lt; &lt;b&gt;c&lt;/b&gt;</content>", "a < c", "a &lt; <b>c</b>"),
      ("<content type='html'>&lt;b&gt;a<br/>b&lt;/b&gt; &lt;br&gt; c</content>", "a\nb\nc", "<b>a<br/>b</b> <br/> c"),
      (
        "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>a &lt; <b>c</b></p><br/></div></content>",
        "a < c", "<p>a &lt; <b>c</b></p><br/>"
      ),
      (
        "<content type='xhtml'><x:div xmlns:x='http://www.w3.org/1999/xhtml'><x:p>a</x:p></x:div></content>", "a",
        "<p>a</p>"
      ),
      ("<content type='xhtml'><p xmlns='http://www.w3.org/1999/xhtml'>a</p></content>", "a", "<p>a</p>"),
      (
        "<content type='application/xhtml+xml'><div xmlns='http://www.w3.org/1999/xhtml'><p>a</p></div></content>",
        "a", "<p>a</p>"
      ),
      ("<content type=' HTML '>&lt;b&gt;c&lt;/b&gt;</content>", "c", "<b>c</b>"),
      ("<content type='text/plain'>a &lt;b&gt;</content>", "a <b>", nil),
      ("<content type='image/png'>iVBORw0</content><summary>s</summary>", "s", nil),
      (
        "<content src='https://example.org/x' type='text/html'/><summary type='html'>&lt;p&gt;s</summary>", "s",
        "<p>s</p>"
      ),
    ])
  func content(written: String, text: String, html: String?) throws {
    let events = events(atom("<entry>\(Self.dates)\(written)</entry>"))
    let entry = try #require(events.entries.first)
    #expect(entry.text == text)
    #expect(entry.html == html)
    // Content of another kind, or at another place, is reported.
    #expect(events.complaints.isEmpty == !written.contains("<summary"))
  }

  @Test(
    "decodes the Base64 of Atom 0.3",
    arguments: [
      ("<content mode='base64' type='text/html'>\n PHA+R3LDvMOf\n ZTwvcD4=</content>", "Grüße", "<p>Grüße</p>"),
      ("<content mode='base64'>YSA8Yj4gYw==</content>", "a <b> c", nil),
      ("<content mode='base64' type='text/plain'>not Base64</content>", "not Base64", nil),
      ("<content mode='escaped' type='text/html'>YSA8Yj4gYw==</content>", "YSA8Yj4gYw==", "YSA8Yj4gYw=="),
    ])
  func base64(written: String, text: String, html: String?) throws {
    let feed = """
      <feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><id>1</id><issued>2026-08-20</issued>
      <title mode="base64">VG9tICYgSmVycnk=</title>\(written)</entry></feed>
      """
    let entry = try entry(feed)
    #expect(entry.title == "Tom & Jerry")
    #expect(entry.text == text)
    #expect(entry.html == html)
  }

  @Test("reads escaped markup inside a div, and an empty type as text")
  func oddMarkup() throws {
    let div = "<div xmlns='http://www.w3.org/1999/xhtml'>a &lt;b&gt;c&lt;/b&gt;</div>"
    func entry(_ content: String) throws -> FeedEntry {
      try NewsFeedsTests.entry(atom("<entry>\(Self.dates)<title type=''>t</title>\(content)</entry>"))
    }
    #expect(try entry("<content type='html'>\(div)</content>").html == "a <b>c</b>")
    #expect(try entry("<content type='html'>\(div)</content>").title == "t")
    #expect(try entry("<content type='html'><div><p>a</p></div></content>").text == "a")
    #expect(try entry("<content type='html'>x \(div)</content>").text == "x\na <b>c</b>")
    #expect(try entry("<content type='xhtml'>x \(div)</content>").text == "x\na <b>c</b>")
    #expect(try entry("<content type='xhtml'>\(div)</content>").text == "a <b>c</b>")
    #expect(try entry("<content type='xhtml'><div>a</div><div>b</div></content>").text.hasSuffix("b"))
    let title = events(atom("<entry>\(Self.dates)<title type='markup'>t</title><content>x</content></entry>"))
    #expect(title.complaints == ["reduced line 2: the title is omitted: its type is \"markup\""])
  }

  @Test(
    "finds the page by the link's target or text, or else by an id that is a web address",
    arguments: [
      ("<link>https://example.org/a</link>", "https://example.org/a"),
      ("<link rel=''>https://example.org/a</link>", "https://example.org/a"),
      ("<link rel='Alternate' href='https://example.org/a'/>", "https://example.org/a"),
      (
        "<link rel='http://www.iana.org/assignments/relation/alternate' href='https://example.org/a'/>",
        "https://example.org/a"
      ),
      ("<link href='https://example.org/a'>https://example.org/b</link>", "https://example.org/a"),
      ("<link rel='related' href='https://example.org/a'/>", "https://example.org/id"),
      ("<link type='application/json' href='https://example.org/j'/>", "https://example.org/j"),
      ("<link xml:base='https://example.com/b/' href='a'/>", "https://example.com/b/a"),
      (
        "<link type='application/json' href='/j'/><link type='text/html' href='https://example.org/a'/>",
        "https://example.org/a"
      ),
      ("<link rel='enclosure'>https://example.org/a.mp3</link>", "https://example.org/id"),
    ])
  func pages(link: String, url: String) throws {
    let entry = try entry(
      atom("<entry><id>https://example.org/id</id><updated>2026</updated><title>t</title>\(link)</entry>"))
    #expect(entry.url == url)
    #expect(entry.guid == "https://example.org/id")
    #expect(entry.attachments.map(\.url) == (link.contains("mp3") ? ["https://example.org/a.mp3"] : []))
  }

  @Test("has no summary that says the same as its text, and no markup of a summary beside a plain text")
  func summaries() throws {
    func entry(_ parts: String) throws -> FeedEntry {
      try NewsFeedsTests.entry(atom("<entry>\(Self.dates)\(parts)</entry>"))
    }
    let summary = "<summary type='html'>&lt;p&gt;s&lt;/p&gt;</summary>"
    let alone = try entry(summary)
    #expect(alone.text == "s" && alone.html == "<p>s</p>" && alone.summary == nil)
    let same = try entry(summary + "<content>s</content>")
    #expect(same.text == "s" && same.html == nil && same.summary == nil)
    let other = try entry(summary + "<content>x</content>")
    #expect(other.text == "x" && other.html == nil && other.summary == "s")
    #expect(try entry("<dc:description>&lt;p&gt;d</dc:description>").html == "<p>d</p>")
  }

  @Test("falls back to the date of the update, the feed's author and the feed's link")
  func fallbacks() throws {
    let head = """
      <id>urn:example:feed</id><author><name>Feed Author</name></author><link rel="self" href="https://example.org/atom"/>
      <link href="https://example.org/"/>
      """
    let entry = try entry(
      atom(
        "<entry><id>1</id><updated>2026-08-20T13:45:00Z</updated><content type='html'>&lt;a href='/x'&gt;y</content></entry>",
        head: head))
    #expect(entry.date == august)
    #expect(entry.author == "Feed Author")
    #expect(entry.html == "<a href=\"https://example.org/x\">y</a>")
    #expect(entry.url == nil)
    let content = "<content type='html'>&lt;a href='x'&gt;y</content>"
    let linked = "<entry><id>2</id><updated>2026</updated><link href='/a/1'/>\(content)</entry>"
    let other = try NewsFeedsTests.entry(atom(linked, head: head))
    #expect(other.html == "<a href=\"https://example.org/a/x\">y</a>")
  }

  @Test("has the date of the first element in use for it, wherever it is")
  func dates() throws {
    let names = ["published", "issued", "created", "updated", "modified"]
    for (index, name) in names.enumerated() {
      let fields = names[index...].reversed().map { other in
        "<\(other)>\(other == name ? "2026-08-20T13:45:00Z" : "2001-01-01")</\(other)>"
      }
      let text = atom("<entry><id>1</id><title>t</title>\(fields.joined())</entry>")
      #expect(try entry(text).date == august, "\(name)")
    }
  }

  @Test("uses the author of the entry, else of its source feed, else of this feed (RFC 4287 section 4.2.1)")
  func authors() throws {
    let head = "<id>urn:example:feed</id><author><name>Feed</name></author>"
    func author(_ parts: String) throws -> String? {
      try entry(atom("<entry>\(Self.dates)<title>t</title><summary>s</summary>\(parts)</entry>", head: head)).author
    }
    let origin = "<source><id>urn:example:origin</id><author><name>Origin</name></author></source>"
    #expect(try author("<author><name>Own</name></author>" + origin) == "Own")
    #expect(try author(origin) == "Origin")
    #expect(try author("<source><id>urn:example:origin</id></source>") == "Feed")
    #expect(try author("<author><email>ann@example.org</email></author>" + origin) == "ann@example.org")
    #expect(try author("<author>Ann &lt;ann@example.org&gt;</author>") == "Ann")
    #expect(try author("<author><uri>https://example.org/</uri></author>") == "Feed")
    #expect(try author("<dc:creator>Creator</dc:creator>" + origin) == "Creator")
    let long = "<id>a</id><author><name>\(String(repeating: "Author, ", count: 600))</name></author>"
    let own = "<entry>\(Self.dates)<title>t</title><author><name>Own</name></author></entry>"
    #expect(try entry(atom(own, head: long)).author == "Own")
  }

  @Test(
    "has the language of its content, or else its own, or else that of the feed",
    arguments: [(" xml:lang='fr'", " xml:lang='it'", "it"), (" xml:lang='fr'", "", "fr"), ("", "", "de")])
  func languages(own: String, content: String, language: String) throws {
    let text = "<entry\(own)>\(Self.dates)<title>t</title><content\(content)>x</content></entry>"
    #expect(try entry(atom(text, attributes: "xml:lang='de'")).language == language)
  }

  @Test("has the subjects of Dublin Core beside its categories, and those of Media RSS if there are no others")
  func categories() throws {
    func labels(_ fields: String) throws -> [String] {
      try entry(atom("<entry>\(Self.dates)<title>t</title>\(fields)</entry>")).categories.map(\.label)
    }
    let media = "<media:category>C</media:category>"
    #expect(try labels("<category term='A'/><dc:subject>B</dc:subject>" + media) == ["A", "B"])
    #expect(try labels(media) == ["C"])
    #expect(try labels("<category term='A' label=''/>") == ["A"])
  }

  @Test("reads Atom without a namespace, and Atom 0.3")
  func dialects() throws {
    let bare = "<feed><entry><id>1</id><updated>2026-08-20T13:45:00Z</updated><summary>x</summary></entry></feed>"
    #expect(try entry(bare).text == "x")
    let old = """
      <feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><id>1</id><issued>2026-08-20T13:45:00Z</issued>
      <content type="text/html" mode="escaped">&lt;p&gt;x</content></entry></feed>
      """
    #expect(try entry(old).html == "<p>x</p>")
  }

  @Test(
    "resolves links against nested bases, each relative to the outer one",
    arguments: [
      ("", "", "<content type='html'>&lt;img src='i'&gt;", "https://example.org/a/i"),
      (" xml:base='b/'", "", "<content type='html'>&lt;img src='i'&gt;", "https://example.org/a/b/i"),
      (" xml:base='b/'", " xml:base='c/'", "<content type='html'>&lt;img src='i'&gt;", "https://example.org/a/b/c/i"),
      ("", " xml:base='/c/'", "<content type='xhtml'><div><img src='i'/></div>", "https://example.org/c/i"),
      (
        "", " xml:base='c/'", "<content type='xhtml'><div xml:base='d/'><img src='i'/></div>",
        "https://example.org/a/c/d/i"
      ),
      (
        " xml:base='b/'", " xml:base='c/'",
        "<content type='xhtml'><div><p xml:base='../d/'><b xml:base='e/'><img src='i'/></b></p></div>",
        "https://example.org/a/b/d/e/i"
      ),
      ("", "", "<content type='xhtml'><p xml:base='https://example.com/'><img src='i'/></p>", "https://example.com/i"),
    ])
  func bases(entryBase: String, contentBase: String, written: String, url: String) throws {
    let content = written.replacing("<content", with: "<content\(contentBase)") + "</content>"
    let text = "<entry\(entryBase)>\(Self.dates)<title>t</title>\(content)<summary>s</summary></entry>"
    let entry = try entry(
      atom(text.replacing("/></div>", with: "/>x</div>"), attributes: "xml:base='https://example.org/a/'"))
    #expect(entry.attachments.map(\.url) == [url])
    #expect(entry.html?.contains("src=\"\(url)\"") == true)
  }

  @Test("resolves a relative base against the feed's address, also for summaries")
  func relativeBase() throws {
    let head = "<id>urn:example:feed</id><link rel='self' href='https://example.org/feeds/atom'/>"
    let entry = try entry(
      atom(
        """
        <entry xml:base="../posts/">\(Self.dates)<link href="1"/>
        <summary type="html" xml:base="files/">&lt;a href="x"&gt;y&lt;/a&gt;</summary></entry>
        """, head: head))
    #expect(entry.url == "https://example.org/posts/1")
    #expect(entry.html == "<a href=\"https://example.org/posts/files/x\">y</a>")
    let linked = "<entry>\(Self.dates)<title>t</title><link href='a'/></entry>"
    let page = head + "<link href='https://example.org/blog/'/>"
    #expect(try NewsFeedsTests.entry(atom(linked, head: page)).url == "https://example.org/blog/a")
    let named = try NewsFeedsTests.entry(atom(linked, head: "<id>https://example.org/f/x</id><id>urn:2</id>"))
    #expect(named.url == "https://example.org/f/a")
    #expect(named.source == "atom:https://example.org/f/x")
    // A longer name would be repeated by every entry.
    let long = "<id>\(String(repeating: "x", count: 4097))</id><id>urn:2</id>"
    let unlinked = "<entry>\(Self.dates)<title>t</title></entry>"
    #expect(try NewsFeedsTests.entry(atom(unlinked, head: long)).source == "atom:urn:2")
  }

  @Test("is read from a document that is an entry (RFC 4287 section 2)")
  func entryDocument() throws {
    let fields = "<id>urn:x:1</id><title>t</title><updated>2026-08-20T13:45:00Z</updated>"
    for namespace in [" xmlns='http://www.w3.org/2005/Atom'", ""] {
      let found = try entry("<?xml version='1.0'?><entry\(namespace)>\(fields)</entry>")
      #expect(found.guid == "urn:x:1")
      #expect(found.date == august)
      #expect(events("<entry\(namespace)>\(fields)").complaints.count == 1)
    }
  }

  @Test(
    "keep the attributes of other namespaces that HTML has, too",
    arguments: [
      ("<svg:svg><svg:image xlink:href='/a.png'/></svg:svg>", "<img src=\"https://example.org/a.png\"/>"),
      ("<svg:a xlink:href='/b'>x</svg:a>", "<a href=\"https://example.org/b\">x</a>"),
      ("<a xlink:href='/b'>x</a>", "<a href=\"https://example.org/b\">x</a>"),
      ("<a href='/c' xlink:href='/b'>x</a>", "<a href=\"https://example.org/c\">x</a>"),
      ("<p xml:lang='de'>x</p>", "<p lang=\"de\">x</p>"), ("<p lang='en' xml:lang='de'>x</p>", "<p lang=\"en\">x</p>"),
      ("<p xml:lang='de' lang='en'>x</p>", "<p lang=\"en\">x</p>"), ("<p xml:space='preserve'>x</p>", "<p>x</p>"),
      ("<p xlink:title='x' xlink:type='simple'>x</p>", "<p>x</p>"), ("<p svg:title='y'>x</p>", "<p>x</p>"),
      ("<a href='#n'>1</a><p xml:id='n'>x</p>", "<a href=\"#user-content-n\">1</a><p id=\"user-content-n\">x</p>"),
      ("<a xlink:href='javascript:x'>x</a>", "x"),
      ("<p xml:base='/d/'><a xlink:href='e'>x</a></p>", "<p><a href=\"https://example.org/d/e\">x</a></p>"),
      ("<p xml:base='/d/'><q cite='e'>x</q></p>", "<p><q cite=\"https://example.org/d/e\">x</q></p>"),
    ])
  func namespaces(content: String, html: String) throws {
    let source = """
      <entry><id>1</id><updated>2026-01-01T00:00:00Z</updated><link href='https://example.org/1'/>
      <content type='xhtml' xml:base='https://example.org/'><div xmlns='http://www.w3.org/1999/xhtml'
      xmlns:svg='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>\(content)</div></content></entry>
      """
    #expect(try NewsFeedsTests.entry(atom(source)).html == html)
  }

  @Test("resolves the picture of a film against the base around it")
  func posters() throws {
    let video = "<div xml:base='/d/'><p>x</p><video src='v.mp4' poster='p.jpg'>film</video></div>"
    let content = "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>\(video)</div></content>"
    let entry = try entry(
      atom("<entry>\(Self.dates)<title>t</title>\(content)</entry>", attributes: "xml:base='https://example.org/'"))
    #expect(entry.attachments.map(\.url) == ["https://example.org/d/v.mp4", "https://example.org/d/p.jpg"])
  }
}
