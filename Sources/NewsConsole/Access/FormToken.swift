import Crypto
import Foundation
import News
import NewsStore

/// The token that each form of a session sends back, so that no other site can send one in the name of its user. It is
/// derived from the token of the session, which no other site and no script knows.
struct FormToken: Sendable {
  /// The name of the field in forms.
  static let field = "csrf"

  private let code: [UInt8]

  init(sessionToken: String) {
    code = Array(
      HMAC<SHA256>.authenticationCode(
        for: Data("tidings console form".utf8), using: SymmetricKey(data: Data(sessionToken.utf8))))
  }

  /// Returns the token for one page: 86 characters of base64url, with random bytes and the token combined with them. No
  /// two pages have the same, so the lengths of compressed pages say nothing about the token (the BREACH attack).
  func masked() -> String {
    let mask = [UInt8].random(code.count)
    return String(base64URL: mask + Self.combined(code, with: mask))
  }

  /// Whether a form has sent this token. The time of the comparison does not depend on where they differ.
  func matches(_ sent: String?) -> Bool {
    guard let sent, let bytes = [UInt8](base64URL: sent), bytes.count == 2 * code.count else { return false }
    let sentCode = Self.combined(bytes.suffix(code.count), with: bytes.prefix(code.count))
    return SHA256.hash(data: sentCode) == SHA256.hash(data: code)
  }

  private static func combined(_ bytes: some Sequence<UInt8>, with mask: some Sequence<UInt8>) -> [UInt8] {
    zip(bytes, mask).map { $0 ^ $1 }
  }
}
