import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import News
package import NewsStore

/// Requires a key with a permission, a scope in the terms of OAuth (RFC 6750), and keeps the responses out of all caches.
struct AuthorizationMiddleware: RouterMiddleware {
  let store: NewsStore
  /// The permissions, of which one suffices.
  let permissions: [APIKey.Permission]
  /// Whether a key that is restricted to topics is refused.
  let requiresAllTopics: Bool
  let limits: RateLimiter<String>?
  let metrics: APIMetrics

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let record = context.record
    guard let token = Self.bearerToken(request.headers) else {
      record.setRefusal("no key")
      throw ProblemError.unauthorized(detail: nil)
    }
    // Without an answering database, the request would wait until its deadline. It is rejected early instead.
    guard await store.isAnswering() else { throw ProblemError.unavailable(store) }
    guard let (key, refusal) = try await store.presentedKey(token) else {
      record.setRefusal("unknown key")
      throw ProblemError.unauthorized(detail: Self.invalidKey)
    }
    record.setKey(key)
    if let refusal {
      let (reason, detail) = Self.explanation(of: refusal)
      record.setRefusal(reason)
      throw ProblemError.unauthorized(detail: detail)
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
    if requiresAllTopics, let topics = key.topics {
      record.setRefusal("key without restriction to topics required")
      throw ProblemError.topicNotAllowed(EditorialAPI.topicRightsConsequence, allowed: topics)
    }
    if let name = try IdempotencyKey(request.headers) {
      // If the field were ignored, a client would assume that its repeats are detected.
      guard request.method == .post else { throw ProblemError.idempotencyKeyUnsupported }
      record.setIdempotencyKey(
        .init(apiKey: key.id, method: request.method.rawValue, target: request.uri.string, text: name.text))
    }
    // No shared cache stores an editorial response, so errors need not replace one. They must not be stored either.
    var response = try await ProblemError.adjusting({ problem in
      problem.replacesStored = false
      if problem.isOutage { problem = .unavailable(store) }
    }) {
      try await NewsStore.onBehalf(of: key.id) {
        try await replaying(record) { try await next(request, context) }
      }
    }
    response.headers[.cacheControl] = CachePolicy.editorial
    bucket?.refund(status: response.status.code)
    return response
  }

  /// Sends the stored answer to a request that was carried out before.
  private func replaying(_ record: RequestRecord, _ next: () async throws -> Response) async throws -> Response {
    do {
      return try await next()
    } catch let answered as AnsweredBefore {
      var response = EditorialAnswer(answered.answer).response
      guard answered.isRepetition else { return response }
      response.headers[.idempotencyReplayed] = "true"
      record.setReplayed(response.headers[.location])
      metrics.countRepetition(.replayed)
      return response
    } catch StoreError.requestInProgress {
      metrics.countRepetition(.inProgress)
      throw StoreError.requestInProgress
    } catch StoreError.idempotencyKeyReused {
      metrics.countRepetition(.reused)
      throw StoreError.idempotencyKeyReused
    }
  }

  private static let invalidKey = "The key is unknown or revoked."

  /// The reason of a refusal for the log, and its explanation for the client.
  private static func explanation(of refusal: KeyRefusal) -> (reason: String, detail: String) {
    switch refusal {
    case .revoked: ("revoked key", invalidKey)
    case .expired: ("expired key", "The key has expired.")
    case .replaced: ("replaced key", "The key was replaced by a new one and is no longer valid.")
    }
  }

  /// Returns the bearer token of a request. The scheme is case-insensitive (RFC 9110 section 11.1).
  static func bearerToken(_ headers: HTTPFields) -> String? {
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
  /// The rights of the request's key over items. Without a key there are none.
  package var access: ItemAccess { record.key?.access ?? ItemAccess(mayPublish: false, topics: []) }

  /// The author of the request's writes, for the history.
  var editor: Editor? { record.key.map { .key($0.name) } }
}
