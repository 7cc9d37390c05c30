import Foundation
import News
import TestKit
import Testing

/// The direct writer of JSON, compared with `JSONEncoder`.
@Suite struct JSONWriterTests {
  private static func expectEqual(_ value: some Encodable, _ write: (inout JSONWriter) -> Void) throws {
    var json = JSONWriter()
    write(&json)
    let expected = String(decoding: try NewsJSON.encode(value), as: UTF8.self)
    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    #expect(json.bytes.elementsEqual(expected.utf8), "canonically equivalent, but not the same bytes")
  }

  @Test("Every Unicode scalar is written as the encoder writes it")
  func scalars() throws {
    let all = (0...0x10FFFF).compactMap(Unicode.Scalar.init)
    for start in stride(from: 0, to: all.count, by: 4096) {
      var text = ""
      text.unicodeScalars.append(contentsOf: all[start..<min(start + 4096, all.count)])
      try Self.expectEqual([text]) { $0.array([text]) { $0.write($1) } }
    }
    for scalar in all.prefix(0x3000) {
      let text = String(scalar)
      try Self.expectEqual([text]) { $0.array([text]) { $0.write($1) } }
    }
  }

  @Test("Strings with escapes in any position are written as the encoder writes them")
  func escapes() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      let text = RandomNews.text(using: &random)
      try Self.expectEqual([text, "", text]) { $0.array([text, "", text]) { $0.write($1) } }
    }
    // A string that is stored as UTF-16, where Foundation has such strings.
    let bridged = NSString(string: "a\u{0}\"ü🗞\\").appending("\n") as String
    try Self.expectEqual([bridged]) { $0.array([bridged]) { $0.write($1) } }
  }

  @Test("Random items, states and events are written as the encoder writes them", arguments: slice(of: 1...20))
  func values(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let item = RandomNews.item(using: &random)
      try Self.expectEqual(item) { $0.write(item) }
      let editorial = RandomNews.editorialItem(item, using: &random)
      try Self.expectEqual(editorial) { $0.write(editorial) }
      try Self.expectEqual(item.attachments) { $0.write(item.attachments) }
      let items = EditorialItemList(
        items: [editorial, editorial].dropLast(Int.random(in: 0...2, using: &random)),
        counts: [.draft: 1, .published: Int.random(in: 1...Int.max, using: &random)])
      try Self.expectEqual(items) { $0.write(items) }
      let state = RandomNews.state(using: &random)
      try Self.expectEqual(state) { $0.write(state) }
      let event = RandomNews.event(using: &random)
      try Self.expectEqual(event) { $0.write(event) }
    }
  }

  @Test("A file as editors see it is one flat object, and can be read again")
  func files() throws {
    let ids = try ["0000000a-0000-7000-8000-00000000000b", "0000000c-0000-7000-8000-00000000000d"].map {
      try #require(UUID(uuidString: $0))
    }
    let picture = News.Attachment(url: "/a", type: "image/png", bytes: 7, width: 3, height: 2, sha256: "00")
    let list = EditorialMediaList(items: [
      EditorialMedia(
        id: ids[0], attachment: picture, name: "a.png", created: Date(timeIntervalSince1970: 1000), uses: [ids[1]],
        isPublic: true),
      EditorialMedia(
        id: ids[1], attachment: News.Attachment(url: "/b", type: "application/pdf"), name: nil,
        created: Date(timeIntervalSince1970: 0), uses: [], isPublic: false),
    ])
    let json = try NewsJSON.encode(list)
    #expect(try NewsJSON.decode(EditorialMediaList.self, from: json) == list)
    let text = String(decoding: json, as: UTF8.self)
    #expect(text.contains(#""id":"0000000a-0000-7000-8000-00000000000b""#))
    #expect(text.contains(#""uses":["0000000c-0000-7000-8000-00000000000d"]"#))
  }

  @Test("Extreme numbers and dates are written as the encoder writes them")
  func extremes() throws {
    let dates = [-1e30, -62_167_219_200.001, -0.0005, 0, 1e12, .infinity, -.infinity, .nan].map {
      Date(timeIntervalSince1970: $0)
    }
    for date in dates {
      for number in [Int.min, -1, 0, 1, Int.max] {
        let item = NewsItem(id: UUID(), version: number, date: date, text: "", updated: date)
        try Self.expectEqual(item) { $0.write(item) }
      }
    }
  }
}

/// Random values of the API.
enum RandomNews {
  /// A text of up to 40 pieces: words, escapes, combining characters and other scripts.
  static func text(using random: inout some RandomNumberGenerator) -> String {
    let pieces = [
      "ferry", " ", "\"", "\\", "/", "\n", "\r\n", "\t", "\u{0}", "\u{1f}", "\u{7f}", "\u{8}", "\u{c}", "é", "e\u{301}",
      "🗞", "👩‍👩‍👧", "\u{2028}", "\u{feff}", "</script>", "&amp;", "漢字", "\u{10ffff}", "\u{301}",
    ]
    return (0..<Int.random(in: 0...40, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }

  private static func some<Value>(
    using random: inout some RandomNumberGenerator, _ value: (inout SplitMix64) -> Value
  ) -> Value? {
    var own = SplitMix64(seed: random.next())
    return Bool.random(using: &random) ? value(&own) : nil
  }

  private static func date(using random: inout some RandomNumberGenerator) -> Date {
    Date(
      timeIntervalSince1970: Double(Int.random(in: -70_000_000_000_000...260_000_000_000_000, using: &random)) / 1000)
  }

  static func item(using random: inout some RandomNumberGenerator) -> NewsItem {
    NewsItem(
      id: UUID(), version: Int.random(in: 0...Int.max, using: &random), date: date(using: &random),
      text: text(using: &random), title: some(using: &random) { text(using: &$0) },
      summary: some(using: &random) { text(using: &$0) }, html: some(using: &random) { text(using: &$0) },
      topics: (0..<Int.random(in: 0...16, using: &random)).map { _ in text(using: &random) },
      language: some(using: &random) { text(using: &$0) }, url: some(using: &random) { text(using: &$0) },
      author: some(using: &random) { text(using: &$0) }, breaking: Bool.random(using: &random),
      attachments: (0..<Int.random(in: 0...3, using: &random)).map { _ in attachment(using: &random) },
      updated: date(using: &random))
  }

  static func editorialItem(_ item: NewsItem, using random: inout some RandomNumberGenerator) -> EditorialItem {
    EditorialItem(
      item: item, hasDate: Bool.random(using: &random),
      state: EditorialItem.State.allCases.randomElement(using: &random) ?? .draft,
      publishAt: some(using: &random) { date(using: &$0) }, expireAt: some(using: &random) { date(using: &$0) },
      revision: Int.random(in: 1...Int.max, using: &random),
      retractionReason: some(using: &random) { text(using: &$0) },
      erased: some(using: &random) { date(using: &$0) }, edited: date(using: &random))
  }

  private static func attachment(using random: inout some RandomNumberGenerator) -> News.Attachment {
    func number(_ random: inout SplitMix64) -> Int { Int.random(in: 0...1 << 53, using: &random) }
    return News.Attachment(
      url: text(using: &random), type: text(using: &random), bytes: some(using: &random, number),
      width: some(using: &random, number), height: some(using: &random, number),
      alt: some(using: &random) { text(using: &$0) }, caption: some(using: &random) { text(using: &$0) },
      credit: some(using: &random) { text(using: &$0) }, sha256: some(using: &random) { text(using: &$0) })
  }

  private static func token(using random: inout some RandomNumberGenerator) -> SyncToken {
    SyncToken(
      epoch: "k3x9qa", scope: .feed, version: Int.random(in: 0...SyncToken.maximumVersion, using: &random),
      isPartial: Bool.random(using: &random))
  }

  static func state(using random: inout some RandomNumberGenerator) -> FeedState {
    let slugs = ["a", "a-b", "ab", "a1", "a-", "-", "9", "10", "sport", "sport2", "sport10"]
    var topics: [String: SyncToken] = [:]
    for slug in slugs where Bool.random(using: &random) { topics[slug] = token(using: &random) }
    return FeedState(
      feed: token(using: &random), topics: topics, union: some(using: &random) { token(using: &$0) })
  }

  static func event(using random: inout some RandomNumberGenerator) -> ChangeEvent {
    ChangeEvent(
      token: token(using: &random), ids: (0..<Int.random(in: 0...20, using: &random)).map { _ in UUID() },
      topics: (0..<Int.random(in: 0...3, using: &random)).map { _ in text(using: &random) })
  }
}
