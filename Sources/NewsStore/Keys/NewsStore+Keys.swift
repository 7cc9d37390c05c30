import Foundation
import PostgresClient
import Synchronization

extension NewsStore {
  /// Creates a key.
  ///
  /// - Parameters:
  ///   - id: The id, as `APIKey.randomID()` returns it. A caller that repeats the creation creates one key.
  ///   - name: A human-readable label.
  ///   - permissions: The permissions, at least one.
  ///   - topics: The topics to which the key is restricted, at least one; nil for no restriction. A key with the permission
  ///     `admin` cannot be restricted.
  ///   - expiry: The end of the key's validity; nil for none.
  /// - Returns: The key, `tdk_ID_SECRET`. Only its digest is stored, so it cannot be shown again.
  /// - Throws: `StoreError.unknownTopics`, `outcomeUnknown`; `KeyError.exists`, `expiryPassed`.
  public func createKey(
    id: String = APIKey.randomID(), name: String, permissions: [APIKey.Permission], topics: [String]? = nil,
    expiry: KeyExpiry? = nil
  ) async throws -> String {
    let key = PresentedKey.random(id: id)
    let topics = topics.map { Set($0).sorted() }
    let expires: PostgresQuery =
      switch expiry {
      case .after(let time): "clock_timestamp() + make_interval(secs => \(time / .seconds(1)))"
      case .at(let date): "\(date)"
      case nil: "NULL"
      }
    try await database.transaction { transaction in
      // The locks keep the topics until the commit. Their deletion then finds the key.
      let existing = try await transaction.query(
        "SELECT slug FROM topics WHERE slug = ANY (\(topics ?? [])) ORDER BY slug FOR KEY SHARE")
      let found = Set(try existing.map { try $0.decode("slug", as: String.self) })
      let unknown = (topics ?? []).filter { !found.contains($0) }
      guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
      let created = try await transaction.query(
        """
        INSERT INTO api_keys (id, name, scopes, digest, topics, expires_at)
        VALUES (\(key.id), \(name), \(permissions.map(\.rawValue)), \(Data(key.digest)), \(topics), \(query: expires))
        ON CONFLICT (id) DO NOTHING
        RETURNING \(query: APIKey.columns)
        """
      ).map(APIKey.init(row:))
      guard let created = created.first else { throw KeyError.exists(id) }
      guard created.state == .valid else { throw KeyError.expiryPassed }
    }
    return key.text
  }

  /// Lists all keys, including revoked and expired ones, oldest first.
  public func keys() async throws -> [APIKey] {
    try await database.query("SELECT \(query: APIKey.columns) FROM api_keys ORDER BY created_at, id")
      .map(APIKey.init(row:))
  }

  /// Finds a key by its id or its name. Keys that work precede expired ones with the same name, and these precede revoked
  /// ones.
  ///
  /// - Throws: `KeyError.unknown`; `ambiguous` if several keys that are not revoked have the name.
  public func key(_ idOrName: String) async throws -> APIKey {
    let keys = try await database.query(
      "SELECT \(query: APIKey.columns) FROM api_keys WHERE id = \(idOrName) OR name = \(idOrName) ORDER BY created_at, id"
    ).map(APIKey.init(row:))
    if let key = keys.first(where: { $0.id == idOrName }) { return key }
    for state in [APIKey.State.valid, .expired] {
      let keys = keys.filter { $0.state == state }
      guard keys.count <= 1 else { throw KeyError.ambiguous(idOrName, ids: keys.map(\.id)) }
      if let key = keys.first { return key }
    }
    guard let revoked = keys.last else { throw KeyError.unknown(idOrName) }
    return revoked
  }

  /// Replaces the secret of a key. Its name, permissions, topics and expiry stay. A secret that was replaced before ends at
  /// once.
  ///
  /// - Parameters:
  ///   - id: The id of the key.
  ///   - secretName: The name of the secret to replace; nil for the present one. A caller that repeats the rotation replaces
  ///     one secret.
  ///   - overlap: The time for which the present secret works too; 0 to end it at once. Other processes refuse it as soon as
  ///     they are notified, and at the latest after a second.
  /// - Returns: The key with the new secret, which cannot be shown again.
  /// - Throws: `KeyError.unknown`, `revoked`, `expired`, `rotated`; `StoreError.outcomeUnknown`.
  public func rotateKey(_ id: String, replacing secretName: String? = nil, overlap: Duration) async throws -> String {
    let key = PresentedKey.random(id: id)
    try await database.transaction { transaction in
      let rows = try await transaction.query(
        "SELECT \(query: APIKey.columns) FROM api_keys WHERE id = \(id) FOR NO KEY UPDATE")
      guard let found = try rows.first.map(APIKey.init(row:)) else { throw KeyError.unknown(id) }
      switch found.state {
      case .revoked: throw KeyError.revoked(found.name)
      case .expired: throw KeyError.expired(found.name)
      case .valid: break
      }
      guard secretName.map({ $0 == found.secretName }) ?? true else { throw KeyError.rotated(found.name) }
      _ = try await transaction.query(
        """
        UPDATE api_keys SET digest = \(Data(key.digest)), previous_digest = digest,
          previous_until = clock_timestamp() + make_interval(secs => \(overlap / .seconds(1)))
        WHERE id = \(id)
        """)
    }
    keyLookups.forget()
    return key.text
  }

  /// Revokes a key for good, with all its secrets. A repeat has no effect. This process refuses the key at once, others as
  /// soon as they are notified, and at the latest after a second.
  ///
  /// - Parameter id: The id of the key.
  /// - Throws: `KeyError.unknown`.
  public func revokeKey(_ id: String) async throws {
    let rows = try await database.query(
      "UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = \(id) RETURNING id")
    keyLookups.forget()
    if rows.isEmpty { throw KeyError.unknown(id) }
  }

  /// Finds the valid key that a request presents.
  ///
  /// - Returns: nil for anything but a valid key. The time of the comparison does not depend on where the secrets
  ///   differ.
  /// - Throws: `StoreError.unavailable`, also after the timeout of a look-up.
  public func authenticate(_ text: String) async throws -> APIKey? {
    guard let found = try await presentedKey(text), found.refusal == nil else { return nil }
    return found.key
  }

  /// Finds the key that a request presents, even if it is refused. The use of a key that is not refused is noted.
  ///
  /// - Returns: The key, and the reason for which it is refused, which is nil for a valid key; nil for anything but a key of
  ///   this installation. The time of the comparison does not depend on where the secrets differ.
  /// - Throws: `StoreError.unavailable`, also after the timeout of a look-up.
  public func presentedKey(_ text: String) async throws -> (key: APIKey, refusal: KeyRefusal?)? {
    guard let presented = PresentedKey(text) else { return nil }
    let found = try await keyLookups.value(presented.id)
    guard let found, let secret = found.secret(of: presented) else { return nil }
    let refusal = found.refusal(of: secret)
    if refusal == nil { keyUses.note(found.key.id) }
    return (found.key, refusal)
  }

  /// Returns the id of a key, if there was one with this id lately. Its secret is not compared.
  package func knownKey(_ text: String) -> String? {
    PresentedKey(text).flatMap { keyLookups.isKnown($0.id) ? $0.id : nil }
  }

  /// Whether keys are remembered between look-ups.
  package var remembersKeys: Bool { keyLookups.remembers }

  /// The number of pending key look-ups.
  package var waitingKeyLookups: Int { keyLookups.callers }
}

extension Database {
  /// Reads the existing keys among these ids, by id.
  func keys(_ ids: [String]) async throws -> [String: StoredKey] {
    let keys = try await query("SELECT \(query: StoredKey.columns) FROM api_keys WHERE id = ANY(\(ids))")
      .map(StoredKey.init(row:))
    return Dictionary(uniqueKeysWithValues: keys.map { ($0.key.id, $0) })
  }
}

/// The last uses of keys in this process, on their way to the database. A use costs no statement: a key is recorded at
/// most once in an interval.
package final class KeyUses: Sendable {
  /// A use that is to be recorded.
  package struct Use: Equatable, Sendable {
    /// The id of the key.
    package let key: String
    /// The time since the use.
    package let age: Duration

    package init(key: String, age: Duration) {
      self.key = key
      self.age = age
    }
  }

  private struct Entry {
    var used: ContinuousClock.Instant
    var isRecorded = false
    /// The time of the last record.
    var recorded: ContinuousClock.Instant?
  }

  /// The minimum time between two records of a key.
  package static var interval: Duration { .seconds(60) }

  private let entries = Mutex<[String: Entry]>([:])
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// The number of keys in memory, which were used or recorded within the last interval.
  package var count: Int { entries.withLock { $0.count } }

  /// Notes the use of an existing key.
  package func note(_ key: String) {
    let now = now()
    entries.withLock { $0[key] = Entry(used: now, recorded: $0[key]?.recorded) }
  }

  /// Takes the uses that are to be recorded now.
  ///
  /// - Parameter all: Whether to take a use although its key was recorded less than an interval ago.
  package func take(all: Bool) -> [Use] {
    let now = now()
    return entries.withLock { entries in
      var uses: [Use] = []
      for (key, entry) in entries {
        let isDue = entry.recorded.map { now - $0 >= Self.interval } ?? true
        if !entry.isRecorded, isDue || all {
          uses.append(Use(key: key, age: now - entry.used))
          entries[key] = Entry(used: entry.used, isRecorded: true, recorded: now)
        } else if entry.isRecorded, isDue {
          entries[key] = nil
        }
      }
      return uses
    }
  }

  /// Puts uses back that could not be recorded. They are due after the next interval.
  package func putBack(_ uses: [Use]) {
    entries.withLock { entries in
      for use in uses { entries[use.key]?.isRecorded = false }
    }
  }
}

extension NewsStore {
  /// The interval at which due uses are looked for. It bounds the delay of a key's first use.
  private static let keyUseStep: Duration = .seconds(5)

  /// Records the last uses of keys until the task is cancelled, and the remaining ones at the end.
  func keepKeyUses() async {
    while (try? await Task.sleep(for: Self.keyUseStep)) != nil { await recordKeyUses() }
    // The statements of a cancelled task are cancelled.
    await Task { await recordKeyUses(all: true) }.value
  }

  /// Records the last uses of keys that are due. Uses that cannot be recorded now are recorded later.
  ///
  /// - Parameter all: Whether to record keys that were recorded less than a minute ago too.
  package func recordKeyUses(all: Bool = false) async {
    let uses = keyUses.take(all: all)
    guard !uses.isEmpty else { return }
    do {
      // In a transaction, which is repeated after a deadlock with another process.
      try await database.transaction { transaction in
        _ = try await transaction.query(
          """
          UPDATE api_keys AS k
          SET used_at = greatest(k.used_at, clock_timestamp() - make_interval(secs => u.age))
          FROM unnest(\(uses.map(\.key)), \(uses.map { $0.age / .seconds(1) })) AS u (id, age) WHERE k.id = u.id
          """)
      }
    } catch {
      keyUses.putBack(uses)
    }
  }
}
