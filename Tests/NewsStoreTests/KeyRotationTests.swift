import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The expiry of keys, and the replacement of their secrets.
@Suite struct KeyRotationTests {
  private static func refusal(_ key: String, _ store: NewsStore) async throws -> KeyRefusal? {
    try #require(try await store.presentedKey(key)).refusal
  }

  @Test("After a rotation both secrets work until the overlap ends, and everything else of the key stays")
  func overlap() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sport")
      let old = try await store.createKey(
        name: "desk", permissions: [.itemsPublish, .pushSend], topics: ["sport"], expiry: .after(.seconds(86_400)))
      let before = try await store.key("desk")
      #expect(before.previousSecretEnd == nil)
      let new = try await store.rotateKey(before.id, overlap: .seconds(3600))
      #expect(new != old && new.hasPrefix("tdk_\(before.id)_"))
      var after = try await store.key("desk")
      let end = try #require(after.previousSecretEnd)
      #expect(abs(end.timeIntervalSince(before.created) - 3600) < 600)
      after.previousSecretEnd = nil
      #expect(after.secretName != before.secretName)
      after.secretName = before.secretName
      #expect(after == before)
      for key in [old, new] { #expect(try await store.authenticate(key)?.id == before.id) }

      _ = try await sql.query("UPDATE api_keys SET previous_until = clock_timestamp()")
      #expect(try await Self.refusal(old, store) == .replaced)
      #expect(try await store.authenticate(old) == nil)
      #expect(try await store.authenticate(new) != nil)
      #expect(try await store.key("desk").previousSecretEnd == nil)
    }
  }

  @Test("Without an overlap the old secret ends at once, and a second rotation ends the oldest one")
  func oldest() async throws {
    try await NewsDatabase.withStore { store, _ in
      let first = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      let id = try await store.key("desk").id
      let second = try await store.rotateKey(id, overlap: .seconds(3600))
      let third = try await store.rotateKey(id, overlap: .seconds(3600))
      #expect(try await store.presentedKey(first) == nil)
      #expect(try await store.authenticate(second) != nil)
      #expect(try await store.authenticate(third) != nil)
      let fourth = try await store.rotateKey(id, overlap: .zero)
      #expect(try await Self.refusal(third, store) == .replaced)
      #expect(try await store.authenticate(fourth) != nil)
      #expect(try await store.keys().count == 1)
    }
  }

  @Test("A revocation ends both secrets at once")
  func revocation() async throws {
    try await NewsDatabase.withStore { store, _ in
      let old = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      let id = try await store.key("desk").id
      let new = try await store.rotateKey(id, overlap: .seconds(3600))
      try await store.revokeKey(id)
      for key in [old, new] { #expect(try await Self.refusal(key, store) == .revoked) }
      #expect(try await store.key("desk").previousSecretEnd == nil)
    }
  }

  @Test("Concurrent rotations leave two secrets that work: the last and the one before it")
  func concurrent() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      let id = try await store.key("desk").id
      let keys = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<8 { group.addTask { try await store.rotateKey(id, overlap: .seconds(3600)) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      var valid = 0
      for key in keys where try await store.authenticate(key) != nil { valid += 1 }
      #expect(valid == 2)
    }
  }

  @Test("Keys that are revoked, expired or unknown are not rotated")
  func refused() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "gone", permissions: [.itemsWrite])
      _ = try await store.createKey(name: "old", permissions: [.itemsWrite])
      let (gone, old) = (try await store.key("gone").id, try await store.key("old").id)
      try await store.revokeKey(gone)
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = \(old)")
      await #expect(throws: KeyError.revoked("gone")) { try await store.rotateKey(gone, overlap: .zero) }
      await #expect(throws: KeyError.expired("old")) { try await store.rotateKey(old, overlap: .zero) }
      await #expect(throws: KeyError.unknown("nobody")) { try await store.rotateKey("nobody", overlap: .zero) }
    }
  }

  @Test("An expired key is refused from its time on, and one that would expire in the past is not created")
  func expiry() async throws {
    try await NewsDatabase.withStore { store, sql in
      let end = Date(timeIntervalSince1970: 4_102_444_800)
      let key = try await store.createKey(name: "dated", permissions: [.itemsWrite], expiry: .at(end))
      #expect(try await store.authenticate(key)?.expires == end)
      _ = try await store.createKey(name: "timed", permissions: [.itemsWrite], expiry: .after(.seconds(90 * 86_400)))
      let timed = try await store.key("timed")
      #expect(abs(try #require(timed.expires).timeIntervalSince(timed.created) - 90 * 86_400) < 600)
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE name = 'dated'")
      #expect(try await Self.refusal(key, store) == .expired)
      #expect(try await store.authenticate(key) == nil)
      #expect(try await store.key("dated").state == .expired)
      for past: KeyExpiry in [.at(.newYear), .after(.zero)] {
        await #expect(throws: KeyError.expiryPassed) {
          _ = try await store.createKey(name: "past", permissions: [.itemsWrite], expiry: past)
        }
      }
      #expect(try await store.keys().map(\.name) == ["dated", "timed"])
    }
  }

  @Test("A name means the key that works; several of them must be distinguished by their ids")
  func names() async throws {
    try await NewsDatabase.withStore { store, sql in
      await #expect(throws: KeyError.unknown("desk")) { try await store.key("desk") }
      func make(_ name: String) async throws -> String {
        String(try await store.createKey(name: name, permissions: [.itemsWrite]).split(separator: "_")[1])
      }
      let first = try await make("desk")
      try await store.revokeKey(first)
      #expect(try await store.key("desk").id == first)
      let second = try await make("desk")
      #expect(try await store.key("desk").id == second)
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = \(second)")
      #expect(try await store.key("desk").id == second)
      let third = try await make("desk")
      #expect(try await store.key("desk").id == third)
      let fourth = try await make("desk")
      await #expect(throws: KeyError.ambiguous("desk", ids: [third, fourth])) { try await store.key("desk") }
      #expect(try await store.key(third).id == third)
      // An id is not mistaken for the name of another key.
      _ = try await make(third)
      #expect(try await store.key(third).id == third)
    }
  }
}
