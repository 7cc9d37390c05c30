import JWTKit

/// The claims of the tokens by which the server identifies itself to push services (RFC 7519).
struct ServerClaims: JWTPayload {
  /// The issuer: the team at Apple, the service account at Google.
  var iss: String?
  /// The subject: the address of a contact.
  var sub: String?
  /// The recipient.
  var aud: String?
  /// The purpose, at Google.
  var scope: String?
  /// The times of issue and expiry, in seconds since 1970.
  var iat: Int?
  var exp: Int?

  /// The server only signs tokens. Push services verify them.
  func verify(using algorithm: some JWTAlgorithm) throws {}
}
