import HTTPTypes

extension HTTPField.Name {
  // Each is a token of RFC 9110 section 5.6.2, so none of these is nil.
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let link = HTTPField.Name("Link")!
  static let requestID = HTTPField.Name("X-Request-Id")!
  static let syncToken = HTTPField.Name("Sync-Token")!
}
