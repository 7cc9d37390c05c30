import Foundation
import HTTPEdge
import NewsAPI
import NewsStore
import TestKit
import Testing

/// The cost of parsing. The threads that parse a request also serve all others, so its cost must be linear in its size.
@Suite struct `The cost of reading requests` {
  /// Parts of texts. Two combining characters out of canonical order make comparing or hashing strings slow.
  private static let pieces = [
    "a", "0", "A", "-", "_", ".", ",", "+", "=", "&", "%", "%41", "%2", "/", " ", "\\", "\"", "é", "🇩🇪",
    "\u{316}\u{301}", "%CC%96%CC%81", "a,", "a=1&", "limit=1&", "b-", "a/",
  ]

  private static func text(_ start: String, _ piece: String, _ size: Int) -> String {
    start + String(repeating: piece, count: size / piece.utf8.count)
  }

  @Test(arguments: ["", "e", "limit=", "topics=e", "from=2", "since=e", "include=e", "author=e"])
  func `Parsing a query takes linear time`(_ start: String) {
    for piece in Self.pieces {
      let growth = growth(from: 16_000, of: { Self.text(start, piece, $0) }) { query in
        var parameters = QueryParameters(
          query, known: ["limit", "topics", "from", "since", "include", "author"])
        _ = parameters.integer("limit", in: 1...200, default: 50)
        _ = parameters.scope()
        _ = (parameters.date("from"), parameters.token("since"), parameters.includesHTML())
        _ = parameters.text("author", maximumBytes: 256)
        _ = try? parameters.check()
      }
      #expect(growth < linearGrowth, "\(piece.debugDescription)")
    }
  }

  @Test(arguments: pieces)
  func `Parsing a cursor takes linear time`(_ piece: String) {
    let cursor = PageCursor(filters: ["items"])
    #expect(growth(from: 16_000, of: { Self.text("e", piece, $0) }, in: { _ = cursor.keyset($0) }) < linearGrowth)
    let growth = growth(from: 16_000, of: { PageCursor(filters: [Self.text("e", piece, $0)]) }) { cursor in
      _ = cursor.text(.init(date: .distantPast, id: UUID()))
    }
    #expect(growth < linearGrowth)
  }

  /// A kind of body, generated in any size.
  struct Shape: Sendable, CustomTestStringConvertible {
    var name: String
    var make: @Sendable (Int) -> String

    var testDescription: String { name }

    static func list(_ element: String) -> Shape {
      Shape(name: "a list of \(element)") { size in
        "[" + Array(repeating: element, count: size / (element.utf8.count + 1)).joined(separator: ",") + "]"
      }
    }

    static func long(_ start: String, _ text: String, _ end: String = "") -> Shape {
      Shape(name: "\(start)\(text.debugDescription)...\(end)") { size in
        start + String(repeating: text, count: size / text.utf8.count) + end
      }
    }
  }

  private static let shapes: [Shape] =
    [
      "0", "-1.5e3", "true", "null", "\"\"", "\"a\"", "[]", "{}", "{\"a\":1}", "[[[[1]]]]", " 1 ", #""\u0041\n""#,
      "\"e\u{316}\u{301}\"", "{\"e\u{316}\u{301}\":0}",
    ].map { Shape.list($0) } + [
      .long("\"", "a", "\""), .long("\"", "\\n", "\""), .long("\"", #"\ud83d\ude00"#, "\""), .long("\"", "é", "\""),
      .long("\"e", "\u{316}\u{301}", "\""), .long("\"e", #"\u0316\u0301"#, "\""),
      .long("{\"e", "\u{316}\u{301}", "\":0}"),
      .long("", " "), .long("", "0"), .long("1", "0"), .long("1.", "0"), .long("-", "-"), .long("1e", "0"),
      .long("", "["), .long("", "{\"a\":"), .long("\"", "\\"), .long("\"", "a"), .long("[", "0,"),
      .long("[1", " ", "]"),
      .long("[", "\"a\" "), .long("{\"a\":0", ",\"a\":0"),
      Shape(name: "an object with many keys") { size in
        "{" + (0..<size / 12).map { "\"key\($0)\":0" }.joined(separator: ",") + "}"
      },
      Shape(name: "an object with many keys of combining characters") { size in
        let marks = String(repeating: "\u{316}\u{301}", count: 20)
        return "{" + (0..<size / 90).map { "\"\($0)\(marks)\":0" }.joined(separator: ",") + "}"
      },
    ]

  @Test(arguments: shapes)
  func `Parsing JSON takes linear time`(_ shape: Shape) {
    let make = { (size: Int) -> [UInt8] in Array(shape.make(size).utf8) }
    let growth = growth(from: 30_000, of: make) { (bytes: [UInt8]) in
      do {
        _ = try JSONValue.parse(bytes)
      } catch {
        _ = (error as? StrictJSONError)?.message
      }
    }
    #expect(growth < linearGrowth)
  }

  /// The fields of bodies, each with a prefix of a value that passes the first checks.
  private static let fields = [
    ("id", "0"), ("state", "e"), ("date", "2026-01-01T00:00:00."), ("text", " "), ("title", "e"), ("language", "e"),
    ("url", "http://a.example/"), ("breaking", "e"), ("slug", "e"), ("unknown", "e"),
  ]

  @Test(arguments: fields)
  func `Parsing a field of a body takes linear time`(_ name: String, _ start: String) {
    for piece in Self.pieces {
      let make = { (size: Int) -> JSONValue in .string(Self.text(start, piece, size)) }
      let growth = growth(from: 16_000, of: make) { (value: JSONValue) in
        _ = try? ItemBody([name: value], html: nil)
        _ = try? TopicBody([name: value], needsSlug: true)
      }
      #expect(growth < linearGrowth, "\(piece.debugDescription)")
    }
  }

  @Test(arguments: ["e", "http://a.example/", "/v1/media/", "image/"])
  func `Parsing attachments, topics and titles takes linear time`(_ start: String) {
    for piece in Self.pieces {
      let make = { (size: Int) -> JSONValue in .string(Self.text(start, piece, size)) }
      let growth = growth(from: 16_000, of: make) { (value: JSONValue) in
        let attachment: [String: JSONValue] = ["url": value, "type": value, "alt": value, "sha256": value]
        _ = try? ItemBody(["attachments": .array([.object(attachment)])], html: nil)
        _ = try? ItemBody(["topics": .array([value])], html: nil)
        _ = try? TopicBody(["titles": .object(["en": value])], needsSlug: false)
      }
      #expect(growth < linearGrowth, "\(piece.debugDescription)")
    }
  }

  @Test func `Many fields are read in time in proportion to their number`() {
    let make = { (size: Int) in
      Dictionary(uniqueKeysWithValues: (0..<size).map { ("field\($0)", JSONValue.integer($0)) })
    }
    #expect(growth(from: 4000, of: make, in: { _ = try? ItemBody($0, html: nil) }) < linearGrowth)
    let attachments = { (size: Int) in
      ["attachments": JSONValue.array((0..<32).map { _ in .object(make(size / 32)) })]
    }
    #expect(
      growth(from: 4000, of: attachments, in: { _ = try? ItemBody($0, html: nil) }) < linearGrowth)
  }
}
