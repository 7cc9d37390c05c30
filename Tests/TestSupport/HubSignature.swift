import Crypto
import Foundation

/// Returns the value of `X-Hub-Signature` with which a hub signs a notice (WebSub section 7.1).
package func hubSignature(of body: String, secret: String) -> String {
  let code = HMAC<SHA256>.authenticationCode(for: Data(body.utf8), using: SymmetricKey(data: Data(secret.utf8)))
  return "sha256=" + code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
