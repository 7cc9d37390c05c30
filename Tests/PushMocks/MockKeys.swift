public import Crypto
public import CryptoExtras
public import Foundation

/// The keys of the sender, and of a receiver of Web Push.
public struct MockKeys: Sendable {
  /// Keys for tests. An RSA key takes a moment to make, so all tests of a process share them.
  static let shared = Task { try MockKeys() }

  /// The key by which APNs knows the sender.
  public var apns: P256.Signing.PrivateKey
  /// The key of the service account by which FCM knows the sender.
  public var account: _RSA.Signing.PrivateKey
  /// The key by which Web Push services know the sender (VAPID).
  public var vapid: P256.Signing.PrivateKey
  /// The key that subscriptions share which have none of their own.
  public var receiver: P256.KeyAgreement.PrivateKey

  /// Makes new keys.
  public init() throws {
    apns = P256.Signing.PrivateKey()
    account = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    vapid = P256.Signing.PrivateKey()
    receiver = P256.KeyAgreement.PrivateKey()
  }

  /// Reads the keys from a folder. Missing ones are made and written, so that they survive the process.
  ///
  /// - Throws: An error of the file system, or of a malformed key.
  public init(in folder: URL) throws {
    apns = try Self.key("apns.p8", in: folder) {
      P256.Signing.PrivateKey().pemRepresentation
    } read: {
      try P256.Signing.PrivateKey(pemRepresentation: $0)
    }
    account = try Self.key("account.pem", in: folder) {
      try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
    } read: {
      try _RSA.Signing.PrivateKey(pemRepresentation: $0)
    }
    vapid = try Self.key("vapid.pem", in: folder) {
      P256.Signing.PrivateKey().pemRepresentation
    } read: {
      try P256.Signing.PrivateKey(pemRepresentation: $0)
    }
    receiver = try Self.key("receiver.pem", in: folder) {
      P256.KeyAgreement.PrivateKey().pemRepresentation
    } read: {
      try P256.KeyAgreement.PrivateKey(pemRepresentation: $0)
    }
  }

  private static func key<Key>(
    _ name: String, in folder: URL, make: () throws -> String, read: (String) throws -> Key
  ) throws -> Key {
    let file = folder.appending(path: name)
    if let text = try? String(contentsOf: file, encoding: .utf8) { return try read(text) }
    let text = try make()
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return try read(text)
  }
}
