import Crypto
import Foundation
import NIOHTTP1
import Synchronization

/// The rules of APNs for requests.
///
/// Source: "Sending notification requests to APNs", "Establishing a token-based connection to APNs", "Pushing
/// background updates to your app".
struct APNsRules: MockService {
  /// The maximum age of a provider token in seconds, and the minimum time between two of them on a connection.
  private static let maximumAge: Double = 3600
  private static let minimumRenewal: Double = 20 * 60
  /// The tolerated difference of clocks in seconds.
  private static let tolerance: Double = 60
  private static let pushTypes: Set = [
    "alert", "background", "controls", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
    "pushtotalk", "widgets",
  ]
  private static let singleFields = [
    "authorization", "apns-id", "apns-expiration", "apns-priority", "apns-topic", "apns-collapse-id", "apns-push-type",
  ]

  let protocols = ["h2"]
  let maximumStreams = 1000

  let key: P256.Signing.PublicKey
  let keyID: String
  let teamID: String
  /// The apps that the key may send messages to; nil for all.
  let topics: Set<String>?
  let isLight: Bool
  let clock: @Sendable () -> Date
  private let tokens = ProviderTokens()

  /// The provider tokens whose signatures were verified, and the last one of each connection.
  private final class ProviderTokens: Sendable {
    struct State {
      var issued: [String: Double] = [:]
      var connections: [Int: (token: String, changed: Date)] = [:]
    }

    let state = Mutex(State())
  }

  init(
    key: P256.Signing.PublicKey, keyID: String, teamID: String, topics: Set<String>?, isLight: Bool,
    clock: @escaping @Sendable () -> Date
  ) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.topics = topics
    self.isLight = isLight
    self.clock = clock
  }

  func judgement(of request: MockRequest) -> MockJudgement {
    let prefix = "/3/device/"
    if let reason = violation(of: request, prefix: prefix) {
      return .refused(rule: reason.rawValue, reason.response())
    }
    let message = ReceivedMessage(
      address: String(request.path.dropFirst(prefix.count)).lowercased(), headers: isLight ? [:] : request.headers,
      payload: isLight ? Data() : Data(request.body), options: [:], time: clock(), connection: request.connection)
    let id = request.field("apns-id") ?? UUID().uuidString
    return .accepted(message, MockResponse(status: 200, headers: ["apns-id": id]))
  }

  private func violation(of request: MockRequest, prefix: String) -> APNsReason? {
    guard request.path.hasPrefix(prefix) else { return .badPath }
    guard request.method == .POST else { return .methodNotAllowed }
    let device = request.path.dropFirst(prefix.count)
    if device.isEmpty { return .missingDeviceToken }
    guard device.utf8.count.isMultiple(of: 2), device.utf8.count <= 200, device.allSatisfy({ $0.isHexDigit }) else {
      return .badDeviceToken
    }
    if request.body.isEmpty { return .payloadEmpty }
    if request.body.count > 4096 { return .payloadTooLarge }
    if isLight { return nil }
    if Self.singleFields.contains(where: { request.headers[$0].count > 1 }) { return .duplicateHeaders }
    return tokenViolation(request) ?? fieldViolation(request)
      ?? Self.payloadViolation(request.body, type: request.field("apns-push-type") ?? "")
  }

  private func tokenViolation(_ request: MockRequest) -> APNsReason? {
    guard let authorization = request.field("authorization") else { return .missingProviderToken }
    guard authorization.hasPrefix("bearer ") || authorization.hasPrefix("Bearer ") else { return .invalidProviderToken }
    let text = String(authorization.dropFirst(7))
    guard let issued = tokens.state.withLock({ $0.issued[text] }) ?? verified(text) else {
      return .invalidProviderToken
    }
    let now = clock()
    let age = now.timeIntervalSince1970 - issued
    if age > Self.maximumAge { return .expiredProviderToken }
    if age < -Self.tolerance { return .invalidProviderToken }
    return tokens.state.withLock { state in
      if let last = state.connections[request.connection] {
        if last.token == text { return nil }
        if now.timeIntervalSince(last.changed) < Self.minimumRenewal { return .tooManyProviderTokenUpdates }
      }
      state.connections[request.connection] = (text, now)
      return nil
    }
  }

  /// - Returns: The time of issue in seconds since 1970; nil if the token is not valid.
  private func verified(_ text: String) -> Double? {
    guard let token = SignedToken(text), token.header.alg == "ES256", token.header.kid == keyID,
      token.claims.iss == teamID, let issued = token.claims.iat,
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
      key.isValidSignature(signature, for: token.signedPart)
    else { return nil }
    tokens.state.withLock { $0.issued[text] = issued }
    return issued
  }

  private func fieldViolation(_ request: MockRequest) -> APNsReason? {
    guard let topic = request.field("apns-topic"), !topic.isEmpty else { return .missingTopic }
    if topics?.contains(topic) == false { return .topicDisallowed }
    let type = request.field("apns-push-type") ?? ""
    guard Self.pushTypes.contains(type) else { return .invalidPushType }
    let priority = request.field("apns-priority") ?? "10"
    // A background notification with another priority is an error.
    guard ["1", "5", "10"].contains(priority), type != "background" || priority == "5" else { return .badPriority }
    if let expiration = request.field("apns-expiration"), UInt32(expiration) == nil { return .badExpirationDate }
    if let id = request.field("apns-id"), UUID(uuidString: id) == nil { return .badMessageID }
    if request.field("apns-collapse-id")?.utf8.count ?? 0 > 64 { return .badCollapseID }
    return nil
  }

  /// Apple names no reason for malformed JSON. It counts as an empty payload here.
  private static func payloadViolation(_ body: [UInt8], type: String) -> APNsReason? {
    guard let payload = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any],
      let aps = payload["aps"] as? [String: Any], !aps.isEmpty
    else { return .payloadEmpty }
    let isVisible = ["alert", "badge", "sound"].contains { aps[$0] != nil }
    switch type {
    case "background":
      return aps["content-available"] as? Int == 1 && !isVisible ? nil : .invalidPushType
    case "alert": return isVisible ? nil : .invalidPushType
    default: return nil
    }
  }
}
