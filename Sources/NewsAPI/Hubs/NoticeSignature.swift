import Crypto
import Foundation
import HTTPEdge

/// The signature of a hub's notice (WebSub section 7.1): the HMAC of the body in `X-Hub-Signature`, such as
/// `sha256=HEX`.
package struct NoticeSignature {
  private let signature: [UInt8]
  private var code: any BodyCode

  /// Reads the value of the field.
  ///
  /// - Returns: nil for an unknown method, and for a signature of another length.
  package init?(_ field: String, secret: String) {
    let parts = field.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, field.utf8.count <= 256, let signature = Self.bytes(parts[1]) else { return nil }
    let key = SymmetricKey(data: Data(secret.utf8))
    switch String(Substring(parts[0])).lowercased() {
    case "sha1": code = Code<Insecure.SHA1>(key: key)
    case "sha256": code = Code<SHA256>(key: key)
    case "sha384": code = Code<SHA384>(key: key)
    case "sha512": code = Code<SHA512>(key: key)
    default: return nil
    }
    guard signature.count == code.byteCount else { return nil }
    self.signature = signature
  }

  /// Adds a part of the body.
  package mutating func update(_ bytes: [UInt8]) { code.update(bytes) }

  /// Whether the signature is that of the parts. The comparison takes the same time for all signatures.
  package var isValid: Bool { code.equals(signature) }

  private static func bytes(_ text: Substring.UTF8View) -> [UInt8]? {
    let digits = Array(text)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

/// An authentication code of a body that arrives in parts.
private protocol BodyCode {
  var byteCount: Int { get }
  mutating func update(_ bytes: [UInt8])
  func equals(_ signature: [UInt8]) -> Bool
}

private struct Code<Hash: HashFunction>: BodyCode {
  private var code: HMAC<Hash>

  init(key: SymmetricKey) {
    code = HMAC(key: key)
  }

  var byteCount: Int { Hash.Digest.byteCount }

  mutating func update(_ bytes: [UInt8]) { code.update(data: bytes) }

  // Crypto compares codes in constant time.
  func equals(_ signature: [UInt8]) -> Bool { code.finalize() == signature }
}
