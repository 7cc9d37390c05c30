import Crypto
public import Foundation
import PostgresClient

/// An API key of an editor or a program, without its secret.
public struct APIKey: Sendable, Equatable {
  /// A permission of a key.
  public enum Permission: String, Sendable, CaseIterable, Codable {
    /// Permission to read items in any state, and to write drafts.
    case itemsWrite = "items:write"
    /// Permission to write and change everything that readers see or will see, topics included. It includes `items:write`.
    case itemsPublish = "items:publish"
    /// Permission to upload media.
    case mediaWrite = "media:write"
    /// Permission to send notifications.
    case pushSend = "push:send"
    /// All permissions, including every other permission.
    case admin
  }

  /// The public id, which is part of the key.
  public var id: String
  /// A human-readable label.
  public var name: String
  /// The permissions.
  public var permissions: [Permission]
  /// The time of creation.
  public var created: Date
  /// The time of revocation; nil while the key is valid.
  public var revoked: Date?

  /// Whether the key has a permission. `admin` includes all others, `items:publish` includes `items:write`.
  public func allows(_ permission: Permission) -> Bool {
    permissions.contains(permission) || permissions.contains(.admin)
      || permission == .itemsWrite && permissions.contains(.itemsPublish)
  }
}

extension NewsStore {
  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: A human-readable label.
  ///   - permissions: The permissions, at least one.
  /// - Returns: The key, `tdk_ID_SECRET`. Only its digest is stored, so it cannot be shown again.
  public func createKey(name: String, permissions: [APIKey.Permission]) async throws -> String {
    let key = PresentedKey.random()
    _ = try await database.query(
      """
      INSERT INTO api_keys (id, name, scopes, digest)
      VALUES (\(key.id), \(name), \(permissions.map(\.rawValue)), \(Data(key.digest)))
      """)
    return key.text
  }

  /// Lists all keys, including revoked ones, oldest first.
  public func keys() async throws -> [APIKey] {
    try await database.query(
      "SELECT id, name, scopes, created_at, revoked_at FROM api_keys ORDER BY created_at, id"
    ).map(APIKey.init(row:))
  }

  /// Revokes a key for good. A repeat has no effect. This process refuses the key at once, others as soon as they are
  /// notified, and at the latest after a second.
  ///
  /// - Throws: `StoreError.notFound`.
  public func revokeKey(_ id: String) async throws {
    let rows = try await database.query(
      "UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = \(id) RETURNING id")
    keyLookups.forget()
    if rows.isEmpty { throw StoreError.notFound }
  }

  /// Finds the valid key that a request presents.
  ///
  /// - Returns: nil for anything but a valid key. The time of the comparison does not depend on where the secrets
  ///   differ.
  /// - Throws: `StoreError.unavailable`, also after the timeout of a look-up.
  public func authenticate(_ text: String) async throws -> APIKey? {
    guard let key = try await presentedKey(text), key.revoked == nil else { return nil }
    return key
  }

  /// Finds the key that a request presents, even if it is revoked. The caller refuses a revoked key, which is returned
  /// only for the log.
  ///
  /// - Returns: nil for anything but a key of this installation. The time of the comparison does not depend on where
  ///   the secrets differ.
  /// - Throws: `StoreError.unavailable`, also after the timeout of a look-up.
  public func presentedKey(_ text: String) async throws -> APIKey? {
    guard let key = PresentedKey(text) else { return nil }
    let found = try await DatabaseTime.measuring {
      try await keyLookups.key(key.id, waitingAtMost: Self.keyLookupTimeout)
    }
    guard let found, key.matches(found.digest) else { return nil }
    return found.key
  }

  /// Whether keys are remembered between look-ups.
  package var remembersKeys: Bool { keyLookups.remembers }

  /// The number of pending key look-ups.
  package var waitingKeyLookups: Int { keyLookups.callers }

  /// The timeout of a key look-up, after which the request is refused.
  private static let keyLookupTimeout: Duration = .seconds(10)
}

/// A key and the digest of its secret.
struct StoredKey: Sendable {
  let key: APIKey
  let digest: Data
}

extension Database {
  /// Reads the existing keys among these ids, by id.
  func keys(_ ids: [String]) async throws -> [String: StoredKey] {
    let rows = try await query(
      "SELECT id, name, scopes, created_at, revoked_at, digest FROM api_keys WHERE id = ANY(\(ids))")
    let keys = try rows.map { StoredKey(key: try APIKey(row: $0), digest: try $0.decode("digest")) }
    return Dictionary(uniqueKeysWithValues: keys.map { ($0.key.id, $0) })
  }
}

extension APIKey {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), name: try row.decode("name"),
      permissions: try row.decode("scopes", as: [String].self).compactMap(Permission.init(rawValue:)),
      created: try row.decode("created_at"), revoked: try row.decode("revoked_at"))
  }
}

/// A key as sent by a client.
private struct PresentedKey {
  let id: String
  let secret: String

  var text: String { "tdk_\(id)_\(secret)" }

  /// The SHA-256 digest of the secret. The secret has 256 random bits, so no slower hash is needed against guessing.
  var digest: SHA256Digest { SHA256.hash(data: Data(secret.utf8)) }

  static func random() -> PresentedKey {
    PresentedKey(id: hexadecimal(bytes: 6), secret: hexadecimal(bytes: 32))
  }

  private static func hexadecimal(bytes: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<bytes).map { _ in
      let digits = String(UInt8.random(in: .min ... .max, using: &generator), radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Compares digests in a time that does not depend on where they differ, as `==` of swift-crypto does.
  func matches(_ stored: Data) -> Bool { digest == stored }
}

extension PresentedKey {
  init?(_ text: String) {
    guard text.utf8.count <= 128, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).map(Substring.init)
    guard parts.count == 3, parts[0] == "tdk", !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
    self.init(id: String(parts[1]), secret: String(parts[2]))
  }
}
