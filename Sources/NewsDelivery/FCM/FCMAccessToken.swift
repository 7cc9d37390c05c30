import Foundation
import JWTKit
import NIOHTTP1
import Synchronization

/// The OAuth access token of a service account, which all requests of the process share.
///
/// Source: RFC 7523, and "Using OAuth 2.0 for Server to Server Applications".
actor FCMAccessToken {
  /// The reason why there is no token.
  struct Failure: Error {
    /// The time until the next attempt in seconds.
    var wait: Double
    /// The reason in words.
    var reason: String
    /// Whether only the operator can change it.
    var isConfiguration: Bool
  }

  private struct Answer: Decodable {
    var accessToken: String
    var expiresIn: Double?
  }

  /// The time in seconds before its expiry at which a token is renewed.
  private static let margin: Double = 300
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  private let account: FCMCredentials
  private let connection: PushConnection
  private let clock: @Sendable () -> Date
  private let keys = JWTKeyCollection()
  private let current = Mutex<TimedToken?>(nil)
  /// The request under way. Callers that arrive meanwhile wait for it.
  private var request: Task<String, any Error>?
  /// The failures in a row, and the time before which no further request is sent.
  private var failures = 0
  private var lastFailure: (failure: Failure, end: Date)?

  init(_ account: FCMCredentials, connection: PushConnection, clock: @escaping @Sendable () -> Date) {
    self.account = account
    self.connection = connection
    self.clock = clock
  }

  /// Returns the current token, or requests a new one.
  ///
  /// - Throws: `Failure`.
  nonisolated func text() async throws -> String {
    if let text = currentText { return text }
    return try await newText()
  }

  private nonisolated var currentText: String? {
    let now = clock()
    return current.withLock { $0?.text(at: now) }
  }

  private func newText() async throws -> String {
    // Another caller may have renewed it meanwhile.
    if let text = currentText { return text }
    if let request { return try await request.value }
    if let lastFailure, clock() < lastFailure.end { throw lastFailure.failure }
    let request = Task { try await self.renew() }
    self.request = request
    return try await request.value
  }

  /// Forgets a token that the service has refused.
  nonisolated func discard(_ refused: String) {
    current.withLock { if $0?.text == refused { $0 = nil } }
  }

  private func renew() async throws -> String {
    defer { request = nil }
    do {
      let answer = try await requestToken()
      // A life below ten minutes halves the margin, so that not each message needs a new token.
      let life = answer.expiresIn ?? 3600
      let margin = min(Self.margin, life / 2)
      let token = TimedToken(
        text: answer.accessToken, life: .distantPast..<clock().addingTimeInterval(life - margin))
      current.withLock { $0 = token }
      (failures, lastFailure) = (0, nil)
      return answer.accessToken
    } catch let failure as Failure {
      failures += 1
      lastFailure = (failure, clock().addingTimeInterval(min(failure.wait, 60)))
      throw failure
    }
  }

  private func requestToken() async throws -> Answer {
    let now = Int(clock().timeIntervalSince1970)
    let claims = ServerClaims(
      iss: account.clientEmail, aud: account.tokenURI, scope: Self.scope, iat: now, exp: now + 3600)
    let kid = account.keyID.map { JWKIdentifier(string: $0) }
    await keys.add(rsa: account.key, digestAlgorithm: .sha256, kid: kid)
    guard let assertion = try? await keys.sign(claims, kid: kid) else {
      throw Failure(
        wait: RetryWait.configuration, reason: "the request for a token cannot be signed", isConfiguration: true)
    }
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    let response: PushResponse
    do {
      response = try await connection.post(
        account.tokenURI, headers: ["content-type": "application/x-www-form-urlencoded"], body: Array(form.utf8))
    } catch {
      let wait = RetryWait.seconds(attempts: failures)
      throw Failure(wait: wait, reason: "Google's token service: \(error.reason)", isConfiguration: false)
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    if response.status == 200, let answer = try? decoder.decode(Answer.self, from: Data(response.body)) {
      return answer
    }
    let isTransient = response.status >= 500 || response.status == 429 || response.status == 200
    throw Failure(
      wait: RetryWait.seconds(attempts: failures, headers: response.headers),
      reason: "Google's token service answers \(response.status)", isConfiguration: !isTransient)
  }
}
