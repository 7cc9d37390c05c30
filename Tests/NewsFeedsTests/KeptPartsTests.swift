import News
import NewsFeeds
import Testing

@Suite struct `Parts of an entry beside its words` {
  private func item(_ content: String) -> String {
    rss(
      """
      <item><guid>1</guid><link>https://example.org/1</link><pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate>
      <description><![CDATA[\(content)]]></description></item>
      """)
  }

  @Test(arguments: [
    ("<media:description>Pier at dawn</media:description><media:credit>Ann</media:credit>", "Pier at dawn", "Ann"),
    ("<media:title>Pier</media:title>", "Pier", nil),
    (
      "<media:title>IMG_1</media:title><media:description type='html'>A &lt;b&gt;pier&lt;/b&gt;</media:description>",
      "A pier", nil
    ),
    ("<media:credit>Ann</media:credit><media:credit role='owner'>Bob</media:credit>", nil, "Ann, Bob"),
    ("<media:credit>Ann</media:credit><media:credit role='owner'>Ann</media:credit>", nil, "Ann"),
    ("", nil, nil),
  ])
  func `A file of Media RSS has its own texts`(texts: String, alt: String?, credit: String?) throws {
    let file = "<media:content url='https://example.org/a.jpg'>\(texts)</media:content>"
    let entries = [file, "<media:group>\(file)</media:group>"].map { file in
      "<item><guid>1</guid><title>x</title><pubDate>2026</pubDate>\(file)</item>"
    }
    for item in entries {
      let entry = try entry(rss(item))
      #expect(entry.attachments.map(\.alt) == [alt] && entry.attachments.map(\.credit) == [credit])
      let bare = try NewsFeedsTests.entry(
        rss(item.replacing(texts.isEmpty ? "<title>" : texts, with: texts.isEmpty ? "<title>" : "")))
      #expect(bare.digest == entry.digest)
    }
  }

  @Test func `A credit of the group is that of its files, and a player is reported`() throws {
    let item = """
      <item><guid>1</guid><title>x</title><pubDate>2026</pubDate><media:credit>Ann</media:credit>
      <media:group><media:content url='https://example.org/a.jpg'/><media:credit>Bob</media:credit></media:group>
      <media:group><media:content url='https://example.org/c.jpg'/></media:group>
      <media:content url='https://example.org/b.jpg'><media:player url='https://v.example/2'/></media:content>
      <media:content><media:player url='https://v.example/1'/></media:content></item>
      """
    let found = events(rss(item))
    #expect(found.entries.first?.attachments.map(\.credit) == ["Ann", "Bob", "Ann"])
    #expect(found.complaints == ["reduced line 5: a player is omitted: it is at https://v.example/1"])
    #expect(events(rss(item.replacing("<title>", with: "<link>https://v.example/1</link><title>"))).complaints == [])
  }

  @Test(arguments: [
    ("<content type='image/png' src='https://x.example/a.png'/>", "https://x.example/a.png image/png", nil),
    ("<content type='audio/mpeg' src='/a'/>", "https://example.org/a audio/mpeg", nil),
    ("<content src='https://x.example/a.mp4'/>", "https://x.example/a.mp4 video/mp4", nil),
    ("<content xml:base='/b/' type='audio/mpeg' src='a'/>", "https://example.org/b/a audio/mpeg", nil),
    ("<content type='application/pdf' src='https://x.example/a'/>", "https://x.example/a application/pdf", nil),
    (
      "<content type='text/html' src='https://x.example/p'/>", nil,
      "the content is omitted: it is at https://x.example/p"
    ),
    ("<content type='text/html' src='https://example.org/1'/>", nil, nil),
    ("<content type='html' src='https://x.example/p'>y</content>", nil, nil),
    (
      "<content type='image/svg+xml'><svg xmlns='http://www.w3.org/2000/svg'/></content>", nil,
      "the content is omitted: its type is \"image/svg+xml\""
    ),
    ("<content type='application/json'>{}</content>", nil, "the content is omitted: its type is \"application/json\""),
    ("<content type='image/png'>AAAA</content>", nil, "the content is omitted: its type is \"image/png\""),
    ("<summary type='markup'>x</summary>", nil, "the summary is omitted: its type is \"markup\""),
    ("<content type='image/png'/>", nil, nil), ("<content type='image/png'> \n</content>", nil, nil),
  ])
  func `Content of Atom that is no text is a file or reported`(content: String, file: String?, loss: String?) {
    let link = "<link href='https://example.org/1'/>"
    let found = events(atom("<entry><id>1</id><title>x</title><updated>2026</updated>\(link)\(content)</entry>"))
    #expect(found.entries.first?.attachments.map { "\($0.url) \($0.type)" } == [file].compactMap { $0 })
    #expect(found.complaints == [loss.map { "reduced line 2: " + $0 }].compactMap { $0 })
    if file != nil {
      let untitled = events(atom("<entry><id>1</id><updated>2026</updated>\(link)\(content)</entry>"))
      #expect(untitled.entries.map(\.text) == ["https://example.org/1"])
    }
  }

  @Test(arguments: [
    "<itunes:image href='https://x.example/a.jpg'/>", "<googleplay:image href='https://x.example/a.jpg'/>",
    "<podcast:image href='https://x.example/a.jpg'/>",
    "<podcast:images srcset='https://x.example/a.jpg 1500w, https://x.example/b.jpg 600w'/>",
  ])
  func `Pictures of podcasts are read in RSS and Atom`(image: String) throws {
    let (sound, head) = ("https://x.example/1.mp3", "<id>a</id>")
    let item = "<item><guid>1</guid><title>x</title><pubDate>2026</pubDate>\(image)</item>"
    let entry = "<entry><id>1</id><title>x</title><updated>2026</updated>\(image)</entry>"
    for text in [rss(item), atom(entry, head: head)] {
      #expect(try NewsFeedsTests.entry(text).attachments.map(\.url) == ["https://x.example/a.jpg"])
    }
    // A recording without a picture has that of its feed, if it names one.
    guard !image.contains("srcset") else { return }
    let episode =
      "<entry><id>1</id><title>x</title><updated>2026</updated><link rel='enclosure' href='\(sound)'/></entry>"
    let expected = [sound, "https://x.example/a.jpg"]
    #expect(try NewsFeedsTests.entry(atom(episode, head: head + image)).attachments.map(\.url) == expected)
    let logo = "<logo>https://x.example/a.jpg</logo>"
    #expect(try NewsFeedsTests.entry(atom(episode, head: head + logo)).attachments.map(\.url) == expected)
    let both = head + image + logo.replacing("a.jpg", with: "logo.jpg")
    #expect(try NewsFeedsTests.entry(atom(episode, head: both)).attachments.map(\.url) == expected)
  }

  @Test func `Sounds and films of the text are attachments`() throws {
    let entry = try entry(
      item(
        "<video poster=/p.jpg><source src=/v.mp4></video><audio src=/a title=Episode></audio>"
          + "<audio src=/b.php type='audio/ogg; codecs=opus'></audio>"))
    #expect(
      entry.attachments == [
        Attachment(url: "https://example.org/v.mp4", type: "video/mp4"),
        Attachment(url: "https://example.org/a", type: "audio/mpeg", alt: "Episode"),
        Attachment(url: "https://example.org/b.php", type: "audio/ogg"),
        Attachment(url: "https://example.org/p.jpg", type: "image/jpeg"),
      ])
    #expect(entry.text == "example.org/v.mp4\nEpisode\nexample.org/b.php")
    let sized = try NewsFeedsTests.entry(
      item("<p>x</p><video src=/w width=640 height=360></video><img src=/p.png width=10 height=20 alt=Pier>"))
    #expect(
      sized.attachments == [
        Attachment(url: "https://example.org/w", type: "video/mp4", width: 640, height: 360),
        Attachment(url: "https://example.org/p.png", type: "image/png", width: 10, height: 20, alt: "Pier"),
      ])
  }

  @Test func `An entry that is only a film or a picture has a text`() throws {
    #expect(try entry(item("<iframe src=https://v.example/1></iframe>")).text == "v.example/1")
    #expect(
      try entry(item("<img src=/u.png alt='It was never about the rain.'>")).text == "It was never about the rain.")
  }

  @Test func `A description that names tags is kept as written`() throws {
    let text = "The <iframe> tag is blocked by <script> rules. Read on."
    let entry = try entry(item(text))
    #expect(entry.text == text)
    #expect(entry.html == nil)
  }

  @Test func `Footnotes that name the entry's own page stay inside`() throws {
    let item = item("<a href=https://example.org/1#n>1</a><p id=n>x</p>")
    for text in [item, item.replacing("<item>", with: "<item xml:base='https://cdn.example/'>")] {
      let html = try #require(try entry(text).html)
      #expect(html.contains("href=\"#user-content-n\"") && html.contains("id=\"user-content-n\""))
    }
  }

  @Test func `What is missing is reported`() {
    let long = "https://example.org/" + String(repeating: "x", count: 3000)
    let source = rss(
      """
      <item><guid>1</guid><link>\(long)</link><pubDate>Thu, 20 Aug 2026 13:45:00 GMT</pubDate>
      <enclosure url="\(long)" type="audio/mpeg"/>
      <description><![CDATA[<p>x</p><img src="\(long)" alt="Pier"><img src="data:image/png;base64,AAAA">]]></description>
      </item>
      """)
    let events = events(source)
    #expect(
      events.complaints == [
        "reduced line 5: the link is omitted: it has 3020 bytes, more than 2048",
        "reduced line 5: an attachment is omitted: it has 3020 bytes, more than 2048",
        "reduced line 5: a picture is omitted: the address has 3020 bytes, more than 2048",
        "reduced line 5: a picture is omitted: it is inside the text (data:)",
      ])
    #expect(events.entries.map(\.text) == ["x\n\nPier"])
    let atom = atom(
      """
      <entry><id>a</id><updated>2026-08-20T13:45:00Z</updated><title>t</title><link href="\(long)"/>
      <link rel="enclosure" href="\(long)"/></entry>
      """)
    #expect(NewsFeedsTests.events(atom).complaints.count == 2)
  }
}
