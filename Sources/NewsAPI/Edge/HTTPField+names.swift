import HTTPTypes

extension HTTPField.Name {
  // Each is a token of RFC 9110 section 5.6.2, so none of these is nil.
  /// Tells nginx to pass on each part of an answer at once.
  static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
  static let cacheStatus = HTTPField.Name("Cache-Status")!
  static let contentDigest = HTTPField.Name("Content-Digest")!
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let link = HTTPField.Name("Link")!
  static let pollInterval = HTTPField.Name("X-Poll-Interval")!
  static let reprDigest = HTTPField.Name("Repr-Digest")!
  static let requestID = HTTPField.Name("X-Request-Id")!
  static let syncToken = HTTPField.Name("Sync-Token")!
}
