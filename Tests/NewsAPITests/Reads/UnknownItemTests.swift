import Foundation
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite struct UnknownItemTests {
  @Test("An id is unknown until an item with it is published, in one history")
  func lifetime() {
    let items = UnknownItems()
    let (unknown, other) = (UUID(), UUID())
    items.insert(unknown, after: FeedSnapshot.at(5))
    #expect(items.contains(unknown, in: FeedSnapshot.at(5)))
    #expect(!items.contains(other, in: FeedSnapshot.at(5)))
    #expect(items.contains(unknown, in: FeedSnapshot.at(9, changed: [(other, 9)])))
    #expect(!items.contains(unknown, in: FeedSnapshot.at(9, changed: [(unknown, 6)])))
    #expect(!items.contains(unknown, in: FeedSnapshot.at(9, epoch: "bbbbbb")))
  }

  @Test("An id that was requested before it existed is found once it is published, and gone once it is retracted")
  func published() async throws {
    try await TestServer.with { server in
      let id = UUID()
      func status() async throws -> Int { try await server.get("/v1/items/\(id)").status }
      for _ in 0..<3 { #expect(try await status() == 404) }
      let made = try await server.write(
        "POST", "items", #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "x"}"#)
      #expect(made.status == 201)
      for _ in 0..<3 { #expect(try await status() == 200) }
      try await server.store.retract(id, reason: "first", if: .exists)
      for _ in 0..<3 { #expect(try await status() == 410) }
      // An erasure has no version of its own.
      _ = try await server.store.erase(id, reason: "second", if: .none)
      #expect(try await server.get("/v1/items/\(id)").text.contains("second"))
    }
  }
}
