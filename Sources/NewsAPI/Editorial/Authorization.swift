import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// Lets only requests with a key of a scope through (RFC 6750), and keeps what they get out of all caches.
struct Authorization: RouterMiddleware {
  let store: NewsStore
  let scope: APIKey.Scope
  let limits: RateLimiter<String>?

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let record = context.record
    guard let token = Self.bearerToken(request.headers) else {
      record.setRefusal("no key")
      throw ProblemError.unauthorized(presented: false)
    }
    // A request that would wait for the database until its deadline is refused at once.
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
    if let bucket, let wait = limits?.take(bucket) {
      context.metrics?.keyLimited()
      throw ProblemError.tooManyRequests(in: wait)
    }
    guard key.allows(scope) else {
      record.setRefusal("scope \(scope.rawValue) required")
      throw ProblemError.forbidden(scope)
    }
    // To ignore it would let a client believe that its repeats are recognised.
    guard request.headers[.idempotencyKey] == nil else { throw ProblemError.idempotencyKeyUnsupported }
    // Nothing of an editor's is in a shared cache that an error would have to replace, or may get there.
    var response = try await ProblemError.adjusting({ $0.replacesStored = false }) {
      try await next(request, context)
    }
    response.headers[.cacheControl] = CachePolicy.editorial
    bucket?.answered(status: response.status.code)
    return response
  }

  /// The scheme is case-insensitive (RFC 9110 section 11.1).
  private static func bearerToken(_ headers: HTTPFields) -> String? {
    let fields = headers[values: .authorization]
    guard fields.count == 1 else { return nil }
    let parts = fields[0].split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return parts[1].trimmingPrefix { $0 == " " }.description
  }
}
