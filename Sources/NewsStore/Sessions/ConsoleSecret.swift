import Crypto
import Foundation
import News

/// The token of a session, the code of a link, or the secret or code of a device: 256 random bits in base64url (RFC 4648
/// section 5).
struct ConsoleSecret {
  /// The number of random bytes.
  private static let byteCount = 32
  /// The number of characters.
  private static let length = 43

  let text: String

  /// The SHA-256 digest of the text. The secret has 256 random bits, so no slower hash is needed against guessing.
  var digest: Data { Data(SHA256.hash(data: Data(text.utf8))) }

  /// Creates a random secret.
  static func random() -> ConsoleSecret { ConsoleSecret(unchecked: String(base64URL: [UInt8].random(byteCount))) }

  private init(unchecked text: String) {
    self.text = text
  }

  /// Reads a secret that a client presents; nil for a text that cannot be one.
  init?(_ text: String) {
    let isBase64URL = text.utf8.allSatisfy {
      $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
    }
    guard text.utf8.count == Self.length, isBase64URL else { return nil }
    self.text = text
  }
}
