import Crypto
public import Foundation
public import News

/// The receiver of a Web Push subscription: its keys, and the decryption of messages (RFC 8291).
///
/// An app on Linux makes it once, and registers its ``keys`` together with the endpoint of a UnifiedPush distributor. The
/// private key and the secret open the messages of the subscription, so keep them where only the user can read them.
///
///     let receiver = WebPushReceiver()
///     let subscription = WebPushSubscription(endpoint: "https://ntfy.example/up?id=7", keys: receiver.keys)
///     print(subscription.keys.p256dh)
public struct WebPushReceiver: Sendable {
  /// The error for a message that the receiver cannot decrypt.
  ///
  ///     do {
  ///       _ = try WebPushReceiver().decrypt(Data())
  ///     } catch let error as WebPushReceiver.Failure {
  ///       print(error)  // the message has no header
  ///     }
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, without a full stop and without any part of the message.
    public var description: String
  }

  /// The maximum size of an encrypted message in bytes (RFC 8291 section 4).
  public static let maximumMessageBytes = 4096

  /// The sizes of the salt, the record size and the length of the key id together, and of the tag of AES-GCM, in bytes (RFC
  /// 8188 section 2).
  private static let headerSize = 21
  private static let tagSize = 16
  /// The size of a public key: an uncompressed point on P-256, in bytes.
  private static let publicKeySize = 65
  private static let secretSize = 16

  private let key: P256.KeyAgreement.PrivateKey
  private let secret: [UInt8]

  /// Makes new random keys.
  public init() {
    key = P256.KeyAgreement.PrivateKey()
    secret = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
  }

  /// Reads the keys in base64url.
  ///
  /// - Parameters:
  ///   - privateKey: The private key: a number of 32 bytes.
  ///   - auth: The authentication secret, 16 bytes.
  /// - Throws: ``Failure`` if one of them is malformed.
  package init(privateKey: String, auth: String) throws {
    guard let bytes = [UInt8](base64URL: privateKey),
      let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes)
    else { throw Failure(description: "the private key is malformed") }
    guard let secret = [UInt8](base64URL: auth), secret.count == Self.secretSize else {
      throw Failure(description: "the authentication secret is malformed")
    }
    (self.key, self.secret) = (key, secret)
  }

  /// The public key and the authentication secret, which a subscription contains.
  public var keys: WebPushSubscription.Keys {
    .init(p256dh: String(base64URL: key.publicKey.x963Representation), auth: String(base64URL: secret))
  }

  /// Decrypts a message, as the push service has passed it on.
  ///
  /// - Parameter message: The body of the message, with the content coding `aes128gcm` (RFC 8188).
  /// - Returns: The payload in JSON.
  /// - Throws: ``Failure`` for a message that is malformed, or not for this receiver.
  public func decrypt(_ message: Data) throws -> Data {
    let message = [UInt8](message)
    guard message.count <= Self.maximumMessageBytes else {
      throw Failure(description: "the message has more than \(Self.maximumMessageBytes) bytes")
    }
    guard message.count > Self.headerSize else { throw Failure(description: "the message has no header") }
    let recordSize = message[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let start = Self.headerSize + Self.publicKeySize
    guard Int(message[20]) == Self.publicKeySize, message.count > start + Self.tagSize else {
      throw Failure(description: "the message has no public key of a sender")
    }
    // A message has one record (RFC 8291 section 4).
    guard message.count - start <= recordSize else { throw Failure(description: "the message has several records") }
    let senderBytes = Array(message[Self.headerSize..<start])
    guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: senderBytes) else {
      throw Failure(description: "the public key of the sender is malformed")
    }
    let record = try open(message[start...], salt: Array(message[..<16]), sender: sender, senderBytes)
    // The last record ends with 2, and padding of zeros may follow (RFC 8188 section 2).
    guard let delimiter = record.lastIndex(where: { $0 != 0 }), record[delimiter] == 2 else {
      throw Failure(description: "the message is not complete")
    }
    return Data(record[..<delimiter])
  }

  /// Decrypts the record with the keys of RFC 8291 section 3.4 and RFC 8188 section 2.
  private func open(
    _ record: ArraySlice<UInt8>, salt: [UInt8], sender: P256.KeyAgreement.PublicKey, _ senderBytes: [UInt8]
  ) throws -> [UInt8] {
    let info = Array("WebPush: info\0".utf8) + key.publicKey.x963Representation + senderBytes
    do {
      let input = try key.sharedSecretFromKeyAgreement(with: sender).hkdfDerivedSymmetricKey(
        using: SHA256.self, salt: secret, sharedInfo: info, outputByteCount: 32)
      func derived(_ name: String, _ count: Int) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: \(name)\0".utf8), outputByteCount: count)
      }
      let nonce = try derived("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
      let box = try AES.GCM.SealedBox(
        nonce: nonce, ciphertext: record.dropLast(Self.tagSize), tag: record.suffix(Self.tagSize))
      return Array(try AES.GCM.open(box, using: derived("aes128gcm", 16)))
    } catch {
      throw Failure(description: "the message is not for this device, or was changed")
    }
  }
}

extension WebPushReceiver: Codable {
  private enum CodingKeys: String, CodingKey {
    case privateKey, auth
  }

  /// Decodes the keys in base64url.
  ///
  /// - Throws: `DecodingError` for malformed keys.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    do {
      try self.init(
        privateKey: try container.decode(String.self, forKey: .privateKey),
        auth: try container.decode(String.self, forKey: .auth))
    } catch let failure as Failure {
      throw DecodingError.dataCorruptedError(
        forKey: .privateKey, in: container, debugDescription: failure.description)
    }
  }

  /// Encodes the private key and the secret in base64url.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(String(base64URL: key.rawRepresentation), forKey: .privateKey)
    try container.encode(String(base64URL: secret), forKey: .auth)
  }
}
