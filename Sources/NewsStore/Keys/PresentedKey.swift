import Crypto
import Foundation
import News
import PostgresClient

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
