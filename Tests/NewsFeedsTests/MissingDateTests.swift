import Foundation
import NewsFeeds
import Testing

@Suite("Entries without a date")
struct MissingDateTests {
  private func read(_ text: String, at time: Date, pieces: Int = .max) -> [FeedEvent] {
    let reader = FeedReader(FeedReader.Options(missingDate: .firstSeen(at: time)))
    var events: [FeedEvent] = []
    var rest = Data(text.utf8)[...]
    while !rest.isEmpty {
      events += reader.feed(Data(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return events + reader.finish()
  }

  private static let feeds = [
    rss(
      """
      <item><guid>1</guid><title>a</title></item><item><guid>2</guid><title>b</title><pubDate>2026-01-01</pubDate></item>
      <item><guid>3</guid></item><item><guid>4</guid><title>c</title></item>
      """),
    atom(
      """
      <entry><id>1</id><title>a</title></entry><entry><id>2</id><title>b</title><updated>2026-01-01</updated></entry>
      <entry><id>3</id></entry><entry><id>4</id><title>c</title></entry>
      """),
    """
    {"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_text":"a"},
    {"id":"2","content_text":"b","date_published":"2026-01-01"},{"id":"3"},{"id":"4","content_text":"c"}]}
    """,
    """
    {"guid":"1","text":"a"}
    {"guid":"2","text":"b","date":"2026-01-01"}
    {"guid":"3"}
    {"guid":"4","text":"c"}
    """,
  ]

  @Test("take the time of the reading in the order of the feed", arguments: feeds)
  func order(text: String) {
    let entries = read(text, at: august.addingTimeInterval(0.0004)).entries
    #expect(entries.map(\.guid) == ["1", "2", "4"])
    #expect(entries.map(\.isDateFirstSeen) == [true, false, true])
    #expect(entries.map(\.dateProblem) == [nil, nil, nil])
    #expect(entries.first?.date == august)
    #expect(entries.last?.date == august.addingTimeInterval(-0.001))
    #expect(read(text, at: august, pieces: 3).entries == entries)
  }

  @Test("are skipped by default", arguments: feeds)
  func skipped(text: String) {
    #expect(events(text).entries.map(\.guid) == ["2"])
    #expect(events(text).entries.allSatisfy { !$0.isDateFirstSeen })
  }

  @Test("have the same id and digest in every reading, whatever the time", arguments: feeds)
  func again(text: String) {
    let (first, second) = (read(text, at: august).entries, read(text, at: august + 86_400).entries)
    #expect(first.map(\.id) == second.map(\.id))
    #expect(first.map(\.digest) == second.map(\.digest))
    #expect(first.map(\.date) != second.map(\.date))
  }

  @Test("include those with a date that cannot be read, which is reported")
  func unreadable() {
    let text = rss("<item><guid>1</guid><title>a</title><pubDate>whenever</pubDate></item>")
    let found = read(text, at: august)
    #expect(found.entries.map(\.date) == [august])
    #expect(found.entries.map(\.dateProblem) == ["the date \"whenever\" cannot be read"])
    #expect(
      found.complaints == [
        "reduced line 5: the date \"whenever\" cannot be read; the time at which the entry was first seen is used"
      ])
    #expect(events(text).complaints == ["skipped line 5: the date \"whenever\" cannot be read"])
    let long = events(text.replacing("whenever", with: String(repeating: "whenever", count: 50))).complaints
    #expect(long.map { $0.utf8.count < 120 } == [true], "\(long)")
  }

  @Test("prefer the date of an old feed")
  func feedDate() {
    let text = """
      <rss version="0.91"><channel><link>https://example.org/</link><pubDate>20 Aug 2026 13:45 GMT</pubDate>
      <item><title>a</title></item></channel></rss>
      """
    #expect(read(text, at: august + 1000).entries.map(\.date) == [august])
    #expect(read(text, at: august + 1000).entries.map(\.isDateFirstSeen) == [false])
  }

  @Test("are told apart by their texts if they have no name, no link and no title")
  func nameless() {
    let items = "<item><description>one</description></item><item><description>two</description></item>"
    let found = read(rss(items), at: august)
    #expect(found.complaints == [])
    #expect(found.entries.map(\.text) == ["one", "two"])
    #expect(Set(found.entries.map(\.guid)).count == 2)
    #expect(read(rss(items), at: august + 5).entries.map(\.id) == found.entries.map(\.id))
  }

  @Test("have the same id whatever their text if they have a title, and differ by their texts if they share a name")
  func titled() {
    func items(_ name: String, _ texts: [(title: String, text: String)]) -> String {
      let parts = texts.map { "<item>\(name)<title>\($0.title)</title><description>\($0.text)</description></item>" }
      return rss(parts.joined())
    }
    let ids = ["one", "two"].map { read(items("", [("T", $0)]), at: august).entries.map(\.id) }
    #expect(ids[0].count == 1 && ids[0] == ids[1])
    let latest = items("<guid isPermaLink='false'>latest</guid>", [("T", "one"), ("U", "two"), ("U", "three")])
    #expect(read(latest, at: august).entries.map(\.text) == ["one", "two", "three"])
  }

  @Test("are not restored from an export, whose lines have dates")
  func copies() {
    let line = #"{"id":"0199d9f4-7c3e-7b1a-8f00-0123456789ab","text":"x","sourceDigest":""}"#
    #expect(
      read(line, at: august).complaints == ["skipped line 1: the field \"date\" is missing or cannot be read"])
  }
}
