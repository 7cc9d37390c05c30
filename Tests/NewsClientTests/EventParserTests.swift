import HTTPTransfer
import NewsClient
import Testing

@Suite("A parser of server-sent events") struct EventParserTests {
  private func events(_ text: String) throws -> [EventParser.Event] {
    var parser = EventParser()
    return try parser.parse(text.utf8)
  }

  @Test("reads types, data of several lines and ids, which stay until the next one")
  func events() throws {
    let text = "\u{FEFF}: hello\nid: 1\nevent: resync\ndata: a\ndata:b\ndata\n\ndata:  c\n\nid\ndata: d\n\nid: 2\n\n"
    #expect(
      try events(text) == [
        .init(type: "resync", data: "a\nb\n", id: "1"), .init(data: " c", id: "1"), .init(data: "d", id: ""),
      ])
  }

  @Test("keeps the last id where one contains a NUL")
  func nul() throws {
    #expect(
      try events("id: 7\ndata: a\n\nid: 8\0\ndata: b\n\n") == [.init(data: "a", id: "7"), .init(data: "b", id: "7")])
  }

  @Test("reads the same events for all line endings and all chunks", arguments: ["\n", "\r", "\r\n"])
  func cuts(end: String) throws {
    let text = "id: 7\ndata: \u{1F4F0} news\n\n:\n\nretry: 2500\nfoo: bar\ndata: more\n\n"
    let bytes = Array(text.replacing("\n", with: end).utf8)
    for size in 1...bytes.count {
      var parser = EventParser()
      var found: [EventParser.Event] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        found += try parser.parse(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(found == [.init(data: "\u{1F4F0} news", id: "7"), .init(data: "more", id: "7")])
      #expect(parser.retry == 2500)
    }
  }

  @Test(
    "ignores a retry that is not all digits", arguments: ["", "-1", "1.5", "1e3", "٣", "99999999999999999999"])
  func retry(value: String) throws {
    var parser = EventParser()
    _ = try parser.parse("retry: 100\nretry: \(value)\n\n".utf8)
    #expect(parser.retry == 100)
  }

  @Test("drops an unfinished event and an event without data")
  func unfinished() throws {
    #expect(try events("event: resync\n\ndata: half").isEmpty)
    #expect(try events("event: resync\n\ndata: a\n\n") == [.init(data: "a")])
  }

  @Test("refuses an event without end")
  func endless() throws {
    var parser = EventParser()
    for _ in 0..<3 {
      _ = try parser.parse(Array("data: \(String(repeating: "x", count: EventParser.maximumEventBytes / 2))\n\n".utf8))
    }
    #expect(throws: FetchError.self) {
      for _ in 0..<3 {
        _ = try parser.parse(Array("data: \(String(repeating: "x", count: EventParser.maximumEventBytes / 2))\n".utf8))
      }
    }
  }
}
