import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import News
import NewsStore

/// Requires a key with a permission, a scope in the terms of OAuth (RFC 6750), and keeps the responses out of all caches.
struct AuthorizationMiddleware: RouterMiddleware {
  let store: NewsStore
  /// The permissions, of which one suffices.
  let permissions: [APIKey.Permission]
  let limits: RateLimiter<String>?
  let metrics: APIMetrics

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let record = context.record
    guard let token = Self.bearerToken(request.headers) else {
      record.setRefusal("no key")
      throw ProblemError.unauthorized(presented: false)
    }
    // Without an answering database, the request would wait until its deadline. It is rejected early instead.
    guard await store.isAnswering() else { throw ProblemError.unavailable }
    guard let key = try await store.presentedKey(token) else {
      record.setRefusal("unknown key")
      throw ProblemError.unauthorized(presented: true)
    }
    record.setKey(key)
    guard key.revoked == nil else {
      record.setRefusal("revoked key")
      throw ProblemError.unauthorized(presented: true)
    }
    let bucket = limits?.bucket(of: key.id)
    if let bucket, let wait = limits?.charge(bucket) {
      metrics.keyLimited()
      throw ProblemError.tooManyRequests(in: wait)
    }
    guard permissions.contains(where: key.allows) else {
      record.setRefusal("scope \(permissions[0].rawValue) required")
      throw ProblemError.forbidden(permissions[0])
    }
    // If the field were ignored, a client would assume that its repeats are detected.
    guard request.headers[.idempotencyKey] == nil else { throw ProblemError.idempotencyKeyUnsupported }
    // No shared cache stores an editorial response, so errors need not replace one. They must not be stored either.
    var response = try await ProblemError.adjusting({ $0.replacesStored = false }) {
      try await next(request, context)
    }
    response.headers[.cacheControl] = CachePolicy.editorial
    bucket?.refund(status: response.status.code)
    return response
  }

  /// Returns the bearer token of a request. The scheme is case-insensitive (RFC 9110 section 11.1).
  private static func bearerToken(_ headers: HTTPFields) -> String? {
    let fields = headers[values: .authorization]
    guard fields.count == 1 else { return nil }
    let space = UInt8(ascii: " ")
    let scheme = fields[0].utf8.prefix { $0 != space }
    let token = fields[0].utf8[scheme.endIndex...].drop { $0 == space }
    guard !token.isEmpty, Substring(scheme).lowercased() == "bearer" else { return nil }
    return String(Substring(token))
  }
}

extension APIContext {
  /// Whether the key of the request may change what readers see.
  var mayPublish: Bool { record.key?.allows(.itemsPublish) ?? false }

  /// The author of the request's writes, for the history.
  var editor: Editor? { record.key.map { .key($0.name) } }
}
