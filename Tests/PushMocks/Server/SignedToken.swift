import Foundation
import News

/// A JSON Web Token with a signature (RFC 7519, RFC 7515 section 3.1).
struct SignedToken {
  /// The header.
  struct Header: Decodable {
    var alg: String
    var kid: String?
    var typ: String?
  }

  /// The claims that the services read. Times are in seconds since 1970.
  struct Claims: Decodable {
    var iss: String?
    var sub: String?
    var aud: String?
    var scope: String?
    var iat: Double?
    var exp: Double?
  }

  let header: Header
  let claims: Claims
  /// The bytes that are signed.
  let signedPart: Data
  let signature: Data

  /// Parses a token in the compact form.
  ///
  /// - Returns: nil if it is malformed.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = [UInt8](base64URL: parts[0]), let claims = [UInt8](base64URL: parts[1]),
      let signature = [UInt8](base64URL: parts[2]),
      let decodedHeader = try? JSONDecoder().decode(Header.self, from: Data(header)),
      let decodedClaims = try? JSONDecoder().decode(Claims.self, from: Data(claims))
    else { return nil }
    self.header = decodedHeader
    self.claims = decodedClaims
    self.signature = Data(signature)
    signedPart = Data("\(parts[0]).\(parts[1])".utf8)
  }
}
