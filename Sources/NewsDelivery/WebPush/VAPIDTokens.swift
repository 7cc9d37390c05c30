import Foundation
import JWTKit
import News
import Synchronization

/// The tokens by which the server identifies itself to push services: one for each origin, reused for hours (RFC 8292).
actor VAPIDTokens {
  /// The lifetime of a token in seconds. At most a day is allowed (RFC 8292 section 2).
  private static let lifetime: Double = 12 * 3600
  /// The time in seconds before its expiry at which a token is renewed.
  private static let margin: Double = 3600
  /// The maximum number of tokens in memory.
  private static let capacity = 256

  private let credentials: VAPIDCredentials
  private let clock: @Sendable () -> Date
  private let keys = JWTKeyCollection()
  private var tokens: [String: (text: Task<String, any Error>, renewal: Date)] = [:]
  /// The values of `Authorization` with the tokens that are signed, by origin.
  private let authorizations = Mutex<[String: TimedToken]>([:])

  init(_ credentials: VAPIDCredentials, clock: @escaping @Sendable () -> Date) {
    self.credentials = credentials
    self.clock = clock
  }

  /// Returns the value of `Authorization` for a push service.
  ///
  /// - Parameter origin: The scheme, host and port of the endpoint, as in RFC 6454 section 6.2.
  nonisolated func authorization(for origin: String) async throws -> String {
    let now = clock()
    if let text = authorizations.withLock({ $0[origin]?.text(at: now) }) { return text }
    return try await newAuthorization(for: origin, now)
  }

  private func newAuthorization(for origin: String, _ now: Date) async throws -> String {
    let (token, renewal) = try await token(for: origin, now)
    let authorization = TimedToken(
      text: "vapid t=\(token), k=\(credentials.publicKey)", life: renewal.addingTimeInterval(-Self.lifetime)..<renewal)
    authorizations.withLock { authorizations in
      if authorizations.count >= Self.capacity { authorizations.removeAll() }
      authorizations[origin] = authorization
    }
    return authorization.text
  }

  private func token(for origin: String, _ now: Date) async throws -> (text: String, renewal: Date) {
    if let token = tokens[origin] {
      let rest = token.renewal.timeIntervalSince(now)
      // A longer rest means that the clock was set back.
      if rest > 0, rest <= Self.lifetime { return (try await token.text.value, token.renewal) }
    }
    if tokens.count >= Self.capacity { tokens.removeAll() }
    let expiry = now.addingTimeInterval(Self.lifetime)
    let claims = ServerClaims(sub: credentials.subject, aud: origin, exp: Int(expiry.timeIntervalSince1970))
    let (keys, key) = (keys, credentials.key)
    let text = Task {
      await keys.add(ecdsa: try ES256PrivateKey(backing: key))
      return try await keys.sign(claims)
    }
    let renewal = expiry.addingTimeInterval(-Self.margin)
    tokens[origin] = (text, renewal)
    return (try await text.value, renewal)
  }
}
