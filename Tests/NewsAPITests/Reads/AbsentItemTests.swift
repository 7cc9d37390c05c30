import Foundation
import News
import NewsAPI
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct AbsentItemTests {
  private static func state(_ version: Int, epoch: String = "aaaaaa", changed: [(UUID, Int)] = []) -> FeedSnapshot {
    var recent = FeedSnapshot.RecentChanges(after: 0)
    recent.add(changed.map { .init(item: $0.0, version: $0.1) })
    return FeedSnapshot(
      feedVersion: FeedVersion(epoch: epoch, version: version),
      scopes: ["": FeedSnapshot.ScopeState(version: version, floor: 0, shiftedAt: .distantPast)], reach: [epoch: .max],
      recent: recent)
  }

  @Test("An absence is known until the item changes, and for a second at most")
  func lifetime() {
    let start = ContinuousClock.now
    let now = Mutex(start)
    let items = AbsentItems { now.withLock { $0 } }
    let (absent, other) = (UUID(), UUID())
    items.insert(.notFound, of: absent, after: Self.state(5))
    #expect(items.error(of: absent, in: Self.state(5)) == .notFound)
    #expect(items.error(of: other, in: Self.state(5)) == nil)
    #expect(items.error(of: absent, in: Self.state(9, changed: [(other, 9)])) == .notFound)
    #expect(items.error(of: absent, in: Self.state(9, changed: [(absent, 6)])) == nil)
    #expect(items.error(of: absent, in: Self.state(9, epoch: "bbbbbb")) == nil)
    now.withLock { $0 = start + .milliseconds(999) }
    #expect(items.error(of: absent, in: Self.state(5)) == .notFound)
    now.withLock { $0 = start + .seconds(1) }
    #expect(items.error(of: absent, in: Self.state(5)) == nil)
    items.insert(.retracted(reason: .retracted, detail: "why"), of: absent, after: Self.state(5))
    #expect(items.error(of: absent, in: Self.state(5)) == .retracted(reason: .retracted, detail: "why"))
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
      try await eventually("the new reason is returned") {
        String(decoding: try await server.get("/v1/items/\(id)").body, as: UTF8.self).contains("second")
      }
    }
  }
}
