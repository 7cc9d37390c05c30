import Foundation
import News
import NewsFeeds
import Testing

@Suite("JSON Lines")
struct JSONLinesTests {
  @Test("fills every field")
  func everything() throws {
    let entry = try entry(
      """
      {"id":"0199d9f4-7c3e-7b1a-8f00-0123456789ab","guid":"g","source":"desk","date":"2026-08-20T13:45:00Z",\
      "text":"A < b\\r\\n\\u0000*c* ","title":"T &amp; t","summary":"S &amp; s",\
      "html":"<p onclick=x>h</p>","topics":["Sport","a-b"],\
      "language":"en_GB","url":"https://example.org/1","author":"Ann","breaking":true,"version":7,"updated":"x",\
      "attachments":[{"url":"https://example.org/a.jpg","type":"image/jpeg","bytes":3,"width":1,"height":2,"alt":"A"}]}
      """)
    #expect(entry.id == UUID(uuidString: "0199D9F4-7C3E-7B1A-8F00-0123456789AB"))
    // Nothing else identifies an entry with an id.
    #expect(entry.linkID == nil && entry.earlierID == nil && entry.origin == nil)
    let fields = #""guid":"urn:uuid:0199d9f4-7c3e-7b1a-8f00-0123456789ab","text":"x","date":"2026-08-20""#
    let named = try NewsFeedsTests.entry("{\(fields)}")
    let both = try NewsFeedsTests.entry(#"{"id":"0199d9f4-7c3e-7b1a-8f00-0123456789ac",\#(fields)}"#)
    #expect(named.origin == entry.id && both.origin == nil)
    #expect(entry.guid == "g")
    #expect(entry.source == "desk")
    #expect(entry.date == august)
    #expect(entry.text == "A < b\n*c*")
    #expect(entry.title == "T &amp; t")
    #expect(entry.summary == "S &amp; s")
    #expect(entry.html == "<p>h</p>")
    #expect(entry.categories.map(\.slug) == ["sport", "a-b"])
    #expect(entry.language == "en-GB")
    #expect(entry.url == "https://example.org/1")
    #expect(entry.author == "Ann")
    #expect(entry.breaking)
    #expect(
      entry.attachments == [
        Attachment(url: "https://example.org/a.jpg", type: "image/jpeg", bytes: 3, width: 1, height: 2, alt: "A")
      ])
  }

  @Test("reads what `News` writes")
  func roundTrip() throws {
    let item = NewsItem(
      id: UUID(), version: 3, date: august, text: "x", title: "t", topics: ["sport"], url: "https://example.org/",
      updated: august)
    let entry = try entry(String(decoding: NewsJSON.encode(item), as: UTF8.self) + "\n")
    #expect(entry.id == item.id)
    #expect(entry.date == item.date)
    #expect(entry.text == item.text)
    #expect(entry.categories.map(\.slug) == item.topics)
  }

  @Test("trims the white space that Foundation trims, and removes control characters")
  func whiteSpace() {
    for value in Array(1..<0x3100) + [0xFEFF, 0xFFFE, 0xFFFF] as [UInt32] {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let character = String(Character(scalar))
      let escaped = value == 0x22 || value == 0x5C ? "\\" + character : String(format: "\\u%04x", value)
      let line = #"{"date":"2026-08-20","guid":"g","text":"\#(escaped)a\#(escaped)b\#(escaped)"}"#
      let isControl = (value < 0x20 && value != 9 && value != 10) || 0x7F...0x9F ~= value || value > 0x3100
      let cleaned = value == 13 ? "\n" : isControl ? "" : character
      let expected = "\(cleaned)a\(cleaned)b\(cleaned)".trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(
        events(line).entries.map { Array($0.text.utf8) } == [Array(expected.utf8)], "U+\(String(value, radix: 16))")
    }
  }

  @Test("reports lines by number and reads the others")
  func badLines() {
    let events = events(
      """

      {"date":"2026-08-20","text":"one","url":"https://example.org/1"}
      {"date":"2026-08-20","text":
      [1]
      {"text":"no date"}\r
      {"date":"soon","text":"x"}
      {"date":"2026-08-20","text":null}
      {"date":"2026-08-20","text":5}
        \t
      {"date":"2026-08-20","text":"x","topics":["a",1]}
      {"date":"2026-08-20","text":"x","attachments":[{"type":"image/png"}]}
      {"date":"2026-08-20","text":"two","url":"https://example.org/2","author":null}
      """)
    #expect(
      events.complaints == [
        "skipped line 3: is not valid JSON", "skipped line 4: is not a JSON object", "skipped line 5: has no date",
        "skipped line 6: the date \"soon\" cannot be read", "skipped line 7: has neither text nor title",
        "reduced line 11: the field \"attachments\" has the wrong type and is omitted",
      ])
    #expect(events.entries.map(\.text) == ["one", "5", "x", "x", "two"])
    #expect(events.entries[2].categories.map(\.label) == ["a", "1"])
  }

  private static let coerced: [(fields: String, expected: String)] = [
    (#""date":1787233500"#, "2026-08-20T13:45:00.000Z"), (#""date":1787233500000"#, "2026-08-20T13:45:00.000Z"),
    (#""date":1787233500.5"#, "2026-08-20T13:45:00.500Z"), (#""title":2026"#, "2026"), (#""topics":"Sport""#, "Sport"),
    (#""topics":[{"name":"Sport"},7]"#, "Sport,7"), (#""breaking":"true""#, "true"), (#""breaking":1"#, "true"),
    (#""breaking":"no""#, "false"), (#""author":["Ann","Bob"]"#, "Ann, Bob"), (#""author":{"name":"Ann"}"#, "Ann"),
    (#""attachments":[{"url":"https://x.example/a.jpg"}]"#, "https://x.example/a.jpg image/jpeg"),
    (#""attachments":"https://x.example/a.jpg""#, "https://x.example/a.jpg image/jpeg"),
    (
      #""attachments":{"url":"https://x.example/a","type":"image/png","bytes":"12","width":3.0}"#,
      "https://x.example/a image/png"
    ),
    (#""text":7"#, "7"), (#""guid":7"#, "7"), (#""language":"de","summary":5"#, "5"),
  ]

  @Test("coerces values of another type without a report", arguments: coerced)
  func coercion(fields: String, expected: String) throws {
    let more = ["text", "date", "guid"].filter { !fields.contains("\"\($0)\"") }
    let values = ["text": "\"x\"", "date": "\"2026-01-01\"", "guid": "\"g\""]
    let entry = try entry("{\(fields),\(more.map { "\"\($0)\":\(values[$0] ?? "")" }.joined(separator: ","))}")
    let files = entry.attachments.map { "\($0.url) \($0.type)" }
    let found: [String?] = [
      RFC3339.string(from: entry.date), entry.title, entry.categories.map(\.label).joined(separator: ","),
      "\(entry.breaking)", entry.author, entry.text, entry.guid, entry.summary,
    ]
    #expect((found + files).contains(expected))
  }

  private static let lost: [(fields: String, name: String)] = [
    (#""title":{}"#, "title"), (#""title":["a"]"#, "title"), (#""summary":true"#, "summary"), (#""html":[]"#, "html"),
    (#""topics":{"a":1}"#, "topics"), (#""topics":["a",[]]"#, "topics"), (#""language":[1]"#, "language"),
    (#""url":{}"#, "url"), (#""author":7"#, "author"), (#""breaking":"perhaps""#, "breaking"),
    (#""attachments":[7]"#, "attachments"), (#""source":[]"#, "source"), (#""id":{}"#, "id"),
    (#""attachments":[{"url":"https://x.example/a.jpg","width":"wide"}]"#, "attachments.width"),
  ]

  @Test("omits and reports a value that has no meaning, and keeps the entry", arguments: lost)
  func losses(fields: String, name: String) {
    let events = events(#"{"text":"x","date":"2026-01-01","guid":"g",\#(fields)}"#)
    #expect(events.entries.map(\.text) == ["x"])
    #expect(events.complaints == ["reduced line 1: the field \"\(name)\" has the wrong type and is omitted"])
  }

  @Test("reports a date of another type as a date that cannot be read")
  func dates() {
    let lines = events("{\"text\":\"x\",\"date\":[]}\n{\"text\":{},\"date\":\"2026\"}\n{\"text\":\"x\",\"date\":\" \"}")
    #expect(
      lines.complaints == [
        "skipped line 1: the date \"{\u{2026}}\" cannot be read; the field \"date\" has the wrong type and is omitted",
        "skipped line 2: has neither text nor title; the field \"text\" has the wrong type and is omitted",
        "skipped line 3: has no date",
      ])
  }

  @Test("keeps the lines of an export strict")
  func exports() {
    let line =
      #"{"id":"0199d9f4-7c3e-7b1a-8f00-0123456789ab","date":"2026-08-20T13:45:00Z","text":5,"sourceDigest":""}"#
    #expect(events(line).complaints == ["skipped line 1: the field \"text\" has the wrong type"])
  }

  @Test("tells entries apart that share a guid, by their links, as in feeds")
  func sharedGUID() {
    func line(_ number: Int, _ text: String) -> String {
      #"{"guid":"g","url":"https://x.example/\#(number)","text":"\#(text)","date":"2026-01-01"}"#
    }
    let found = events([line(1, "a"), line(2, "b"), line(3, "c"), line(2, "b, edited")].joined(separator: "\n"))
    #expect(found.complaints == [])
    #expect(found.entries.map(\.sharesName) == [false, true, true, true])
    #expect(Set(found.entries.map(\.linkID)).count == 3)
    let same = events([line(1, "a"), line(1, "b")].joined(separator: "\n"))
    #expect(same.entries.map(\.sharesName) == [false, false])
  }

  @Test("skips lines above the limit without storing them")
  func longLines() {
    var limits = FeedReader.Limits()
    limits.entryBytes = 100
    let good = "{\"date\":\"2026-08-20\",\"text\":\"x\",\"guid\":\"1\"}\n"
    let long = "{\"text\":\"" + String(repeating: "x", count: 1000) + "\"}\n"
    let events = events(Data((good + long + good).utf8), pieces: 10, limits: limits)
    #expect(events.complaints == ["skipped line 2: is larger than 100 bytes"])
    #expect(events.entries.count == 2)
  }

  @Test("reads lines of as many bytes as the limit", arguments: [1, 7, Int.max])
  func longestLine(pieces: Int) {
    var limits = FeedReader.Limits()
    limits.entryBytes = 100
    let head = "{\"date\":\"2026-08-20\",\"guid\":\"1\",\"text\":\""
    func line(_ bytes: Int) -> String { head + String(repeating: "x", count: bytes - head.utf8.count - 2) + "\"}\n" }
    let found = events(Data((line(100) + line(101)).utf8), pieces: pieces, limits: limits)
    #expect(found.entries.count == 1)
    #expect(found.complaints == ["skipped line 2: is larger than 100 bytes"])
  }

  @Test("removes characters that the database or a client cannot store")
  func nonsense() throws {
    let entry = try entry(
      #"{"date":"2026-08-20","text":"x","guid":"g\u0000","source":"s\u0000","attachments":[{"type":"image/png","#
        + #""url":"https://example.org/a","bytes":-1,"width":0,"height":1000000000,"sha256":"\u0000","alt":"\u0000"}]}"#
    )
    #expect(entry.guid == "g\u{FFFD}")
    #expect(entry.source == "s\u{FFFD}")
    #expect(entry.attachments == [Attachment(url: "https://example.org/a", type: "image/png")])
  }

  @Test("uses an id as the guid if it is not a UUID, after the address")
  func ids() throws {
    let unlinked = try entry("{\"date\":\"2026-08-20\",\"text\":\"x\",\"id\":\"post-1\"}")
    #expect(unlinked.guid == "post-1")
    #expect(unlinked.source == "urn:tidings:json-lines")
    let linked = try entry(#"{"date":"2026-08-20","text":"x","id":"post-1","url":"https://example.org/1"}"#)
    #expect(linked.guid == "https://example.org/1")
    let line = #"{"date":"2026-08-20","url":"https://example.org/a/1","html":"<a href='b'>x</a>"}"#
    #expect(try entry(line).html == #"<a href="https://example.org/a/b">x</a>"#)
    let blank = try entry(#"{"date":"2026-08-20","text":"x","source":" ","guid":" ","id":"post-1"}"#)
    #expect(blank.guid == "post-1" && blank.source == "urn:tidings:json-lines")
    let id = "0199D9F4-7C3E-7B1A-8F00-0123456789AB"
    #expect(try entry(#"{"date":"2026-08-20","text":"x","id":" \#(id) "}"#).id == UUID(uuidString: id))
  }

  @Test("reads sizes of files that are written as texts or with fractions")
  func sizes() throws {
    let file = #"{"url":"https://example.org/a","type":"image/png","bytes":" 12 ","width":"3.0","height":3.6}"#
    let entry = try entry(#"{"date":"2026-08-20","text":"x","attachments":[\#(file)]}"#)
    let expected = Attachment(url: "https://example.org/a", type: "image/png", bytes: 12, width: 3, height: 4)
    #expect(entry.attachments == [expected])
  }

  @Test(
    "writes language tags as is usual",
    arguments: [("zh_hant_tw", "zh-Hant-TW"), ("EN-X-US", "en-x-us"), ("SL-ROZAJ", "sl-rozaj"), (" de-at ", "de-AT")])
  func languages(written: String, tag: String) throws {
    #expect(try entry(#"{"date":"2026-08-20","text":"x","language":"\#(written)"}"#).language == tag)
  }

  @Test(
    "takes an object with items, but without the version of a JSON Feed, for an entry",
    arguments: ["", #""version":7,"#])
  func itemsWithoutVersion(version: String) throws {
    #expect(try entry("{\(version)\"items\":[],\"date\":\"2026-08-20\",\"text\":\"x\"}").text == "x")
  }

  @Test("reports a line that is null, and entries with ambiguous dates before the lines that follow them")
  func order() {
    let undecided = #"{"guid":"1","text":"x","date":"01/05/2024"}"#
    #expect(events(#"{"date":"2026-08-20","text":"x"}"# + "\nnull").complaints == ["skipped line 2: is null"])
    let copy = #"{"id":"0199d9f4-7c3e-7b1a-8f00-0123456789ab","date":"2026-08-20T13:45:00Z","text":"x","#
    for line in [copy + #""sourceDigest":""}"#, #"{"item": {"id": "x"}}"#] {
      let reader = FeedReader(FeedReader.Options(readsNewsrooms: true))
      let found = reader.feed(Data((undecided + "\n" + line).utf8)) + reader.finish()
      let isSkipped = found.map { if case .skipped = $0 { true } else { false } }
      #expect(isSkipped == [true, false])
    }
  }

  @Test("takes another mark as breaking news for a change")
  func breaking() throws {
    let entries = try [#""text":"x""#, #""text":"x","breaking":false"#, #""text":"x","breaking":true"#].map {
      try entry(#"{"date":"2026-08-20","guid":"1",\#($0)}"#)
    }
    #expect(entries[0].digest == entries[1].digest)
    #expect(entries[1].digest != entries[2].digest)
  }

  @Test(
    "takes another property of a file for a change",
    arguments: [
      #""type":"image/png""#, #""alt":"a""#, #""bytes":1"#, #""width":2"#, #""height":3"#,
      #""sha256":"\#(String(repeating: "0b", count: 32))""#, #""caption":"a""#, #""credit":"a""#,
    ])
  func files(property: String) throws {
    func digest(_ properties: String) throws -> Data? {
      let file = #"{"url":"https://example.org/a",\#(properties)}"#
      return try entry(#"{"date":"2026-08-20","guid":"1","text":"x","attachments":[\#(file)]}"#).digest
    }
    let plain = #""type":"image/jpeg""#
    let changed = property.hasPrefix(#""type""#) ? property : plain + "," + property
    #expect(try digest(changed) != digest(plain))
  }

  @Test(
    "takes another value of a field for a change of the same entry",
    arguments: [
      #""date":"2026-08-21""#, #""title":"b""#, #""summary":"b""#, #""html":"<p>b</p>""#, #""text":"b""#,
      #""topics":["b"]"#, #""language":"de""#, #""url":"https://example.org/b""#, #""author":"b""#,
    ])
  func fields(changed: String) throws {
    let fields = [
      #""guid":"1""#, #""date":"2026-08-20""#, #""title":"a""#, #""summary":"s""#, #""html":"<p>a</p>""#,
      #""text":"a""#, #""topics":["a"]"#, #""language":"en""#, #""url":"https://example.org/a""#, #""author":"a""#,
    ]
    let name = changed.prefix { $0 != ":" }
    let others = fields.filter { !$0.hasPrefix(name) }
    let before = try entry("{\(fields.joined(separator: ","))}")
    let after = try entry("{\((others + [changed]).joined(separator: ","))}")
    #expect(others.count == fields.count - 1)
    #expect(after.id == before.id && after.digest != before.digest)
  }

  @Test("reads truth values in all usual words")
  func flags() throws {
    let words = [
      (["true", "1", "2", #""true""#, #""Yes""#, #""y""#, #""on""#, #""1""#], true),
      (["false", "0", #""false""#, #""No""#, #""n""#, #""off""#, #""0""#], false),
    ]
    for (values, flag) in words {
      for value in values {
        let entry = try entry(#"{"text":"x","date":"2026-01-01","guid":"g","breaking":\#(value)}"#)
        #expect(entry.breaking == flag, "\(value)")
      }
    }
  }
}
