import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The sessions of the console, and the links that begin them.
@Suite struct SessionTests {
  typealias Opened = (token: String, session: ConsoleSession)

  /// Creates a key and opens a session with it.
  static func open(
    _ store: NewsStore, name: String = "desk", permissions: [APIKey.Permission] = [.itemsPublish]
  ) async throws -> (key: String, token: String, session: ConsoleSession) {
    let key = try await store.createKey(name: name, permissions: permissions)
    let opened = try #require(try await store.openSession(key: key))
    return (key, opened.token, opened.session)
  }

  static func counts(_ sql: PostgresPool) async throws -> [Int] {
    [
      try await sql.value("SELECT count(*) FROM console_sessions"),
      try await sql.value("SELECT count(*) FROM console_links"),
    ]
  }

  @Test("A link opens one session, which has the rights of its key")
  func link() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.createKey(name: "the desk", permissions: [.itemsWrite, .mediaWrite])
      let link = try await store.createSignInLink(forKeyNamed: "the desk")
      #expect(link.code.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
      let (token, session) = try #require(try await store.openSession(code: link.code))
      #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil && token != link.code)
      #expect(session.key.name == "the desk" && session.key.permissions == [.itemsWrite, .mediaWrite])
      let found = try #require(try await store.session(token: token))
      #expect(found.id == session.id && found.key.id == session.key.id)
      #expect(found.createdAt == session.createdAt && found.lastUsedAt == session.lastUsedAt)
      #expect(try await store.openSession(code: link.code) == nil)
      #expect(try await store.sessions().map(\.id) == [session.id])
      let other = try await store.createSignInLink(forKeyNamed: session.key.id)
      #expect(try await store.openSession(code: other.code)?.session.key.id == session.key.id)
    }
  }

  @Test("Concurrent uses of a link open one session")
  func concurrentUses() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "desk", permissions: [.admin])
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let opened = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 { group.addTask { try await store.openSession(code: code) != nil } }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(opened == 1)
      #expect(try await Self.counts(sql) == [1, 0])
    }
  }

  @Test("A link ends after ten minutes by the database's clock")
  func linkExpiry() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "desk", permissions: [.admin])
      let first = try await store.createSignInLink(forKeyNamed: "desk")
      let created: Date = try await sql.value("SELECT created_at FROM console_links")
      #expect(abs(first.expiresAt.timeIntervalSince(created) - 600) < 0.001)
      _ = try await sql.query("UPDATE console_links SET created_at = created_at - interval '9 minutes'")
      #expect(try await store.openSession(code: first.code) != nil)
      let second = try await store.createSignInLink(forKeyNamed: "desk")
      _ = try await sql.query("UPDATE console_links SET created_at = created_at - interval '10 minutes'")
      #expect(try await store.openSession(code: second.code) == nil)
      #expect(try await Self.counts(sql) == [1, 0])
      // A new link removes the expired ones of its key.
      _ = try await store.createSignInLink(forKeyNamed: "desk")
      _ = try await sql.query("UPDATE console_links SET created_at = created_at - interval '10 minutes'")
      let third = try await store.createSignInLink(forKeyNamed: "desk")
      #expect(try await Self.counts(sql) == [1, 1])
      #expect(try await store.openSession(code: third.code) != nil)
    }
  }

  @Test("Only a valid key gets a link, and the error names what is wrong")
  func refusedLinks() async throws {
    try await NewsDatabase.withStore { store, sql in
      await #expect(throws: KeyError.unknown("nobody")) { try await store.createSignInLink(forKeyNamed: "nobody") }
      for _ in 0..<2 { _ = try await store.createKey(name: "twin", permissions: [.admin]) }
      let twins = try await store.keys().map(\.id)
      await #expect(throws: KeyError.ambiguous("twin", ids: twins)) {
        try await store.createSignInLink(forKeyNamed: "twin")
      }
      _ = try await store.createKey(name: "gone", permissions: [.admin])
      try await store.revokeKey(try await store.key("gone").id)
      await #expect(throws: KeyError.revoked("gone")) { try await store.createSignInLink(forKeyNamed: "gone") }
      _ = try await store.createKey(name: "old", permissions: [.admin])
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE name = 'old'")
      await #expect(throws: KeyError.expired("old")) { try await store.createSignInLink(forKeyNamed: "old") }
      #expect(try await Self.counts(sql) == [0, 0])
    }
  }

  @Test("A valid key opens a session; a key that is revoked, expired, replaced, unknown or incomplete does not")
  func keys() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (key, token, _) = try await Self.open(store)
      #expect(try await store.session(token: token)?.key.name == "desk")
      for wrong in ["", key + "0", String(key.dropLast()), token, "tdk_0_0", String(repeating: "a", count: 100_000)] {
        #expect(try await store.openSession(key: wrong) == nil, "\(wrong.prefix(100))")
      }
      let id = try await store.key("desk").id
      let new = try await store.rotateKey(id, overlap: .seconds(3600))
      #expect(try await store.openSession(key: key) != nil)
      _ = try await sql.query("UPDATE api_keys SET previous_until = clock_timestamp()")
      #expect(try await store.openSession(key: key) == nil)
      #expect(try await store.openSession(key: new) != nil)
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp()")
      #expect(try await store.openSession(key: new) == nil)
      _ = try await sql.query("UPDATE api_keys SET expires_at = NULL")
      #expect(try await store.openSession(key: new) != nil)
      try await store.revokeKey(id)
      #expect(try await store.openSession(key: new) == nil)
    }
  }

  @Test("Only the complete token is a session, and a code or a key is not one")
  func wrongTokens() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (key, token, session) = try await Self.open(store)
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let last = token.hasSuffix("A") ? "B" : "A"
      let wrong = [
        "", key, code, session.id.uuidString, token + "=", token + "A", String(token.dropLast()),
        String(token.dropLast()) + last, " " + token, "\(token)\u{0}", "+" + String(token.dropFirst()),
        String(repeating: "é", count: 43), String(repeating: "a", count: 1_000_000),
      ]
      for text in wrong {
        #expect(try await store.session(token: text) == nil, "\(text.prefix(100))")
      }
      for text in wrong where text != code { #expect(try await store.openSession(code: text) == nil) }
      #expect(try await store.openSession(code: token) == nil)
      #expect(try await store.session(token: token) != nil)
    }
  }

  @Test("Only digests are stored: no column contains a token, a code or their bytes")
  func digestsOnly() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, token, _) = try await Self.open(store)
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let secrets = try [token, code].flatMap { text -> [String] in
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        let bytes = try #require(Data(base64Encoded: base64))
        #expect(bytes.count == 32)
        return [text] + [Array(bytes), Array(text.utf8)].map { $0.map { String(format: "%02x", $0) }.joined() }
      }
      for table in ["console_sessions", "console_links", "api_keys"] {
        for row in try await sql.query("SELECT t::text FROM \(unsafeSQL: table) AS t") {
          let text: String = try row.decode(0)
          for secret in secrets { #expect(!text.contains(secret), "\(table)") }
        }
      }
      for (table, secret) in [("console_sessions", token), ("console_links", code)] {
        let isDigest: Bool = try await sql.value(
          "SELECT digest = sha256(convert_to(\(secret), 'UTF8')) FROM \(unsafeSQL: table)")
        #expect(isDigest, "\(table)")
      }
    }
  }

  @Test("A change of the key's scopes and topics takes effect with the next look-up")
  func currentRights() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, token, _) = try await Self.open(store, permissions: [.itemsPublish, .mediaWrite])
      _ = try await sql.query("UPDATE api_keys SET scopes = '{items:write}', topics = '{sport}'")
      let restricted = try #require(try await store.session(token: token)).key
      #expect(restricted.permissions == [.itemsWrite])
      #expect(restricted.access == ItemAccess(mayPublish: false, topics: ["sport"]))
      _ = try await sql.query("UPDATE api_keys SET topics = NULL, name = 'other'")
      let renamed = try #require(try await store.session(token: token)).key
      #expect(renamed.topics == nil && renamed.name == "other")
    }
  }

  @Test("A use counts for the key too")
  func keyUse() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.createKey(name: "desk", permissions: [.admin])
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let opened: Opened = try #require(try await store.openSession(code: code))
      await store.recordKeyUses()
      let first = try #require(try await store.key("desk").lastUse)
      #expect(try await store.session(token: opened.token) != nil)
      await store.recordKeyUses(all: true)
      #expect(try #require(try await store.key("desk").lastUse) > first)
    }
  }
}
