import Foundation
import News
import NewsAPI
import NewsStore
import TestKit
import Testing

@Suite struct ParameterFuzzTests {
  private static let fragments = [
    "limit", "topics", "from", "at", "author", "include", "=", "=", "&", "&", "=1", "=200", "=-1", "%", "%0", "%00",
    "%26",
    "%3D", "%ff", "%C3%A9", "+", "a", ",", "a-b", "A", "html", "2026-01-01T00:00:00Z", "999999999999999999999", ";",
    "#",
    "é", "\u{0}", " ", "[", "1k3v9q20m1xe.2t",
  ]

  @Test("Any query yields either valid values or a problem")
  func queries() async {
    var generator = SplitMix64(seed: 3986)
    var accepted = 0
    for number in 0..<30_000 {
      // Tests share the threads with servers of other tests, which must response in time.
      if number % 100 == 0 { await Task.yield() }
      let query = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
        Self.fragments.randomElement(using: &generator) ?? ""
      }.joined()
      var parameters = QueryParameters(query, known: ["limit", "topics", "from", "at", "author", "include"])
      let limit = parameters.integer("limit", in: 1...200, default: 50)
      let scope = parameters.scope()
      let author = parameters.text("author", maximumBytes: 8)
      _ = (parameters.date("from"), parameters.token("at"), parameters.includesHTML())
      #expect(1...200 ~= limit)
      #expect(scope.topics.allSatisfy { TopicSlug.isValid($0) })
      #expect(author?.isEmpty != true && author?.utf8.contains(0) != true && author?.utf8.count ?? 0 <= 8)
      if (try? parameters.check()) != nil { accepted += 1 }
    }
    #expect(accepted > 1_000)
  }

  @Test("A cursor is decoded to its position; a changed one is refused, or is the only text of another position")
  func cursors() async throws {
    var generator = SplitMix64(seed: 8288)
    for number in 0..<5_000 {
      if number % 100 == 0 { await Task.yield() }
      let cursor = PageCursor(filters: ["items", Bool.random(using: &generator) ? nil : "a"])
      let milliseconds = Int.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
      let keyset = Keyset(date: Date(timeIntervalSince1970: Double(milliseconds) / 1000), id: UUID())
      let text = cursor.text(keyset)
      let same = try #require(cursor.keyset(text))
      #expect(same.id == keyset.id)
      #expect(RFC3339.milliseconds(of: same.date) == RFC3339.milliseconds(of: keyset.date))
      var bytes = Array(text.utf8)
      bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...127, using: &generator)
      if Int.random(in: 0..<10, using: &generator) == 0 { bytes.removeLast() }
      let changed = String(decoding: bytes, as: UTF8.self)
      if let other = cursor.keyset(changed) { #expect(cursor.text(other) == changed) }
      #expect(PageCursor(filters: ["changes"]).keyset(text) == nil)
    }
  }
}
