import Crypto
import Foundation

/// The decryption of a message of Web Push (RFC 8291), written from the text of the RFCs with HMAC alone.
enum DecryptedContent {
  /// A rule that a body breaks.
  struct Failure: Error {
    let rule: String
  }

  /// The sizes of the salt, the record size and the length of the key id, and of the tag of AES-GCM.
  private static let headerSize = 21
  private static let tagSize = 16

  /// Decrypts a body.
  ///
  /// - Parameters:
  ///   - receiver: The private key of the subscription.
  ///   - secret: The authentication secret of the subscription.
  static func plaintext(
    of body: [UInt8], receiver: P256.KeyAgreement.PrivateKey, secret: [UInt8]
  ) throws(Failure) -> Data {
    // RFC 8188 section 2.1: salt (16), record size (4), length of the key id (1), key id.
    guard body.count > headerSize else { throw Failure(rule: "the body has no header") }
    let salt = body[..<16]
    let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let content = headerSize + Int(body[20])
    guard body.count > content + tagSize, body[20] == 65 else {
      throw Failure(rule: "the key id is not a public key of P-256")
    }
    // RFC 8291 section 4: a message has one record.
    guard recordSize >= 18, body.count - content <= recordSize else {
      throw Failure(rule: "the body has more than one record")
    }
    let senderKey = body[headerSize..<content]
    guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: senderKey),
      let shared = try? receiver.sharedSecretFromKeyAgreement(with: sender)
    else { throw Failure(rule: "the public key of the sender is not valid") }
    // RFC 8291 section 3.4.
    let sharedBytes = shared.withUnsafeBytes { Array($0) }
    let info = Array("WebPush: info".utf8) + [0] + receiver.publicKey.x963Representation + senderKey
    let input = hmac(key: hmac(key: secret, sharedBytes), info + [1])
    // RFC 8188 sections 2.2 and 2.3.
    let pseudorandomKey = hmac(key: Array(salt), input)
    let key = hmac(key: pseudorandomKey, Array("Content-Encoding: aes128gcm".utf8) + [0, 1]).prefix(16)
    let nonce = hmac(key: pseudorandomKey, Array("Content-Encoding: nonce".utf8) + [0, 1]).prefix(12)
    guard let nonce = try? AES.GCM.Nonce(data: nonce),
      let box = try? AES.GCM.SealedBox(
        nonce: nonce, ciphertext: body[content..<(body.count - tagSize)], tag: body[(body.count - tagSize)...]),
      let record = try? AES.GCM.open(box, using: SymmetricKey(data: key))
    else { throw Failure(rule: "the body cannot be decrypted") }
    // The last record ends with 2, and padding of zeros may follow (RFC 8188 section 2).
    guard let delimiter = record.lastIndex(where: { $0 != 0 }), record[delimiter] == 2 else {
      throw Failure(rule: "the record has no delimiter of a last record")
    }
    return record[..<delimiter]
  }

  private static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
  }
}
