import Foundation

extension Data {
  /// Decodes base64url without padding (RFC 4648 section 5).
  init?(base64URL text: some StringProtocol) {
    let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
    self.init(base64Encoded: standard + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
  }
}
