package import Crypto
package import Foundation
import NewsStore

/// The content coding `aes128gcm` with one record (RFC 8188).
package enum EncryptedContent {
  /// The size of a record in bytes, as the header states it.
  private static let recordSize: UInt32 = 4096

  /// Encrypts a content.
  ///
  /// - Parameters:
  ///   - key: The input keying material.
  ///   - salt: 16 random bytes, used once.
  ///   - keyID: The id of the key, at most 255 bytes.
  /// - Returns: The header and the record.
  package static func encrypt(
    _ content: some DataProtocol, key: SymmetricKey, salt: [UInt8], keyID: [UInt8]
  ) throws -> [UInt8] {
    let pseudoRandomKey = HKDF<SHA256>.extract(inputKeyMaterial: key, salt: salt)
    func derived(_ name: String, _ count: Int) -> SymmetricKey {
      HKDF<SHA256>.expand(
        pseudoRandomKey: pseudoRandomKey, info: Array("Content-Encoding: \(name)\0".utf8), outputByteCount: count)
    }
    let nonce = try derived("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
    // The delimiter 2 marks the last record (RFC 8188 section 2).
    let sealed = try AES.GCM.seal(Array(content) + [2], using: derived("aes128gcm", 16), nonce: nonce)
    var bytes = salt
    bytes += withUnsafeBytes(of: recordSize.bigEndian) { Array($0) }
    bytes.append(UInt8(keyID.count))
    bytes += keyID
    bytes += sealed.ciphertext
    bytes += sealed.tag
    return bytes
  }
}

/// The encryption of messages for Web Push (RFC 8291).
package enum WebPushEncryption {
  /// The maximum size of a plaintext in bytes (RFC 8291 section 4).
  package static let limit = 3993

  /// Encrypts a message for a subscription.
  ///
  /// - Parameters:
  ///   - receiver: The public key of the subscription: an uncompressed point on P-256, 65 bytes.
  ///   - secret: The authentication secret of the subscription, 16 bytes.
  ///   - sender: The key of the sender, used once.
  ///   - salt: 16 random bytes, used once.
  /// - Throws: An error if the public key is not a point on the curve.
  package static func encrypt(
    _ message: [UInt8], receiver: [UInt8], secret: [UInt8],
    sender: P256.KeyAgreement.PrivateKey = ephemeralKey(), salt: [UInt8] = .random(16)
  ) throws -> [UInt8] {
    let receiverKey = try P256.KeyAgreement.PublicKey(x963Representation: receiver)
    let senderKey = Array(sender.publicKey.x963Representation)
    let key = try sender.sharedSecretFromKeyAgreement(with: receiverKey).hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: secret, sharedInfo: Array("WebPush: info\0".utf8) + receiver + senderKey,
      outputByteCount: 32)
    return try EncryptedContent.encrypt(message, key: key, salt: salt, keyID: senderKey)
  }

  /// Returns a random key, by testing candidates (FIPS 186-5 appendix A.2.2).
  ///
  /// `P256.KeyAgreement.PrivateKey()` also signs with each new key and verifies the signature, which takes longer than
  /// the rest of the encryption.
  private static func ephemeralKey() -> P256.KeyAgreement.PrivateKey {
    while true {
      // Numbers from 1 to the order of the curve minus 1 are valid: nearly all of 256 bits.
      if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: [UInt8].random(32)) { return key }
    }
  }
}
