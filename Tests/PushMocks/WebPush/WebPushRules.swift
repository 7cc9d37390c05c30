import Crypto
import Foundation
import NIOHTTP1
import News
import Synchronization

/// The rules of a Web Push service for requests (RFC 8030, RFC 8188, RFC 8291, RFC 8292), and its subscriptions.
final class WebPushRules: MockService {
  /// A subscription as the service and the receiver see it.
  struct Subscription {
    /// The key of the receiver; nil if another program is the receiver.
    var key: P256.KeyAgreement.PrivateKey?
    var secret: [UInt8]
    /// The public key that messages must be signed with; nil for any (RFC 8292 section 4).
    var sender: [UInt8]?
    var isExpired = false
  }

  private struct State {
    var subscriptions: [String: Subscription] = [:]
    /// The claims of tokens whose signatures were verified, by the value of `Authorization`.
    var tokens: [String: SignedToken.Claims] = [:]
  }

  /// The beginning of the ids of subscriptions that share a key.
  static let sharedPrefix = "shared-"
  static let pathPrefix = "/push/"
  /// The longest life of a token in seconds (RFC 8292 section 2).
  private static let longestLife: Double = 86_400
  private static let urgencies = ["very-low", "low", "normal", "high"]
  private static let tokenCapacity = 1000

  let protocols: [String]
  let maximumStreams = 100
  let shared: Subscription
  private let isLight: Bool
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())

  init(protocols: [String], shared: Subscription, isLight: Bool, clock: @escaping @Sendable () -> Date) {
    self.protocols = protocols
    self.shared = shared
    self.isLight = isLight
    self.clock = clock
  }

  func add(_ subscription: Subscription, id: String) { state.withLock { $0.subscriptions[id] = subscription } }

  func remove(_ id: String) { state.withLock { $0.subscriptions[id] = nil } }

  func expire(_ id: String) { state.withLock { $0.subscriptions[id]?.isExpired = true } }

  func judgement(of request: MockRequest) -> MockJudgement {
    func refused(_ status: Int, _ rule: String, headers: HTTPHeaders = [:]) -> MockJudgement {
      .refused(rule: rule, MockResponse(status: status, headers: headers, body: rule))
    }
    guard request.path.hasPrefix(Self.pathPrefix) else { return refused(404, "the path is not that of a subscription") }
    guard request.method == .POST else { return refused(405, "the method is not POST") }
    let id = String(request.path.dropFirst(Self.pathPrefix.count))
    guard let subscription = subscription(id) else { return refused(404, "the subscription is unknown") }
    if subscription.isExpired { return refused(410, "the subscription has expired") }
    if let rule = Self.fieldViolation(request) { return refused(400, rule) }
    // RFC 8030 section 7.2 and RFC 8291 section 4.
    if request.body.count > 4096 { return refused(413, "the body has more than 4096 bytes") }
    var payload = Data()
    if !isLight {
      if let (status, rule) = tokenViolation(request, subscription) {
        return refused(status, rule, headers: status == 401 ? ["www-authenticate": "vapid"] : [:])
      }
      payload = Data(request.body)
      if let key = subscription.key {
        do throws(DecryptedContent.Failure) {
          payload = try DecryptedContent.plaintext(of: request.body, receiver: key, secret: subscription.secret)
        } catch {
          return refused(400, error.rule)
        }
        guard (try? JSONSerialization.jsonObject(with: payload)) is [String: Any] else {
          return refused(400, "the content is not JSON")
        }
      }
    }
    let message = ReceivedMessage(
      address: id, headers: isLight ? [:] : request.headers, payload: payload, options: [:], time: clock(),
      connection: request.connection)
    // RFC 8030 section 5: the location is that of the message.
    let location = "/message/\(UUID().uuidString)"
    return .accepted(
      message, MockResponse(status: 201, headers: ["location": location, "ttl": request.field("ttl") ?? ""]))
  }

  private func subscription(_ id: String) -> Subscription? {
    if let subscription = state.withLock({ $0.subscriptions[id] }) { return subscription }
    return id.hasPrefix(Self.sharedPrefix) ? shared : nil
  }

  private static func fieldViolation(_ request: MockRequest) -> String? {
    guard let lifetime = request.field("ttl") else { return "TTL is missing" }
    guard !lifetime.isEmpty, lifetime.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return "TTL is not a number" }
    if let urgency = request.field("urgency"), !urgencies.contains(urgency) { return "Urgency is unknown" }
    if let topic = request.field("topic") {
      guard 1...32 ~= topic.utf8.count,
        topic.utf8.allSatisfy({
          0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 || $0 == 0x2d || $0 == 0x5f
        })
      else { return "Topic is not base64url of at most 32 characters" }
    }
    // The length of a receiver's content is limited by that of the body.
    guard request.field("content-encoding") == "aes128gcm" else { return "Content-Encoding is not aes128gcm" }
    return nil
  }

  /// Checks the token of the sender (RFC 8292).
  ///
  /// - Returns: The status and the rule.
  private func tokenViolation(_ request: MockRequest, _ subscription: Subscription) -> (Int, String)? {
    guard let authorization = request.field("authorization") else { return (401, "Authorization is missing") }
    guard let parameters = Self.parameters(authorization), let text = parameters["t"],
      let key = parameters["k"].flatMap({ [UInt8](base64URL: $0) })
    else { return (401, "Authorization is malformed") }
    guard let claims = state.withLock({ $0.tokens[authorization] }) ?? verified(text, key, authorization) else {
      return (403, "the signature of the token is not valid")
    }
    let now = clock().timeIntervalSince1970
    guard claims.aud == "https://\(request.field("host") ?? "")" else { return (403, "aud is not the origin") }
    guard let expiry = claims.exp, expiry > now, expiry <= now + Self.longestLife else {
      return (403, "exp is not within a day")
    }
    if let subject = claims.sub, !subject.hasPrefix("mailto:"), !subject.hasPrefix("https:") {
      return (403, "sub is neither a mailto: nor an https: URL")
    }
    if let sender = subscription.sender, sender != key { return (403, "the subscription belongs to another sender") }
    return nil
  }

  private func verified(_ text: String, _ key: [UInt8], _ authorization: String) -> SignedToken.Claims? {
    guard let token = SignedToken(text), token.header.alg == "ES256",
      let publicKey = try? P256.Signing.PublicKey(x963Representation: key),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
      publicKey.isValidSignature(signature, for: token.signedPart)
    else { return nil }
    state.withLock { state in
      if state.tokens.count >= Self.tokenCapacity { state.tokens = [:] }
      state.tokens[authorization] = token.claims
    }
    return token.claims
  }

  /// Parses the parameters of the scheme `vapid` (RFC 9110 section 11.4).
  private static func parameters(_ authorization: String) -> [String: String]? {
    let scheme = authorization.prefix { $0 != " " }
    guard scheme.lowercased() == "vapid" else { return nil }
    var parameters: [String: String] = [:]
    for part in authorization.dropFirst(scheme.count).split(separator: ",") {
      let pair = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { return nil }
      parameters[pair[0].lowercased()] = String(pair[1])
    }
    return parameters
  }
}
