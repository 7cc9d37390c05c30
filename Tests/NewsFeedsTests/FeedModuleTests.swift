import Foundation
import News
import NewsFeeds
import Testing

@Suite("Modules and mixed feeds")
struct FeedModuleTests {
  private static let namespaces = """
    <rss version="2.0" xmlns:itunes="http://www.itunes.com/DTDs/Podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/"
      xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:dcterms="http://purl.org/dc/terms/"
      xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
    """

  private func item(_ fields: String, declaring namespaces: String = Self.namespaces) throws -> FeedEntry {
    try entry(
      "\(namespaces)<channel><link>https://example.org/</link><item><guid>1</guid>\(fields)</item></channel></rss>")
  }

  private static let date = "<pubDate>20 Aug 2026 13:45 GMT</pubDate>"

  @Test("An entry with a title and no text has its title as its text")
  func titleAlone() throws {
    let entry = try item(
      Self.date + "<title>Tom &amp;amp; &lt;i&gt;Jerry&lt;/i&gt;</title><description> </description>")
    #expect(entry.title == "Tom & Jerry")
    #expect(entry.text == "Tom & Jerry")
    #expect(entry.summary == nil)
    #expect(entry.html == nil)
    let picture = try item(Self.date + "<title>t</title><description>&lt;img src='/p.png'&gt;</description>")
    #expect(picture.text == "t")
    #expect(picture.html == "<img src=\"https://example.org/p.png\"/>")
    #expect(picture.attachments.map(\.url) == ["https://example.org/p.png"])
    #expect(
      try NewsFeedsTests.entry(atom("<entry><id>1</id><updated>2026</updated><title>t</title></entry>")).text == "t")
    #expect(try NewsFeedsTests.entry("{\"guid\":\"1\",\"date\":\"2026\",\"title\":\"a < b\"}").text == "a < b")
  }

  @Test(
    "The text is the first of the elements in use for it",
    arguments: [
      ("<body><p>a <b>b</b></p></body>", "<p>a <b>b</b></p>", nil),
      ("<xhtml:body><xhtml:p>a</xhtml:p></xhtml:body><description>s</description>", "<p>a</p>", "s"),
      ("<fullitem>&lt;p&gt;a&lt;/p&gt;</fullitem><description>s</description>", "<p>a</p>", "s"),
      ("<fullitem> </fullitem><description>&lt;p&gt;a</description>", "<p>a</p>", nil),
      ("<itunes:summary>&lt;p&gt;a</itunes:summary><itunes:subtitle>s</itunes:subtitle>", "<p>a</p>", nil),
      ("<itunes:subtitle>&lt;p&gt;a</itunes:subtitle>", "<p>a</p>", nil),
      ("<dc:description>&lt;p&gt;a</dc:description>", "<p>a</p>", nil),
      ("<dcterms:abstract>&lt;p&gt;a</dcterms:abstract>", "<p>a</p>", nil),
      ("<atom:summary>s</atom:summary><atom:content>&lt;p&gt;a</atom:content>", "<p>a</p>", "s"),
      ("<summary>s</summary><content>&lt;p&gt;a</content>", "<p>a</p>", "s"),
      ("<media:group><media:description>&lt;p&gt;a</media:description></media:group>", "<p>a</p>", nil),
    ])
  func texts(fields: String, html: String, summary: String?) throws {
    let entry = try item(Self.date + "<title>t</title>" + fields)
    #expect(entry.html == html)
    #expect(entry.summary == summary)
  }

  /// The elements in use for each part of an entry, in order of preference.
  private static let titleNames = ["title", "dc:title", "itunes:title", "atom:title"]
  private static let textNames = [
    "content:encoded", "xhtml:body", "body", "fullitem", "xhtml:div", "atom:content", "content",
  ]
  private static let descriptionNames = [
    "description", "itunes:summary", "dc:description", "dcterms:abstract", "summary", "atom:summary", "itunes:subtitle",
  ]
  private static let dateNames = [
    "pubDate", "pubdate", "date", "published", "updated", "dc:date", "dcterms:issued", "dcterms:available",
    "dcterms:created", "dcterms:modified", "atom:published", "atom:updated",
  ]

  @Test(
    "Of several elements in use for a title or text, the preferred one counts, wherever it is",
    arguments: [titleNames, textNames, descriptionNames])
  func preferences(names: [String]) throws {
    for (index, name) in names.enumerated() {
      let fields = names[index...].reversed().map { "<\($0)>\($0)</\($0)>" }
      let entry = try item(Self.date + fields.joined())
      #expect((names == Self.titleNames ? entry.title : entry.text) == name)
    }
  }

  @Test("Of several elements in use for a date, the preferred one counts, wherever it is")
  func preferredDates() throws {
    for (index, name) in Self.dateNames.enumerated() {
      let fields = Self.dateNames[index...].reversed().map { other in
        "<\(other)>\(other == name ? "2026-08-20T13:45:00Z" : "2001-01-01")</\(other)>"
      }
      #expect(try item("<title>t</title>" + fields.joined()).date == august, "\(name)")
    }
  }

  @Test(
    "The title is the first of the elements in use for it",
    arguments: [
      ("<title>t</title><dc:title>x</dc:title>", "t"), ("<title/><dc:title>t</dc:title>", "t"),
      ("<itunes:title>t</itunes:title><media:title>x</media:title>", "t"),
      ("<media:group><media:title type='plain'>t</media:title></media:group>", "t"),
      ("<media:content url='https://example.org/a.jpg'><media:title>of the file</media:title></media:content>", nil),
    ])
  func titles(fields: String, title: String?) throws {
    #expect(try item(Self.date + fields + "<description>x</description>").title == title)
  }

  @Test(
    "The date is the first readable one of the entry's own",
    arguments: [
      "<dcterms:issued>2026-08-20T13:45:00Z</dcterms:issued>",
      "<dcterms:available>2026-08-20T13:45:00Z</dcterms:available>",
      "<dcterms:created>2026-08-20T13:45:00Z</dcterms:created><dcterms:modified>2026-08-21</dcterms:modified>",
      "<dc:date>soon</dc:date><dcterms:modified>2026-08-20T13:45:00Z</dcterms:modified>",
      "<published>2026-08-20T13:45:00Z</published><updated>2026-08-21</updated>",
      "<updated>2026-08-20T13:45:00Z</updated>", "<atom:updated>2026-08-20T13:45:00Z</atom:updated>",
    ])
  func dates(fields: String) throws {
    #expect(try item(fields + "<title>t</title>").date == august)
    guard !fields.contains("<updated") else { return }
    let spaces = "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='http://purl.org/dc/terms/'"
    let entry = "<entry \(spaces)><id>1</id><title>t</title>\(fields.replacing("atom:", with: ""))</entry>"
    #expect(try NewsFeedsTests.entry(atom(entry)).date == august)
  }

  @Test(
    "Categories of media and podcasts are read if there are no others",
    arguments: [
      ("<media:category label='A'>a/b</media:category><media:category>B</media:category>", ["A", "B"]),
      ("<itunes:category text='A'><itunes:category text='B'/></itunes:category>", ["A", "B"]),
      ("<category>C</category><media:category>B</media:category>", ["C"]),
      ("<itunes:category text='A'/><media:category label=''>B</media:category>", ["B"]),
    ])
  func categories(fields: String, labels: [String]) throws {
    #expect(try item(Self.date + "<title>t</title>" + fields).categories.map(\.label) == labels)
  }

  @Test("Undeclared prefixes have their usual meaning")
  func undeclared() throws {
    let entry = try item(
      """
      <dcterms:issued>2026-08-20T13:45:00Z</dcterms:issued><itunes:author>Ann</itunes:author>
      <xhtml:body><p>x</p></xhtml:body>
      """, declaring: "<rss version='2.0'>")
    #expect(entry.date == august)
    #expect(entry.author == "Ann")
    #expect(entry.html == "<p>x</p>")
  }

  @Test("Elements of Atom in RSS are read, with or without their namespace")
  func mixed() throws {
    for prefix in ["", "atom:"] {
      let entry = try item(
        """
        <title>t</title><\(prefix)link href="/1"/><\(prefix)updated>2026-08-20T13:45:00Z</\(prefix)updated>
        <\(prefix)summary>s</\(prefix)summary>
        <\(prefix)link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="12"/>
        """)
      #expect(entry.url == "https://example.org/1")
      #expect(entry.date == august)
      #expect(entry.text == "s")
      #expect(entry.attachments == [Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg", bytes: 12)])
    }
  }

  @Test("Relative links refer to the address of the feed if it names none, and ids do not depend on that address")
  func address() throws {
    func read(_ text: String, _ address: String?) throws -> FeedEntry {
      let reader = FeedReader(FeedReader.Options(address: address))
      return try #require((reader.feed(Data(text.utf8)) + reader.finish()).entries.first)
    }
    let item = "<item><guid>1</guid><pubDate>2026</pubDate><link>a</link><description>x</description></item>"
    let texts = [
      rss(item, channel: ""), rss(item, channel: "<link>/</link>"),
      atom("<entry><id>1</id><updated>2026</updated><link href='a'/><title>t</title></entry>"),
      """
      {"version":"https://jsonfeed.org/version/1","items":[{"id":"1","url":"a","date_published":"2026","content_text":"x"}]}
      """,
    ]
    for text in texts {
      let (file, response) = (try read(text, nil), try read(text, "https://example.net/feeds/x"))
      #expect(file.url == nil)
      let folder = text.contains("<link>/</link>") ? "" : "feeds/"
      #expect(response.url == "https://example.net/\(folder)a")
      #expect(response.id == file.id)
    }
    #expect(try read(rss(item), "https://example.net/feeds/x").url == "https://example.org/a")
    let based = rss(item, channel: "").replacing("<channel>", with: "<channel xml:base='posts/'>")
    #expect(try read(based, "https://example.net/feeds/x").url == "https://example.net/feeds/posts/a")
  }

  @Test("have no files that are pages, no sizes that are unknown, and the first text of a file")
  func mediaFiles() throws {
    let files = """
      <enclosure url="https://example.org/a.mp3" length="0"/>
      <media:content url="https://example.org/p" medium="document"/>
      <media:content url="https://example.org/q" type="text/html; charset=utf-8"/>
      <media:content url="https://example.org/b.png" fileSize="0" height="100000">
        <media:description>First</media:description></media:content>
      <media:content url="https://example.org/b.png"><media:description>Second</media:description></media:content>
      """
    let expected = [
      Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg"),
      Attachment(url: "https://example.org/b.png", type: "image/png", alt: "First"),
    ]
    #expect(try item(Self.date + "<title>t</title>" + files).attachments == expected)
  }

  @Test("have the pictures of episodes, and that of the feed for recordings without one, which change no digest")
  func pictures() throws {
    func podcast(_ fields: String, image: String = "<itunes:image href='https://example.org/show.jpg'/>") -> String {
      """
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
      <link>https://example.org/</link>\(image)<item><guid>1</guid><title>t</title><pubDate>2026-01-01</pubDate>\(fields)
      </item></channel></rss>
      """
    }
    let file = "<enclosure url='https://example.org/1.mp3' type='audio/mpeg'/>"
    let own = "<itunes:image href='https://example.org/1.jpg?x=1'/>"
    func pictures(_ text: String) throws -> [String] { try entry(text).attachments.map(\.url) }
    #expect(try pictures(podcast(file + own)) == ["https://example.org/1.mp3", "https://example.org/1.jpg?x=1"])
    #expect(try pictures(podcast(file)) == ["https://example.org/1.mp3", "https://example.org/show.jpg"])
    for nothing in ["", "<media:content url='' type='audio/mpeg'/>"] {
      #expect(try pictures(podcast(nothing)) == [], "\(nothing)")
    }
    let thumbnail = "<enclosure url='https://example.org/t.png' type='image/png'/>"
    #expect(try pictures(podcast(file + thumbnail)).last == "https://example.org/t.png")
    let old = "<image><url>https://example.org/old.png</url></image>"
    #expect(try pictures(podcast(file, image: old)).last == "https://example.org/old.png")
    #expect(try pictures(podcast(old)) == ["https://example.org/old.png"])
    let address = "https://example.org/own.png"
    for image in [
      "<image url='\(address)'/>", "<image href='\(address)'/>", "<image>\(address)</image>",
      "<itunes:image url='\(address)'/>", "<itunes:image>\(address)</itunes:image>",
    ] {
      #expect(try pictures(podcast(image)) == [address], "\(image)")
    }
    let film = "<enclosure url='https://example.org/1.mp4'/>"
    #expect(try pictures(podcast(film)).last == "https://example.org/show.jpg")
    let show = "<itunes:image href='https://example.org/show.jpg'/>"
    for image in [old + show, show + old] {
      #expect(try pictures(podcast(file, image: image)).last == "https://example.org/show.jpg")
    }
    let play = "<googleplay:image href='https://example.org/play.jpg'/>"
    for image in [play + show, show + play] {
      #expect(try pictures(podcast(file, image: image)).last == "https://example.org/show.jpg")
    }
    let text = "&lt;audio src='https://example.org/2.mp3'>&lt;/audio>&lt;img src='https://example.org/2.png'>"
    #expect(
      try pictures(podcast("<description>\(text)</description>" + own)) == [
        "https://example.org/2.mp3", "https://example.org/1.jpg?x=1", "https://example.org/2.png",
      ])
    let types = try entry(podcast("<itunes:image href='https://example.org/1'/>")).attachments.map(\.type)
    #expect(types == ["image/jpeg"])
    #expect(try entry(podcast(file + own)).digest == entry(podcast(file, image: "")).digest)
  }

  @Test("Media RSS in Atom is read, too")
  func mediaInAtom() throws {
    let media = """
      <media:group><media:title>t</media:title><media:description>d</media:description>
      <media:content url='https://example.org/1.mp4'><media:credit>Ann</media:credit>
      <media:thumbnail url='https://example.org/1.png'/></media:content></media:group>
      """
    let entry = try entry(atom("<entry><id>1</id><updated>2026</updated>\(media)</entry>"))
    #expect(entry.title == "t" && entry.text == "d")
    #expect(entry.attachments.map(\.url) == ["https://example.org/1.mp4", "https://example.org/1.png"])
    #expect(entry.attachments.map(\.credit) == ["Ann", nil])
  }

  private static let extensions = [
    "aac": "audio/aac", "AVIF": "image/avif", "bmp": "image/bmp", "flac": "audio/flac", "gif": "image/gif",
    "heic": "image/heic", "ico": "image/vnd.microsoft.icon", "jpe": "image/jpeg", "jpeg": "image/jpeg",
    "JPG": "image/jpeg", "m4a": "audio/mp4", "m4v": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "oga": "audio/ogg",
    "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/opus", "pdf": "application/pdf", "png": "image/png",
    "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "wav": "audio/wav", "weba": "audio/webm",
    "webm": "video/webm", "webp": "image/webp", "x/y": "application/octet-stream",
  ]

  @Test("The type of a file is that of the extension of its address, if its element names none")
  func types() throws {
    for (name, type) in Self.extensions {
      let file = "<enclosure url='https://example.org/a.1.\(name)'/>"
      #expect(try item(Self.date + "<title>t</title>" + file).attachments.map(\.type) == [type], "\(name)")
    }
  }

  @Test(
    "have the link that FeedBurner has replaced by its proxy",
    arguments: [
      "http://feedproxy.google.com/~r/x/~3/abc/", "http://feeds.feedburner.com/~r/x/~3/1/a",
      "http://feeds.example.net/~r/x/~3/2", "http://feedproxy.google.com/x?m=1",
      "https://feeds2.feedburner.com/x?m=1",
    ])
  func originalLinks(proxy: String) throws {
    let link = "<link>\(proxy)</link>"
    let original = "<feedburner:origLink>https://example.org/a?b=1&amp;c=2</feedburner:origLink>"
    for guid in ["<guid isPermaLink='false'>1</guid>", ""] {
      let fields = "\(guid)<title>t</title><pubDate>2026-08-20</pubDate>"
      let (old, new) = (
        try entry(rss("<item>\(fields)\(link)</item>")), try entry(rss("<item>\(fields)\(link)\(original)</item>"))
      )
      #expect(old.url == proxy)
      #expect(new.url == "https://example.org/a?b=1&c=2")
      var same = new
      same.url = proxy
      #expect(same == old)
    }
    let atomFields = "<id>1</id><title>t</title><updated>2026</updated>"
    let atomEntry = "<entry>\(atomFields)<link href='\(proxy)'/>\(original)</entry>"
    #expect(
      try entry(atom(atomEntry, attributes: "xmlns:feedburner='http://rssnamespace.org/feedburner/ext/1.0'")).url
        == "https://example.org/a?b=1&c=2")
  }

  @Test("keep their link beside that of FeedBurner if it is another one, or if that is none")
  func otherLinks() throws {
    func url(_ link: String, _ original: String) throws -> String? {
      let item = "<item><title>t</title><pubDate>2026</pubDate><link>\(link)</link>"
      return try entry(rss(item + "<feedburner:origLink>\(original)</feedburner:origLink></item>")).url
    }
    #expect(try url("https://example.org/a", "https://example.org/b") == "https://example.org/a")
    #expect(try url("https://notfeedburner.com/a", "https://example.org/b") == "https://notfeedburner.com/a")
    let proxy = "http://feedproxy.google.com/~r/x/~3/abc/"
    #expect(try url(proxy, "javascript:alert(1)") == proxy)
    #expect(try url(proxy, "https://[/") == proxy)
    for host in ["a%20b.example", String(repeating: "a.", count: 130) + "example"] {
      #expect(try url(proxy, "https://\(host)/") == proxy)
    }
  }
}
