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
    let html = try #require(try entry(item("<a href=https://example.org/1#n>1</a><p id=n>x</p>")).html)
    #expect(html.contains("href=\"#user-content-n\"") && html.contains("id=\"user-content-n\""))
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
