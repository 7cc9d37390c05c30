import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct KeyTests {
  @Test("A new key authenticates with its name and permissions")
  func authenticate() async throws {
    try await NewsDatabase.withStore { store, _ in
      let key = try await store.createKey(name: "the desk", permissions: [.itemsWrite, .admin])
      #expect(key.hasPrefix("tdk_"))
      let found = try #require(try await store.authenticate(key))
      #expect(found.name == "the desk")
      #expect(found.permissions == [.itemsWrite, .admin])
      #expect(found.revoked == nil)
      #expect(try await store.createKey(name: "the desk", permissions: [.itemsWrite]) != key)
    }
  }

  @Test("Only the digest of a secret is stored: no column contains the key or the secret")
  func digestOnly() async throws {
    try await NewsDatabase.withStore { store, sql in
      let key = try await store.createKey(name: "desk", permissions: [.itemsWrite])
      let secret = try #require(key.split(separator: "_").last.map { String($0) })
      #expect(secret.utf8.count == 64)
      let hexadecimal = secret.utf8.map { String($0, radix: 16) }.joined()
      let tables = try await sql.query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        .map { try $0.decode(0, as: String.self) }
      #expect(tables.contains("api_keys"))
      for table in tables {
        let rows = try await sql.query("SELECT t::text FROM \(unsafeSQL: table) AS t")
        for row in rows {
          let text: String = try row.decode(0)
          #expect(!text.contains(secret) && !text.contains(hexadecimal), "\(table)")
        }
      }
      let stored: Bool = try await sql.value("SELECT digest = sha256(convert_to(\(secret), 'UTF8')) FROM api_keys")
      #expect(stored)
    }
  }

  @Test("A revoked key stops authenticating at once; revoking it again changes nothing, and other keys stay valid")
  func revoke() async throws {
    try await NewsDatabase.withStore { store, _ in
      let key = try await store.createKey(name: "a", permissions: [.itemsWrite])
      let other = try await store.createKey(name: "b", permissions: [.itemsWrite])
      let id = try #require(try await store.authenticate(key)).id
      try await store.revokeKey(id)
      #expect(try await store.authenticate(key) == nil)
      #expect(try await store.authenticate(other) != nil)
      let revoked = try await store.keys().first { $0.id == id }?.revoked
      #expect(revoked != nil)
      try await store.revokeKey(id)
      #expect(try await store.keys().first { $0.id == id }?.revoked == revoked)
      await #expect(throws: KeyError.unknown("nobody")) { try await store.revokeKey("nobody") }
    }
  }

  @Test("Keys that are looked up together each get their own result, over at most two connections")
  func together() async throws {
    try await NewsDatabase.withStore { store, sql in
      let keys = [
        try await store.createKey(name: "a", permissions: [.itemsWrite]),
        try await store.createKey(name: "b", permissions: [.admin]),
      ]
      let id = keys[0].split(separator: "_")[1]
      let presented = (0..<400).flatMap { number in
        [(keys[0], "a"), (keys[1], "b"), ("tdk_\(id)_\(number)", nil), ("tdk_\(number)_x", nil)] as [(String, String?)]
      }
      let lookups = try await sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        let lookups = presented.map { key, _ in Task { try await store.presentedKey(key)?.key.name } }
        try await eventually("they wait") { store.waitingKeyLookups == presented.count }
        #expect(store.connections.leased + store.connections.waiting <= 2)
        return lookups
      }
      for (lookup, (_, name)) in zip(lookups, presented) { #expect(try await lookup.value == name) }
    }
  }

  @Test("Only the complete key authenticates; the right id with another secret does not")
  func wrongKeys() async throws {
    try await NewsDatabase.withStore { store, _ in
      let key = try await store.createKey(name: "a", permissions: [.itemsWrite])
      let other = try await store.createKey(name: "b", permissions: [.itemsWrite])
      let (parts, others) = (key.split(separator: "_"), other.split(separator: "_"))
      let wrong = [
        "tdk_\(parts[1])_\(others[2])", "tdk_\(parts[1])_\(parts[2].dropLast())", "tdk_\(parts[1])_",
        "tdk_\(parts[1])_\(parts[2])0", "tdk_\(parts[1])_\(parts[2].uppercased())x", "tdx_\(parts[1])_\(parts[2])",
        key + "_", key + " ", "\(key)\u{0}", "", "tdk__", "tdk_\(parts[1])%_\(parts[2])",
        String(repeating: "a", count: 100_000),
      ]
      for text in wrong { #expect(try await store.authenticate(text) == nil, "\(text.prefix(100))") }
      #expect(try await store.authenticate(key) != nil)
    }
  }

  @Test("The list contains all keys, including revoked ones, oldest first")
  func list() async throws {
    try await NewsDatabase.withStore { store, _ in
      #expect(try await store.keys() == [])
      _ = try await store.createKey(name: "first", permissions: [.mediaWrite])
      _ = try await store.createKey(name: "second", permissions: [.admin, .itemsWrite])
      let second = try #require(try await store.keys().last)
      try await store.revokeKey(second.id)
      let keys = try await store.keys()
      #expect(keys.map(\.name) == ["first", "second"])
      #expect(keys.map(\.permissions) == [[.mediaWrite], [.admin, .itemsWrite]])
      #expect(keys.map { $0.revoked != nil } == [false, true])
    }
  }
}
