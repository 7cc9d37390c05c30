import Crypto
import Foundation
package import NewsStore

/// The symmetric signatures of Standard Webhooks 1.0, "Signature scheme".
package enum WebhookSignature {
  /// Returns the value of `webhook-signature`: for each secret `v1,` and the base64 of the HMAC-SHA256 over
  /// `ID.TIMESTAMP.BODY`, separated by spaces.
  ///
  /// - Parameters:
  ///   - id: The value of `webhook-id`.
  ///   - timestamp: The value of `webhook-timestamp`, in seconds since 1970.
  ///   - body: The body as it is sent.
  package static func fieldValue(id: String, timestamp: Int, body: [UInt8], secrets: [WebhookSecret]) -> String {
    let content = Array("\(id).\(timestamp).".utf8) + body
    return secrets.map { secret in
      let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: secret.key))
      return "v1,\(Data(code).base64EncodedString())"
    }.joined(separator: " ")
  }
}
