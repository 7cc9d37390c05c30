import Crypto
public import Foundation
import PostgresClient

/// A key of an editor or a program, without its secret.
public struct APIKey: Sendable, Equatable {
  /// What a key may do.
  public enum Scope: String, Sendable, CaseIterable, Codable {
    /// Read, write and publish items and topics.
    case itemsWrite = "items:write"
    /// Store media.
    case mediaWrite = "media:write"
    /// Everything: it includes all other scopes.
    case admin
  }

  /// Public, and part of the key.
  public var id: String
  /// For people, to know it by.
  public var name: String
  /// What it may do.
  public var scopes: [Scope]
  /// When it was made.
  public var created: Date
  /// When it was made invalid; nil while it is valid.
  public var revoked: Date?

  /// Whether the scopes of the key include a scope. `admin` includes every other one.
  public func allows(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }
}

extension NewsStore {
  /// Makes a key.
  ///
  /// - Parameters:
  ///   - name: For people, to know it by.
  ///   - scopes: At least one.
  /// - Returns: The key, `tdk_ID_SECRET`. It is stored as a digest only and cannot be shown again.
  public func createKey(name: String, scopes: [APIKey.Scope]) async throws -> String {
    let key = PresentedKey.random()
    _ = try await database.query(
      """
      INSERT INTO api_keys (id, name, scopes, digest)
      VALUES (\(key.id), \(name), \(scopes.map(\.rawValue)), \(key.digest))
      """)
    return key.text
  }

  /// Lists all keys, the revoked ones too, oldest first.
  public func keys() async throws -> [APIKey] {
    try await database.query(
      "SELECT id, name, scopes, created_at, revoked_at FROM api_keys ORDER BY created_at, id"
    ).map(APIKey.init(row:))
  }

  /// Makes a key invalid at once and for good; doing so again changes nothing.
  ///
  /// - Throws: `StoreError.notFound`.
  public func revokeKey(_ id: String) async throws {
    let rows = try await database.query(
      "UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = \(id) RETURNING id")
    if rows.isEmpty { throw StoreError.notFound }
  }

  /// Finds the key that a request presents.
  ///
  /// - Returns: nil for anything but a valid key, in the same time wherever it differs.
  public func authenticate(_ text: String) async throws -> APIKey? {
    guard let key = try await presentedKey(text), key.revoked == nil else { return nil }
    return key
  }

  /// Finds the key that a request presents, a revoked one included. The caller refuses the latter: it is returned for the
  /// log alone.
  ///
  /// - Returns: nil for anything but a key of this installation, in the same time wherever it differs.
  /// - Throws: `StoreError.unavailable`, also for a look-up that has waited too long.
  public func presentedKey(_ text: String) async throws -> APIKey? {
    guard let key = PresentedKey(text) else { return nil }
    let found = try await DatabaseTime.measuring {
      try await keyLookups.key(key.id, waitingAtMost: Self.longestKeyLookup)
    }
    guard let found, key.matches(found.digest) else { return nil }
    return found.key
  }

  /// The number of key look-ups that wait for the database.
  package var waitingKeyLookups: Int { keyLookups.callers }

  /// After so long a request is refused whose key has not been looked up.
  private static let longestKeyLookup: Duration = .seconds(10)
}

/// A key with the digest of its secret.
struct StoredKey: Sendable {
  let key: APIKey
  let digest: Data
}

extension Database {
  /// The keys that exist among these ids, by id.
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
      scopes: try row.decode("scopes", as: [String].self).compactMap(Scope.init(rawValue:)),
      created: try row.decode("created_at"), revoked: try row.decode("revoked_at"))
  }
}

/// A key as its holder sends it.
private struct PresentedKey {
  let id: String
  let secret: String

  var text: String { "tdk_\(id)_\(secret)" }

  /// SHA-256 of the secret. It has 256 random bits, so nothing slower is needed against guessing.
  var digest: Data { Data(SHA256.hash(data: Data(secret.utf8))) }

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

  /// Compares in a time that does not depend on where the digests differ.
  func matches(_ stored: Data) -> Bool {
    let own = digest
    guard own.count == stored.count else { return false }
    return zip(own, stored).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension PresentedKey {
  init?(_ text: String) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    guard text.utf8.count <= 128, parts.count == 3, parts[0] == "tdk", !parts[1].isEmpty, !parts[2].isEmpty,
      text.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else { return nil }
    self.init(id: String(parts[1]), secret: String(parts[2]))
  }
}
