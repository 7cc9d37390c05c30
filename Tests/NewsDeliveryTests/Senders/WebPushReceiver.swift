import Crypto
import Foundation

/// A subscription of a browser, which decrypts its messages (RFC 8291 section 3.4).
struct WebPushReceiver {
  struct Malformed: Error {}

  let key = P256.KeyAgreement.PrivateKey()
  let secret: [UInt8] = (0..<16).map { _ in .random(in: 0...255) }

  var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  /// Decrypts the body of a request that has one record.
  func decrypt(_ body: Data) throws -> Data {
    let body = Array(body)
    guard body.count > 86 + 17, body.count <= 4096, Array(body[16..<21]) == [0, 0, 16, 0, 65] else {
      throw Malformed()
    }
    let (salt, sender) = (Array(body[..<16]), Array(body[21..<86]))
    let shared = try key.sharedSecretFromKeyAgreement(with: .init(x963Representation: sender))
    let input = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: secret, sharedInfo: Array("WebPush: info\0".utf8) + publicKey + sender,
      outputByteCount: 32)
    func derived(_ info: String, _ count: Int) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: \(info)\0".utf8), outputByteCount: count)
    }
    let nonce = try derived("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
    let box = try AES.GCM.SealedBox(
      nonce: nonce, ciphertext: body[86..<(body.count - 16)], tag: body[(body.count - 16)...])
    let record = try AES.GCM.open(box, using: derived("aes128gcm", 16))
    guard record.last == 2 else { throw Malformed() }
    return record.dropLast()
  }
}
