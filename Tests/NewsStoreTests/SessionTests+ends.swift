import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The ends of sessions.
extension SessionTests {
  @Test("A session ends 12 hours after its last use, which moves at most once a minute")
  func idleEnd() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, token, session) = try await Self.open(store)
      #expect(abs(session.expiresAt.timeIntervalSince(session.createdAt) - 12 * 3600) < 0.001)
      func shift(_ time: String) async throws {
        _ = try await sql.query("UPDATE console_sessions SET used_at = used_at - \(time)::text::interval")
      }
      try await shift("30 seconds")
      let stored: Date = try await sql.value("SELECT used_at FROM console_sessions")
      let same = try #require(try await store.session(token: token))
      #expect(same.lastUsedAt == stored)
      #expect(try await sql.value("SELECT used_at FROM console_sessions") == stored)

      try await shift("11 hours 58 minutes")
      let moved = try #require(try await store.session(token: token))
      #expect(moved.lastUsedAt > stored)
      #expect(try await sql.value("SELECT used_at FROM console_sessions") == moved.lastUsedAt)
      #expect(abs(moved.expiresAt.timeIntervalSince(moved.lastUsedAt) - 12 * 3600) < 0.001)

      try await shift("12 hours")
      #expect(try await store.session(token: token) == nil)
      #expect(try await store.sessions().isEmpty)
    }
  }

  @Test("A session ends after 30 days, however often it is used")
  func absoluteEnd() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, token, _) = try await Self.open(store)
      _ = try await sql.query("UPDATE console_sessions SET created_at = created_at - interval '29 days 23 hours'")
      let last = try #require(try await store.session(token: token))
      #expect(abs(last.expiresAt.timeIntervalSince(last.createdAt) - 30 * 86_400) < 0.001)
      _ = try await sql.query("UPDATE console_sessions SET created_at = created_at - interval '1 hour'")
      #expect(try await store.session(token: token) == nil)
      #expect(try await store.sessions().isEmpty)
    }
  }

  @Test("A look-up does not wait for a row that others have locked")
  func lockedRow() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, token, session) = try await Self.open(store)
      _ = try await sql.query("UPDATE console_sessions SET used_at = used_at - interval '1 hour'")
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM console_sessions FOR UPDATE")
        #expect(try await store.session(token: token)?.id == session.id)
      }
    }
  }

  @Test("A revocation deletes the key's sessions and links, also by plain SQL, and no others")
  func revocation() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, kept, _) = try await Self.open(store, name: "other")
      let link = try await store.createSignInLink(forKeyNamed: "other")
      for isPlain in [false, true] {
        let name = "desk \(isPlain)"
        let (_, token, session) = try await Self.open(store, name: name)
        let code = try await store.createSignInLink(forKeyNamed: name).code
        #expect(try await Self.counts(sql) == [2, 2])
        if isPlain {
          _ = try await sql.query("UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = \(session.key.id)")
        } else {
          try await store.revokeKey(session.key.id)
        }
        #expect(try await Self.counts(sql) == [1, 1])
        #expect(try await store.session(token: token) == nil)
        #expect(try await store.openSession(code: code) == nil)
      }
      #expect(try await store.session(token: kept) != nil)
      #expect(try await store.openSession(code: link.code) != nil)
    }
  }

  @Test("A sign-in that waits for the revocation of its key opens nothing", arguments: [true, false])
  func revocationMeanwhile(byLink: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      let key = try await store.createKey(name: "desk", permissions: [.admin])
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let signIn = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE api_keys SET revoked_at = clock_timestamp()")
        let signIn = Task {
          try await byLink ? store.openSession(code: code) != nil : store.openSession(key: key) != nil
        }
        let waiting: PostgresQuery = """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          """
        try await eventually("the sign-in waits") { try await sql.value(waiting) == 1 }
        return signIn
      }
      #expect(try await signIn.value == false)
      #expect(try await Self.counts(sql) == [0, 0])
    }
  }

  @Test("Sessions end with the expiry of their key")
  func keyExpiry() async throws {
    try await NewsDatabase.withStore { store, sql in
      let key = try await store.createKey(name: "desk", permissions: [.admin], expiry: .after(.seconds(3600)))
      let (token, session) = try #require(try await store.openSession(key: key))
      #expect(session.expiresAt == session.key.expires)
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      _ = try await sql.query("UPDATE api_keys SET expires_at = clock_timestamp()")
      #expect(try await store.session(token: token) == nil)
      #expect(try await store.sessions().isEmpty)
      #expect(try await store.openSession(code: code) == nil)
    }
  }

  @Test("A session ends with the secret with which it began: at the end of the overlap after a rotation")
  func rotation() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (key, token, session) = try await Self.open(store)
      let id = session.key.id
      let code = try await store.createSignInLink(forKeyNamed: "desk").code
      let unused = try await store.createSignInLink(forKeyNamed: "desk").code
      let new = try await store.rotateKey(id, overlap: .seconds(3600))
      let ending = try #require(try await store.session(token: token))
      #expect(ending.expiresAt == ending.key.previousSecretEnd)
      // A link belongs to the secret that the key had when it was made.
      let linked = try #require(try await store.openSession(code: code))
      #expect(linked.session.expiresAt == ending.expiresAt)
      let late = try #require(try await store.openSession(key: key))
      let lasting = try #require(try await store.openSession(key: new))
      #expect(lasting.session.expiresAt > ending.expiresAt)

      _ = try await sql.query("UPDATE api_keys SET previous_until = clock_timestamp()")
      for old in [token, linked.token, late.token] { #expect(try await store.session(token: old) == nil) }
      #expect(try await store.openSession(code: unused) == nil)
      #expect(try await store.sessions().map(\.id) == [lasting.session.id])

      // Without an overlap, it ends at once. The rows of the secret before that are deleted.
      _ = try await store.rotateKey(id, overlap: .zero)
      #expect(try await store.session(token: lasting.token) == nil)
      #expect(try await Self.counts(sql) == [1, 0])
    }
  }

  @Test("A key has at most 50 sessions; a further one ends the one with the oldest use")
  func limit() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (_, other, _) = try await Self.open(store, name: "other")
      _ = try await sql.query("UPDATE console_sessions SET used_at = used_at - interval '6 hours'")
      let key = try await store.createKey(name: "desk", permissions: [.admin])
      var opened: [Opened] = []
      for _ in 0..<ConsoleSession.maximumPerKey { opened.append(try #require(try await store.openSession(key: key))) }
      _ = try await sql.query(
        "UPDATE console_sessions SET used_at = used_at - interval '5 hours' WHERE id = \(opened[20].session.id)")
      let last = try #require(try await store.openSession(key: key))
      #expect(try await store.session(token: opened[20].token) == nil)
      let ids = Set(try await store.sessions().filter { $0.key.name == "desk" }.map(\.id))
      #expect(ids.count == ConsoleSession.maximumPerKey)
      #expect(ids == Set((opened + [last]).map(\.session.id)).subtracting([opened[20].session.id]))
      #expect(try await store.session(token: other) != nil)
    }
  }

  @Test("Sessions are listed with the newest use first, and ended one by one or by their key")
  func endings() async throws {
    try await NewsDatabase.withStore { store, sql in
      #expect(try await store.sessions().isEmpty)
      let (_, first, one) = try await Self.open(store, name: "a")
      let (_, second, two) = try await Self.open(store, name: "b")
      let code = try await store.createSignInLink(forKeyNamed: "b").code
      let three = try #require(try await store.openSession(code: code)).session
      let unused = try await store.createSignInLink(forKeyNamed: "b").code
      _ = try await sql.query("UPDATE console_sessions SET used_at = used_at - interval '1 hour' WHERE id = \(two.id)")
      #expect(try await store.sessions().map(\.id) == [three.id, one.id, two.id])
      #expect(try await store.sessions().map(\.key.name) == ["b", "a", "b"])

      #expect(try await store.endSession(one.id))
      #expect(try await store.endSession(one.id) == false)
      #expect(try await store.session(token: first) == nil)
      #expect(try await store.endSessions(ofKeyNamed: "a") == 0)
      #expect(try await store.session(token: second) != nil)
      #expect(try await store.endSessions(ofKeyNamed: "b") == 2)
      #expect(try await store.session(token: second) == nil)
      #expect(try await store.openSession(code: unused) == nil)
      #expect(try await store.sessions().isEmpty)
      await #expect(throws: KeyError.unknown("c")) { try await store.endSessions(ofKeyNamed: "c") }
    }
  }

  @Test(
    "Ended sessions and expired links are purged, and valid ones are kept",
    arguments: [
      "UPDATE console_sessions SET used_at = used_at - interval '12 hours' WHERE key = (TABLE old)",
      "UPDATE console_sessions SET created_at = created_at - interval '30 days' WHERE key = (TABLE old)",
      "UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = (TABLE old)",
      """
      UPDATE api_keys SET digest = '\\x00', previous_digest = digest, previous_until = clock_timestamp()
      WHERE id = (TABLE old)
      """,
    ])
  func purge(change: String) async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await Self.open(store, name: "old")
      let (_, token, _) = try await Self.open(store, name: "new")
      _ = try await store.createSignInLink(forKeyNamed: "old")
      _ = try await sql.query("UPDATE console_links SET created_at = created_at - interval '10 minutes'")
      let link = try await store.createSignInLink(forKeyNamed: "new")
      try await store.purgeSessions()
      #expect(try await Self.counts(sql) == [2, 1])
      _ = try await sql.query("WITH old AS (SELECT id FROM api_keys WHERE name = 'old') \(unsafeSQL: change)")
      try await store.purgeSessions()
      #expect(try await Self.counts(sql) == [1, 1])
      #expect(try await store.session(token: token) != nil)
      #expect(try await store.openSession(code: link.code) != nil)
    }
  }
}
