import Crypto
public import Foundation
import News
import PostgresClient

/// An API key of an editor or a program, without its secrets. It outlasts them: a rotation replaces the secret of the same
/// key.
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

  /// Whether a key works, by the database's clock at the time of the read.
  public enum State: String, Sendable {
    case valid, expired, revoked
  }

  /// The public id, which is part of the key.
  public var id: String
  /// A human-readable label.
  public var name: String
  /// The permissions.
  public var permissions: [Permission]
  /// The topics to which the key is restricted, sorted; nil for no restriction. The list is empty if all of them were
  /// deleted.
  public var topics: [String]?
  /// Whether the key works.
  public var state: State
  /// The time of creation.
  public var created: Date
  /// The time from which on the key is refused; nil for a key that does not expire.
  public var expires: Date?
  /// The time of revocation; nil for a key that was not revoked.
  public var revoked: Date?
  /// The time of the last use, which running servers record within a minute; nil before the first one.
  public var lastUse: Date?
  /// The time until which the secret from before the last rotation works too; nil if it does not.
  public var previousSecretEnd: Date?
  /// The name of the present secret, which changes with each rotation. The secret cannot be derived from it.
  public var secretName: String

  /// The access of the key to items.
  public var access: ItemAccess {
    ItemAccess(mayPublish: allows(.itemsPublish), topics: topics.map { Set($0) })
  }

  /// Whether the key has a permission. `admin` includes all others, `items:publish` includes `items:write`.
  public func allows(_ permission: Permission) -> Bool {
    permissions.contains(permission) || permissions.contains(.admin)
      || permission == .itemsWrite && permissions.contains(.itemsPublish)
  }
}

/// The reason why a key of this installation is refused.
public enum KeyRefusal: Sendable {
  /// The key was revoked.
  case revoked
  /// The key has expired.
  case expired
  /// The secret was replaced by a rotation whose overlap has ended.
  case replaced
}

/// The end of a new key's validity.
public enum KeyExpiry: Sendable, Equatable {
  /// A time after the creation, by the database's clock.
  case after(Duration)
  case at(Date)
}

/// An error of the management of keys.
public enum KeyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No key has the id or name.
  case unknown(String)
  /// Several keys have the name. The ids are theirs.
  case ambiguous(String, ids: [String])
  /// The key was revoked, so that it can neither be rotated nor sign in.
  case revoked(String)
  /// The key has expired, so that it can neither be rotated nor sign in.
  case expired(String)
  /// The expiry of a new key is not in the future.
  case expiryPassed
  /// A key with the id exists.
  case exists(String)
  /// The secret of the key was replaced in the meantime.
  case rotated(String)

  /// A sentence for the operator.
  public var description: String {
    switch self {
    case .unknown(let name):
      // The secret is not repeated: messages are kept in logs.
      if let key = PresentedKey(name) {
        "give the id or the name of the key, not the key itself. Its id is \(key.id). The history of a shell has what was "
          + "typed: `tidings keys rotate \(key.id)` replaces the key."
      } else {
        "there is no key with the id or name \(name). `tidings keys list` shows all keys."
      }
    case .ambiguous(let name, let ids):
      "several keys have the name \(name). Give the id: \(ids.joined(separator: ", "))."
    case .revoked(let name):
      "the key \(name) is revoked and cannot be used. `tidings keys create` makes another key."
    case .expired(let name):
      "the key \(name) has expired and cannot be used. `tidings keys create` makes another key."
    case .expiryPassed: "the expiry must be in the future, by the clock of the database"
    case .exists(let id): "there is a key with the id \(id) already"
    case .rotated(let name): "the secret of the key \(name) was replaced in the meantime"
    }
  }
}

extension APIKey {
  /// The columns that `init(row:)` reads.
  static let columns: PostgresQuery = """
    id, name, scopes, topics, created_at, expires_at, revoked_at, used_at,
      CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'valid' END
        AS state,
      CASE WHEN previous_until > clock_timestamp() THEN previous_until END AS previous_end,
      left(encode(sha256(digest), 'hex'), 16) AS secret_name
    """

  init(row: PostgresRow) throws {
    let state: State = try row.value("state")
    self.init(
      id: try row.decode("id"), name: try row.decode("name"),
      permissions: try row.decode("scopes", as: [String].self).compactMap(Permission.init(rawValue:)),
      topics: try row.decode("topics", as: [String]?.self)?.sorted(), state: state,
      created: try row.decode("created_at"), expires: try row.decode("expires_at"),
      revoked: try row.decode("revoked_at"), lastUse: try row.decode("used_at"),
      previousSecretEnd: state == .valid ? try row.decode("previous_end") : nil,
      secretName: try row.decode("secret_name"))
  }
}

/// A key as sent by a client.
struct PresentedKey {
  let id: String
  let secret: String

  var text: String { "tdk_\(id)_\(secret)" }

  /// The SHA-256 digest of the secret. The secret has 256 random bits, so no slower hash is needed against guessing.
  var digest: SHA256Digest { SHA256.hash(data: Data(secret.utf8)) }

  /// Creates a key with a random secret.
  static func random(id: String) -> PresentedKey {
    PresentedKey(id: id, secret: Data([UInt8].random(32)).hexadecimal)
  }
}

extension APIKey {
  private static let idBytes = 6

  /// Returns a random id of a new key.
  public static func randomID() -> String { Data([UInt8].random(idBytes)).hexadecimal }

  /// Whether a text has the form of the ids that `randomID()` returns.
  public static func isID(_ text: String) -> Bool {
    text.utf8.count == 2 * idBytes && text == text.lowercased() && text.utf8.allSatisfy(\.isASCIIHexDigit)
  }
}

extension PresentedKey {
  init?(_ text: String) {
    guard text.utf8.count <= 128, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).map(Substring.init)
    guard parts.count == 3, parts[0] == "tdk", !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
    self.init(id: String(parts[1]), secret: String(parts[2]))
  }
}

/// A key and the digests of its secrets, as they were at the time of a read.
struct StoredKey: Sendable {
  let key: APIKey
  let digest: Data
  /// The digest of the secret before the last rotation.
  let previousDigest: Data?
  /// The time after the read at which the key or its previous secret ends; nil if neither does.
  let unchangedTime: Duration?

  /// The columns that `init(row:)` reads.
  static let columns: PostgresQuery = """
    \(query: APIKey.columns), digest, previous_digest,
      extract(epoch FROM expires_at - clock_timestamp())::double precision AS left_time,
      extract(epoch FROM previous_until - clock_timestamp())::double precision AS previous_left_time
    """

  init(row: PostgresRow) throws {
    key = try APIKey(row: row)
    digest = try row.decode("digest")
    previousDigest = try row.decode("previous_digest")
    // The key says what worked at the read. What has ended since then, while the row was computed, has no time left.
    let times = [
      key.state == .valid ? try row.decode("left_time", as: Double?.self) : nil,
      key.previousSecretEnd != nil ? try row.decode("previous_left_time", as: Double?.self) : nil,
    ]
    unchangedTime = times.compactMap(\.self).min().map { .seconds(max(0, $0)) }
  }

  /// The secret of this key that a presented one has.
  enum Secret {
    case current, previous
  }

  /// Compares a presented key with this one, in a time that does not depend on where the secrets differ, as `==` of
  /// swift-crypto does.
  ///
  /// - Returns: nil if the key has no such secret.
  func secret(of presented: PresentedKey) -> Secret? {
    let digest = presented.digest
    let isCurrent = digest == self.digest
    let isPrevious = previousDigest.map { digest == $0 } ?? false
    return isCurrent ? .current : isPrevious ? .previous : nil
  }

  /// The reason for which the key is refused with a secret; nil if it works.
  func refusal(of secret: Secret) -> KeyRefusal? {
    switch (key.state, secret) {
    case (.revoked, _): .revoked
    case (.expired, _): .expired
    case (.valid, .previous): key.previousSecretEnd == nil ? .replaced : nil
    case (.valid, .current): nil
    }
  }
}

/// The rights of an author over items, as those of a key.
///
///     let access = ItemAccess(mayPublish: false, topics: ["sport"])
///     access.includes(["sport"])              // true
///     access.includes(["politics", "sport"])  // false
public struct ItemAccess: Sendable, Equatable {
  /// Whether the author may publish, and change what readers see or will see.
  public var mayPublish: Bool
  /// The topics to which the author is restricted: the author sees and writes an item if it has topics, and all of them are
  /// among these. With nil, there is no restriction.
  public var topics: Set<String>?

  /// The access to all items.
  public static let full = ItemAccess()

  /// Creates an access; by default that to all items.
  public init(mayPublish: Bool = true, topics: Set<String>? = nil) {
    self.mayPublish = mayPublish
    self.topics = topics
  }

  /// Whether the author sees and may write items with these topics.
  public func includes(_ topics: [String]) -> Bool {
    guard let allowed = self.topics else { return true }
    return !topics.isEmpty && allowed.isSuperset(of: topics)
  }

  /// Checks the topics of an item, before and after a write.
  ///
  /// - Throws: `StoreError.topicsNotAllowed`.
  func check(_ topics: [String]) throws {
    guard let allowed = self.topics, !includes(topics) else { return }
    throw StoreError.topicsNotAllowed(topics.filter { !allowed.contains($0) }, allowed: allowed.sorted())
  }

  /// The condition that an item `i` has topics which `includes(_:)` accepts.
  var condition: PostgresQuery {
    guard let topics else { return "true" }
    // The index `items_by_topics` finds items with one of the topics. `IS TRUE` hides the other condition from it: it would
    // read all other topics of these items, and then the items again.
    let allowed = topics.sorted()
    return "((i.topics <@ \(allowed)) IS TRUE AND i.topics && \(allowed))"
  }
}
