public import Foundation
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
