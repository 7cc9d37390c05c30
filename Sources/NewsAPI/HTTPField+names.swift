import HTTPTypes

extension HTTPField.Name {
  // Each name is a token (RFC 9110 section 5.6.2), so no initializer returns nil.
  /// The field that makes nginx forward each part of a response at once, with the value `no`.
  static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
  static let acceptInstanceManipulation = HTTPField.Name("A-IM")!
  static let cacheStatus = HTTPField.Name("Cache-Status")!
  static let contentDigest = HTTPField.Name("Content-Digest")!
  static let contentSecurityPolicy = HTTPField.Name("Content-Security-Policy")!
  static let hubSignature = HTTPField.Name("X-Hub-Signature")!
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")!
  static let instanceManipulation = HTTPField.Name("IM")!
  static let link = HTTPField.Name("Link")!
  static let pollInterval = HTTPField.Name("X-Poll-Interval")!
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
  static let reprDigest = HTTPField.Name("Repr-Digest")!
  static let requestID = HTTPField.Name("X-Request-Id")!
  static let syncToken = HTTPField.Name("Sync-Token")!
  static let uploadComplete = HTTPField.Name("Upload-Complete")!
  static let uploadLength = HTTPField.Name("Upload-Length")!
  static let uploadLimit = HTTPField.Name("Upload-Limit")!
  static let uploadOffset = HTTPField.Name("Upload-Offset")!
  static let uploadVersion = HTTPField.Name("Upload-Draft-Interop-Version")!
  static let via = HTTPField.Name("Via")!
}
