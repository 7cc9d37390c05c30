import Crypto
import Foundation
import News

/// The token that each form of a session sends back, so that no other site can send one in the name of its user. It is
/// derived from the token of the session, which no other site and no script knows.
struct FormToken: Sendable {
  /// The name of the field in forms.
  static let field = "csrf"

  /// The token, 43 characters of base64url.
  let text: String

  init(sessionToken: String) {
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("tidings console form".utf8), using: SymmetricKey(data: Data(sessionToken.utf8)))
    text = String(base64URL: code)
  }

  /// Whether a form has sent this token. The time of the comparison does not depend on where they differ.
  func matches(_ sent: String?) -> Bool {
    guard let sent else { return false }
    return SHA256.hash(data: Data(sent.utf8)) == SHA256.hash(data: Data(text.utf8))
  }
}
