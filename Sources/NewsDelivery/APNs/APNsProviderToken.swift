import Crypto
import Foundation
import JWTKit
import Synchronization

/// The provider token of APNs: a JWT with ES256, which all requests of the process share.
///
/// APNs refuses tokens older than an hour, and refuses requests of a provider that renews its token more often than every
/// 20 minutes (`TooManyProviderTokenUpdates`).
actor APNsProviderToken {
  /// The age in seconds at which the token is renewed.
  private static let renewalAge: Double = 40 * 60
  /// The age in seconds before which the token must not be renewed.
  private static let minimumAge: Double = 20 * 60

  private let keys = JWTKeyCollection()
  private let key: ES256PrivateKey
  private let keyID: JWKIdentifier
  private let teamID: String
  private let clock: @Sendable () -> Date
  private var current: (text: Task<String, any Error>, issued: Date)?
  /// The token of `current` once it is signed.
  private let signed = Mutex<TimedToken?>(nil)

  init(key: ES256PrivateKey, keyID: String, teamID: String, clock: @escaping @Sendable () -> Date) {
    self.key = key
    self.keyID = JWKIdentifier(string: keyID)
    self.teamID = teamID
    self.clock = clock
  }

  /// Returns the current token, or a new one if it is 40 minutes old.
  nonisolated func text() async throws -> String {
    let now = clock()
    if let text = signed.withLock({ $0?.text(at: now) }) { return text }
    return try await text(now)
  }

  private func text(_ now: Date) async throws -> String {
    // A time in the future means that the clock was set back.
    if let current, 0..<Self.renewalAge ~= now.timeIntervalSince(current.issued) { return try await current.text.value }
    return try await issue(now)
  }

  /// Renews a token that APNs has refused as expired, unless that has happened already.
  ///
  /// - Returns: The time in seconds until the token may be renewed; nil if it has been.
  func renew(after refused: String) async throws -> Double? {
    let now = clock()
    if let current {
      guard try await current.text.value == refused else { return nil }
      let age = now.timeIntervalSince(current.issued)
      if 0..<Self.minimumAge ~= age { return Self.minimumAge - age }
    }
    _ = try await issue(now)
    return nil
  }

  private func issue(_ now: Date) async throws -> String {
    let claims = ServerClaims(iss: teamID, iat: Int(now.timeIntervalSince1970))
    let (keys, key, keyID) = (keys, key, keyID)
    // Callers that arrive meanwhile wait for the same token.
    let text = Task {
      await keys.add(ecdsa: key, kid: keyID)
      return try await keys.sign(claims, kid: keyID)
    }
    current = (text, now)
    signed.withLock { $0 = nil }
    let token = TimedToken(text: try await text.value, life: now..<now.addingTimeInterval(Self.renewalAge))
    // A later token may have been signed meanwhile.
    if current?.text == text { signed.withLock { $0 = token } }
    return token.text
  }
}
