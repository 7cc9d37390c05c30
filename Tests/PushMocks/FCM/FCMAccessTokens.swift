import Crypto
import CryptoExtras
import Foundation
import NIOHTTP1
import Synchronization

/// The access tokens that the token service of Google has issued to a service account.
///
/// Source: RFC 7523 section 2.1, RFC 6749 section 5, "Using OAuth 2.0 for Server to Server Applications".
final class FCMAccessTokens: Sendable {
  private struct State {
    /// The times of expiry in seconds since 1970.
    var tokens: [String: Double] = [:]
    var issued = 0
    var lifetime: Double = 3599
  }

  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let scopes: Set = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]
  /// The longest life of an assertion in seconds, and the tolerated difference of clocks.
  private static let longestLife: Double = 3600
  private static let tolerance: Double = 60

  let faults = MockFaults()
  private let key: _RSA.Signing.PublicKey
  private let email: String
  private let keyID: String
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())

  init(key: _RSA.Signing.PublicKey, email: String, keyID: String, clock: @escaping @Sendable () -> Date) {
    self.key = key
    self.email = email
    self.keyID = keyID
    self.clock = clock
  }

  /// The number of tokens that were issued.
  var issued: Int { state.withLock { $0.issued } }

  /// The life of new tokens in seconds.
  var lifetime: Double {
    get { state.withLock { $0.lifetime } }
    set { state.withLock { $0.lifetime = newValue } }
  }

  /// Makes all tokens invalid.
  func revoke() { state.withLock { $0.tokens = [:] } }

  /// Whether a token was issued and has not expired.
  func accepts(_ token: String) -> Bool {
    let now = clock().timeIntervalSince1970
    return state.withLock { $0.tokens[token].map { now < $0 } ?? false }
  }

  /// Checks a request for a token.
  ///
  /// - Parameter audience: The address of the token service.
  func judgement(of request: MockRequest, audience: String) -> MockJudgement {
    guard request.method == .POST else { return Self.refusal("invalid_request", "the method is not POST") }
    guard request.field("content-type")?.hasPrefix("application/x-www-form-urlencoded") == true,
      let form = Self.form(request.body)
    else { return Self.refusal("invalid_request", "the body is not a form") }
    guard form["grant_type"] == Self.grantType else { return Self.refusal("unsupported_grant_type", "grant_type") }
    guard let token = form["assertion"].flatMap({ SignedToken($0) }) else {
      return Self.refusal("invalid_grant", "the assertion is malformed")
    }
    if let violation = violation(of: token, audience: audience) { return Self.refusal("invalid_grant", violation) }
    let granted = token.claims.scope?.split(separator: " ").contains { Self.scopes.contains(String($0)) } ?? false
    guard granted else { return Self.refusal("invalid_scope", "the scope does not include FCM") }
    let message = ReceivedMessage(
      address: email, headers: request.headers, payload: Data(), options: form, time: clock(),
      connection: request.connection)
    return .other(message, issue(), faults)
  }

  private func issue() -> MockResponse {
    let now = clock().timeIntervalSince1970
    let (token, life) = state.withLock { state in
      state.issued += 1
      let token = "ya29.mock-\(state.issued)-\(UUID().uuidString)"
      state.tokens[token] = now + state.lifetime
      return (token, Int(state.lifetime))
    }
    return .json(#"{"access_token":"\#(token)","expires_in":\#(life),"token_type":"Bearer"}"#)
  }

  private func violation(of token: SignedToken, audience: String) -> String? {
    let now = clock().timeIntervalSince1970
    guard token.header.alg == "RS256", token.header.kid == nil || token.header.kid == keyID else {
      return "the header is not that of the key"
    }
    guard token.claims.iss == email else { return "iss is not the service account" }
    guard token.claims.aud == audience else { return "aud is not the token service" }
    guard let issued = token.claims.iat, let expiry = token.claims.exp, expiry - issued <= Self.longestLife,
      issued <= now + Self.tolerance, expiry > now
    else { return "iat and exp are not within an hour" }
    let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
    guard key.isValidSignature(signature, for: SHA256.hash(data: token.signedPart), padding: .insecurePKCS1v1_5) else {
      return "the signature is not valid"
    }
    return nil
  }

  private static func form(_ body: [UInt8]) -> [String: String]? {
    var form: [String: String] = [:]
    for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let value = parts[1].replacing("+", with: " ").removingPercentEncoding,
        form.updateValue(value, forKey: String(parts[0])) == nil
      else { return nil }
    }
    return form
  }

  private static func refusal(_ error: String, _ description: String) -> MockJudgement {
    .refused(
      rule: "\(error): \(description)",
      .json(#"{"error":"\#(error)","error_description":"\#(description)"}"#, status: 400))
  }
}
