import Foundation
import News
import NewsFeeds
import Testing

@Suite("Lines of an export")
struct ExportedLineTests {
  private static let id = "0199d9f4-7c3e-7b1a-8f00-0123456789ab"

  /// Returns a line with an additional or replaced field.
  private static func line(_ field: String) -> String {
    let fields = ["id": "\"\(id)\"", "date": "\"2026-08-20T13:45:00Z\"", "text": "\"x\"", "sourceDigest": "\"\""]
    let name = String(field.dropFirst().prefix { $0 != "\"" })
    return "{" + (fields.filter { $0.key != name }.map { "\"\($0)\":\($1)" } + [field]).joined(separator: ",") + "}\n"
  }

  @Test("are read unchanged, including fields that other files may not set")
  func toTheLetter() throws {
    let item = NewsItem(
      id: try #require(UUID(uuidString: Self.id)), version: 3, date: august, text: " a\r\n&amp; ", title: " T  t",
      summary: " a\r\n&amp; ", html: "<p><img src=\"https://example.org/i.png\" alt=\"\"/></p>", topics: ["b--", "a"],
      language: "EN-us", url: "https://example.org/ä", author: "<b>A</b>", breaking: true,
      attachments: [Attachment(url: "https://example.org/x", type: "Image/PNG", alt: " two  blanks")], updated: august)
    let topics = [ExportedTopic(slug: "b--", titles: ["en": "B"], position: -3)]
    let digest = Data(repeating: 0xA7, count: 32)
    let line = JSONLine(item, source: " desk", guid: "g ", digest: digest, newTopics: topics)
    let entry = try entry(String(decoding: NewsJSON.encode(line), as: UTF8.self))
    #expect(entry.isCopy)
    #expect(entry.id == item.id)
    #expect((entry.source, entry.guid, entry.digest) == (" desk", "g ", digest))
    #expect(entry.date == item.date)
    #expect([entry.text, entry.title, entry.summary, entry.html] == [item.text, item.title, item.summary, item.html])
    #expect(entry.categories.map(\.slug) == item.topics)
    #expect([entry.language, entry.url, entry.author] == [item.language, item.url, item.author])
    #expect(entry.breaking)
    #expect(entry.attachments == item.attachments)
    #expect(entry.newTopics == topics)
  }

  @Test("may have as many topics and attachments as an item")
  func most() throws {
    func list(_ count: Int, _ element: (Int) -> String) -> String { (1...count).map(element).joined(separator: ",") }
    #expect(try entry(Self.line(#""topics":[\#(list(16) { "\"\($0)\"" })]"#)).categories.count == 16)
    let files = list(32) { #"{"url":"https://example.org/\#($0)","type":"image/png"}"# }
    #expect(try entry(Self.line(#""attachments":[\#(files)]"#)).attachments.count == 32)
  }

  @Test(
    "have texts of at most as many bytes as written ones",
    arguments: [("title", 1024), ("summary", 16_384), ("text", 262_144), ("author", 256)])
  func longest(field: String, bytes: Int) throws {
    func line(_ count: Int) -> String { Self.line(#""\#(field)":"\#(String(repeating: "x", count: count))""#) }
    #expect(try entry(line(bytes)).isCopy)
    let complaint = "skipped line 1: the \(field) has \(bytes + 1) bytes, more than \(bytes)"
    #expect(events(line(bytes + 1)).complaints == [complaint])
  }

  @Test(
    "have texts of attachments of at most as many bytes as written ones",
    arguments: [("alt", 1024), ("caption", 2048), ("credit", 256)])
  func longestOfAttachments(field: String, bytes: Int) throws {
    func line(_ count: Int) -> String {
      let text = String(repeating: "x", count: count)
      return Self.line(#""attachments":[{"url":"https://example.org/a","type":"image/png","\#(field)":"\#(text)"}]"#)
    }
    #expect(try entry(line(bytes)).attachments.count == 1)
    let complaint = "skipped line 1: the \(field) has \(bytes + 1) bytes, more than \(bytes)"
    #expect(events(line(bytes + 1)).complaints == [complaint])
  }

  private static let file = #""url":"https://example.org/a""#
  private static let missing = "is missing or cannot be read"
  private static let brokenParts: [(field: String, message: String)] = [
    (#""attachments":[{\#(file),"type":"?"}]"#, "the field \"attachments.type\" \(missing)"),
    (
      #""attachments":[{\#(file),"type":"image/png","height":0}]"#, "the field \"attachments.height\" \(missing)"
    ),
    (
      #""attachments":[\#(Array(repeating: #"{\#(file),"type":"image/png"}"#, count: 33).joined(separator: ","))]"#,
      "has 33 attachments, more than 32"
    ),
    (
      #""sourceDigest":"\#(String(repeating: "0a", count: 32))","source":"a""#,
      "the field \"guid\" \(missing)"
    ),
    (
      #""sourceDigest":"\#(String(repeating: "0a", count: 32))","source":"a\u0000","guid":"b""#,
      "the source has a NUL character"
    ),
    (
      #""sourceDigest":"\#(String(repeating: "0a", count: 32))","source":"a","guid":"b\u0000""#,
      "the guid has a NUL character"
    ),
    (#""summary":"a\u0007""#, "the summary has control characters"),
    (
      #""newTopics":[{"slug":"a","titles":{"en":"\#(String(repeating: "x", count: 257))"},"position":0}]"#,
      "the topic's title has 257 bytes, more than 256"
    ),
    (#""newTopics":[{"slug":null,"titles":{},"position":0}]"#, "the field \"newTopics[0].slug\" is null"),
    (#""newTopics":[{"slug":"a","position":0}]"#, "the field \"newTopics[0].titles\" is missing"),
    (#""topics":"a""#, "the field \"topics\" has the wrong type"),
  ]

  @Test("are skipped if a part of them breaks a rule", arguments: brokenParts)
  func parts(field: String, message: String) {
    let events = events(Self.line(field) + Self.line(#""title":"fine""#))
    #expect(events.complaints == ["skipped line 1: " + message])
    #expect(events.entries.map(\.title) == ["fine"])
  }

  @Test("have no source for items that editors created")
  func madeByEditor() throws {
    let entry = try entry(Self.line(#""source":"desk""#))
    #expect((entry.source, entry.guid, entry.digest) == (nil, nil, nil))
    #expect(entry.isCopy && !entry.breaking)
  }

  @Test(
    "are skipped if a field is invalid, with the field's name",
    arguments: [
      (#""id":"1""#, #"the field "id" is missing or cannot be read"#),
      (#""date":"20 Aug 2026""#, #"the field "date" is missing or cannot be read"#),
      (#""text":"""#, "has no text"),
      (#""text":"a\u0000""#, "the text has a NUL character"),
      (#""author":"a\u0007""#, "the author has control characters"),
      (#""title":"\#(String(repeating: "x", count: 1025))""#, "the title has 1025 bytes, more than 1024"),
      (#""topics":["News"]"#, #"the field "topics" is missing or cannot be read"#),
      (#""topics":[\#((1...17).map { "\"\($0)\"" }.joined(separator: ","))]"#, "has 17 topics, more than 16"),
      (#""language":"-""#, #"the field "language" is missing or cannot be read"#),
      (#""url":"javascript:alert(1)""#, #"the field "url" is missing or cannot be read"#),
      (
        #""attachments":[{"url":"data:,x","type":"image/png"}]"#,
        #"the field "attachments.url" is missing or cannot be read"#
      ),
      (
        #""attachments":[{"url":"https://example.org","type":"image/png","sha256":"\u0000"}]"#,
        #"the field "attachments.sha256" is missing or cannot be read"#
      ),
      (
        #""attachments":[{"url":"https://example.org","type":"image/png","width":0}]"#,
        #"the field "attachments.width" is missing or cannot be read"#
      ),
      (
        #""attachments":[{"url":"https://example.org","type":"image/png","bytes":-1}]"#,
        #"the field "attachments.bytes" is missing or cannot be read"#
      ),
      (#""sourceDigest":"abc""#, #"the field "sourceDigest" is missing or cannot be read"#),
      (#""sourceDigest":"0a0a""#, #"the field "sourceDigest" is missing or cannot be read"#),
      (
        #""sourceDigest":"\#(String(repeating: "0a", count: 32))-""#,
        #"the field "sourceDigest" is missing or cannot be read"#
      ),
      (
        #""sourceDigest":"\#(String(repeating: "0a", count: 32))""#, #"the field "source" is missing or cannot be read"#
      ),
      (#""newTopics":[{"slug":"A","titles":{},"position":0}]"#, #"the field "newTopics" is missing or cannot be read"#),
      (#""newTopics":[{"slug":"a","titles":{"en":"\u0000"},"position":0}]"#, "the topic's title has a NUL character"),
      (
        #""newTopics":[{"slug":"a","titles":{"?":"A"},"position":0}]"#,
        #"the topic's language "?" is not a language tag"#
      ),
    ])
  func faults(field: String, message: String) {
    let events = events(Self.line(field) + Self.line(#""title":"fine""#))
    #expect(events.complaints == ["skipped line 1: " + message])
    #expect(events.entries.map(\.title) == ["fine"])
  }

  @Test("do not bypass the sanitiser")
  func sanitised() throws {
    let entry = try entry(Self.line(#""html":"<p onclick=x>h<script>y</script></p>""#))
    #expect(entry.html == "<p>h</p>")
    #expect(try NewsFeedsTests.entry(Self.line(#""html":"<script>y</script>""#)).html == nil)
  }
}

@Suite("Lines of a newsroom")
struct NewsroomLineTests {
  @Test("are passed on only to readers that ask for them")
  func readers() {
    let text = """
      {"newsroom": {"history": true}}
       { "item" : {"id": "x"}}
      {"items": {"id": "x"}}
      {"item": "x"}

      """
    let reader = FeedReader(FeedReader.Options(readsNewsrooms: true))
    let events = reader.feed(Data(text.utf8)) + reader.finish()
    #expect(
      events.prefix(2) == [
        .newsroom(line: Data(#"{"newsroom": {"history": true}}"#.utf8), .line(1)),
        .newsroom(line: Data(#" { "item" : {"id": "x"}}"#.utf8), .line(2)),
      ])
    #expect(events.count == 4)
    // The first field of an entry may have the name of a record.
    for field in [#""topic": "sea""#, #""media": "sea""#, #""author": {"name": "Ann"}"#] {
      let line = #"{\#(field), "guid": "1", "date": "2026-01-01", "text": "x"}"#
      let reader = FeedReader(FeedReader.Options(readsNewsrooms: true))
      #expect((reader.feed(Data(line.utf8)) + reader.finish()).entries.map(\.text) == ["x"])
    }
    // A feed must not be able to set states or histories.
    let feed = FeedReader()
    for event in feed.feed(Data(text.utf8)) + feed.finish() {
      guard case .skipped = event else {
        Issue.record("\(event)")
        continue
      }
    }
  }
}
