import Crypto
import Foundation

/// The key with which the passwords of feeds are stored.
///
/// A password is encrypted with AES-GCM (NIST SP 800-38D), together with the origin that it is for. The id of its
/// subscription is the associated data, so that it cannot be read as that of another one.
///
///     let key = FeedPasswordKey("tVhuTnmqFDBNsW6JrLNkHdFFUUHBzzMbDyMuWLYcnkI=")
public struct FeedPasswordKey: Sendable {
  private let key: SymmetricKey

  /// Creates a key.
  ///
  /// - Parameter text: 32 bytes in Base64, as `openssl rand -base64 32` prints them. Any other text returns nil.
  public init?(_ text: String) {
    guard let bytes = Data(base64Encoded: text), bytes.count == 32 else { return nil }
    key = SymmetricKey(data: bytes)
  }

  func seal(_ password: String, origin: String, subscription: UUID) throws -> Data {
    let text = Data("\(origin)\n\(password)".utf8)
    let box = try AES.GCM.seal(text, using: key, authenticating: Self.associatedData(subscription))
    guard let sealed = box.combined else { throw StoreFault("a sealed box has a nonce of another length") }
    return sealed
  }

  /// - Returns: nil for data of another key or subscription.
  func open(_ sealed: Data, subscription: UUID) -> (origin: String, password: String)? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let text = try? AES.GCM.open(box, using: key, authenticating: Self.associatedData(subscription))
    else { return nil }
    let parts = String(decoding: text, as: UTF8.self).split(
      separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }

  private static func associatedData(_ subscription: UUID) -> Data {
    Data(subscription.uuidString.lowercased().utf8)
  }
}

/// The user and the password for a feed (HTTP Basic, RFC 7617).
public struct FeedCredentials: Sendable {
  /// The scheme, host and port that may receive them, as an address begins with them.
  public let origin: String
  /// The user.
  public let user: String
  /// The password.
  public let password: String

  /// Creates credentials.
  public init(origin: String, user: String, password: String) {
    self.origin = origin
    self.user = user
    self.password = password
  }

  /// Returns the origin of an address in its normal form.
  static func origin(of url: String) -> String {
    url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }
}
