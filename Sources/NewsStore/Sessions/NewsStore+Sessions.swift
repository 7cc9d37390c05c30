public import Foundation
import Logging
import PostgresClient

extension NewsStore {
  /// Creates a link that signs a browser in with a key.
  ///
  /// - Parameter name: The name or the id of the key.
  /// - Throws: `KeyError.unknown`, `ambiguous`; `revoked` or `expired` if the key does not work;
  ///   `StoreError.outcomeUnknown`.
  public func createSignInLink(forKeyNamed name: String) async throws -> SignInLink {
    let id = try await key(name).id
    let code = ConsoleSecret.random()
    return try await database.transaction { transaction in
      guard let stored = try await Self.lockedKey(id, in: transaction) else { throw KeyError.unknown(name) }
      switch stored.key.state {
      case .revoked: throw KeyError.revoked(stored.key.name)
      case .expired: throw KeyError.expired(stored.key.name)
      case .valid: break
      }
      let lifetime = ConsoleSession.interval(SignInLink.lifetime)
      let answers = try await transaction.pipeline([
        "DELETE FROM console_links WHERE key = \(id) AND created_at <= clock_timestamp() - \(query: lifetime)",
        """
        INSERT INTO console_links (digest, key, key_digest) VALUES (\(code.digest), \(id), \(stored.digest))
        RETURNING created_at + \(query: lifetime) AS expires_at
        """,
      ])
      guard let row = answers[1].first else { throw StoreFault("the insertion of a link returned no row") }
      return SignInLink(code: code.text, expiresAt: try row.decode("expires_at"))
    }
  }

  /// Opens a session with the code of a link. The code is used up, even if it has expired.
  ///
  /// - Returns: The token of the session, which is stored as a digest only, and the session; nil if the code is unknown, was
  ///   used or has expired, or if its key is not valid.
  /// - Throws: `StoreError.unavailable`, `outcomeUnknown`.
  public func openSession(code: String) async throws -> (token: String, session: ConsoleSession)? {
    guard let code = ConsoleSecret(code) else { return nil }
    let isKnown = try await strangers.links.value(code.digest)
    guard isKnown != nil else { return nil }
    let token = ConsoleSecret.random()
    let session: ConsoleSession? = try await database.transaction { transaction in
      // The key is locked before the link, as in a revocation.
      let links = try await transaction.query("SELECT key FROM console_links WHERE digest = \(code.digest)")
      guard let id = try links.first?.decode("key", as: String.self),
        let stored = try await Self.lockedKey(id, in: transaction)
      else { return nil }
      let used = try await transaction.query(
        """
        DELETE FROM console_links WHERE digest = \(code.digest)
        RETURNING key_digest,
          created_at > clock_timestamp() - \(query: ConsoleSession.interval(SignInLink.lifetime)) AS is_current
        """)
      guard let link = used.first, try link.decode("is_current", as: Bool.self) else { return nil }
      let keyDigest = try link.decode("key_digest", as: Data.self)
      return try await Self.insertSession(token, stored, keyDigest, in: transaction)
    }
    guard let session else { return nil }
    keyUses.note(session.key.id)
    return (token.text, session)
  }

  /// Opens a session with a key.
  ///
  /// - Parameter secret: The key as `createKey` returns it.
  /// - Returns: The token of the session, which is stored as a digest only, and the session; nil for anything but a valid
  ///   key.
  /// - Throws: `StoreError.unavailable`, also after the timeout of a look-up; `outcomeUnknown`.
  public func openSession(key secret: String) async throws -> (token: String, session: ConsoleSession)? {
    // Look-ups share their queries, so that wrong keys do not occupy the connections.
    guard let presented = PresentedKey(secret), try await authenticate(secret) != nil else { return nil }
    let token = ConsoleSecret.random()
    let session: ConsoleSession? = try await database.transaction { transaction in
      // A look-up may be a second old.
      guard let stored = try await Self.lockedKey(presented.id, in: transaction), stored.secret(of: presented) != nil
      else { return nil }
      return try await Self.insertSession(token, stored, Data(presented.digest), in: transaction)
    }
    return session.map { (token.text, $0) }
  }

  /// Finds the session of a token, and records the use of the session and of its key.
  ///
  /// - Returns: nil if the token is unknown, or if the session has ended.
  /// - Throws: `StoreError.unavailable`.
  public func session(token: String) async throws -> ConsoleSession? {
    guard let token = ConsoleSecret(token) else { return nil }
    let session = try await strangers.sessions.value(token.digest)
    guard let session else { return nil }
    keyUses.note(session.key.id)
    return session
  }

  /// Whether there was a session with a token lately.
  package func isKnownSession(token: String) -> Bool {
    ConsoleSecret(token).map { strangers.sessions.isKnown($0.digest) } ?? false
  }

  /// Lists sessions that have not ended, those with the newest use first.
  ///
  /// - Parameters:
  ///   - key: The id of their key; nil for all sessions.
  ///   - limit: The maximum number of sessions; nil for no maximum.
  ///   - offset: The number of sessions to leave out before.
  public func sessions(
    ofKey key: String? = nil, limit: Int? = nil, offset: Int = 0
  ) async throws -> [ConsoleSession] {
    let condition: PostgresQuery = key.map { "s.key = \($0) AND" } ?? ""
    return try await database.query(
      """
      \(query: ConsoleSession.selection) WHERE \(query: condition) \(query: ConsoleSession.isActive)
      ORDER BY s.used_at DESC, s.id LIMIT \(limit) OFFSET \(offset)
      """
    ).map { try ConsoleSession(row: $0) }
  }

  /// Returns a session as it is now, without recording a use.
  ///
  /// - Returns: nil if the session has ended.
  /// - Throws: `StoreError.unavailable`.
  public func session(_ id: UUID) async throws -> ConsoleSession? {
    try await database.query(
      "\(query: ConsoleSession.selection) WHERE s.id = \(id) AND \(query: ConsoleSession.isActive)"
    ).first.map { try ConsoleSession(row: $0) }
  }

  /// Ends a session at once.
  ///
  /// - Returns: Whether there was a session with the id.
  /// - Throws: `StoreError.unavailable`.
  @discardableResult
  public func endSession(_ id: UUID) async throws -> Bool {
    try await database.query("DELETE FROM console_sessions WHERE id = \(id)").affected > 0
  }

  /// Ends all sessions of a key at once, and its links.
  ///
  /// - Parameter name: The name or the id of the key.
  /// - Returns: The number of ended sessions.
  /// - Throws: `KeyError.unknown`, `ambiguous`; `StoreError.outcomeUnknown`.
  @discardableResult
  public func endSessions(ofKeyNamed name: String) async throws -> Int {
    let id = try await key(name).id
    return try await database.transaction { transaction in
      _ = try await Self.lockedKey(id, in: transaction)
      let answers = try await transaction.pipeline([
        "DELETE FROM console_links WHERE key = \(id)", "DELETE FROM console_sessions WHERE key = \(id)",
      ])
      return answers[1].affected
    }
  }

  /// Locks a key against other changes and sign-ins.
  private static func lockedKey(_ id: String, in transaction: PostgresTransaction) async throws -> StoredKey? {
    try await transaction.query(
      "SELECT \(query: StoredKey.columns) FROM api_keys WHERE id = \(id) FOR NO KEY UPDATE"
    ).first.map(StoredKey.init(row:))
  }

  /// Inserts a session, and ends the one with the oldest use if the key has too many.
  ///
  /// - Parameters:
  ///   - stored: The key, which the transaction has locked.
  ///   - keyDigest: The digest of the secret with which the session begins.
  /// - Returns: nil if the key is not valid, or does not have the secret.
  private static func insertSession(
    _ token: ConsoleSecret, _ stored: StoredKey, _ keyDigest: Data, in transaction: PostgresTransaction
  ) async throws -> ConsoleSession? {
    guard stored.accepts(keyDigest) else { return nil }
    let id = stored.key.id
    let answers = try await transaction.pipeline([
      "INSERT INTO console_sessions (digest, key, key_digest) VALUES (\(token.digest), \(id), \(keyDigest))",
      """
      DELETE FROM console_sessions WHERE id IN (
        SELECT s.id FROM console_sessions AS s WHERE s.key = \(id) AND s.digest <> \(token.digest)
        ORDER BY s.used_at DESC, s.id OFFSET \(ConsoleSession.maximumPerKey - 1))
      """,
      "\(query: ConsoleSession.selection) WHERE s.digest = \(token.digest) AND \(query: ConsoleSession.isActive)",
    ])
    return try answers[2].first.map { try ConsoleSession(row: $0) }
  }
}

extension Database {
  /// Finds the sessions that have not ended among these digests of tokens, and records their uses.
  func sessions(_ digests: [Data]) async throws -> [Data: ConsoleSession] {
    // A row that another query has locked is left to it, so that no request waits.
    let rows = try await query(
      """
      WITH found AS (
        \(query: ConsoleSession.selection) WHERE s.digest = ANY (\(digests)) AND \(query: ConsoleSession.isActive)
      ), recorded AS (
        UPDATE console_sessions AS s SET used_at = clock_timestamp()
        WHERE s.id IN (
          SELECT d.id FROM found AS f JOIN console_sessions AS d ON d.id = f.session_id
          WHERE d.used_at <= clock_timestamp() - \(query: ConsoleSession.interval(ConsoleSession.useInterval))
          FOR NO KEY UPDATE OF d SKIP LOCKED)
        RETURNING s.id, s.used_at
      )
      SELECT f.*, s.digest AS session_digest, r.used_at AS recorded_use
      FROM found AS f JOIN console_sessions AS s ON s.id = f.session_id LEFT JOIN recorded AS r ON r.id = f.session_id
      """)
    return try rows.reduce(into: [:]) { found, row in
      found[try row.decode("session_digest", as: Data.self)] = try ConsoleSession(
        row: row, use: row.decode("recorded_use", as: Date?.self))
    }
  }
}

extension StoredKey {
  /// Whether the key works with the secret that has a digest, which comes from the database or belongs to a secret of the
  /// key. The time of the comparison need not be constant.
  fileprivate func accepts(_ digest: Data) -> Bool {
    if digest == self.digest { return refusal(of: .current) == nil }
    return digest == previousDigest && refusal(of: .previous) == nil
  }
}

extension NewsStore {
  /// Deletes the sessions that have ended, and the links that have expired. Rows that others have locked are left for the
  /// next time.
  package func purgeSessions() async throws {
    _ = try await scheduleDatabase.query(
      """
      DELETE FROM console_sessions WHERE id IN (
        SELECT s.id FROM console_sessions AS s JOIN api_keys AS k ON k.id = s.key
        WHERE \(query: ConsoleSession.isActive) IS NOT TRUE FOR UPDATE OF s SKIP LOCKED)
      """)
    _ = try await scheduleDatabase.query(
      """
      DELETE FROM console_links WHERE digest IN (
        SELECT s.digest FROM console_links AS s
        WHERE s.created_at <= clock_timestamp() - \(query: ConsoleSession.interval(SignInLink.lifetime))
        FOR UPDATE OF s SKIP LOCKED)
      """)
  }
}
