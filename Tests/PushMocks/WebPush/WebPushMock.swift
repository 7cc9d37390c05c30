import Crypto
import Foundation
package import NIOHTTP1
import News

/// A mock of a Web Push service together with the receivers of its messages, over HTTP/2 and HTTP/1.1.
///
///     let mocks = try await PushMocks.start()
///     let subscription = mocks.webPush.subscribe()
///     // The sender sends to subscription.endpoint, encrypted for its keys.
///     print(mocks.webPush.record.messages.first?.payload ?? Data())
public final class WebPushMock: Sendable {
  /// The key by which the sender is known (VAPID), as PEM.
  public let keyPEM: String
  /// The faults, none at first.
  public var faults: MockFaults { server.faults }
  /// The received messages, decrypted.
  public var record: MockRecord { server.record }
  /// The origin of the endpoints.
  public var url: String { "https://127.0.0.1:\(server.port)" }

  private let server: MockServer
  private let rules: WebPushRules
  private let senderKey: [UInt8]

  init(_ configuration: PushMocks.Configuration, certificates: MockCertificates) async throws {
    keyPEM = configuration.keys.vapid.pemRepresentation
    senderKey = Array(configuration.keys.vapid.publicKey.x963Representation)
    let receiver = configuration.keys.receiver
    // The secret needs no file of its own.
    let secret = Array(SHA256.hash(data: receiver.rawRepresentation).prefix(16))
    rules = WebPushRules(
      protocols: configuration.optionalProtocols, shared: .init(key: receiver, secret: secret, sender: senderKey),
      isLight: configuration.isLight,
      clock: configuration.clock)
    server = try await MockServer(
      rules, certificates: certificates, port: configuration.ports.webPush, keepsMessages: !configuration.isLight,
      observer: configuration.observer(of: "webpush"))
  }

  /// Adds a subscription with keys of its own, for messages of the known sender.
  public func subscribe() -> MockSubscription {
    let id = UUID().uuidString
    let secret = (0..<16).map { _ in UInt8.random(in: 0...255) }
    let subscription = WebPushRules.Subscription(key: .init(), secret: secret, sender: senderKey)
    rules.add(subscription, id: id)
    return described(subscription, id: id)
  }

  /// Adds an endpoint for a receiver that has made its own keys. The payloads of its messages are the bodies as sent.
  public func addEndpoint() -> String {
    let id = UUID().uuidString
    rules.add(WebPushRules.Subscription(key: nil, secret: [], sender: senderKey), id: id)
    return url + WebPushRules.pathPrefix + id
  }

  /// Returns a subscription that shares its keys with all others of this kind, and takes no memory.
  public func sharedSubscription(_ name: String) -> MockSubscription {
    described(rules.shared, id: WebPushRules.sharedPrefix + name)
  }

  /// Removes a subscription. Messages to it receive 404.
  public func unsubscribe(_ subscription: MockSubscription) { rules.remove(subscription.id) }

  /// Lets a subscription expire. Messages to it receive 410.
  public func expire(_ subscription: MockSubscription) { rules.expire(subscription.id) }

  /// Checks a POST request without recording it.
  ///
  /// - Returns: The status of the response, and the rule that the request breaks; nil for none.
  package func trial(_ path: String, _ headers: HTTPHeaders, _ body: [UInt8]) -> (status: Int, rule: String?) {
    server.trial(path: path, headers: headers, body: body)
  }

  /// Begins an outage, which closes all connections.
  public func goDown(_ outage: PushOutage = .refused) async { await server.goDown(outage) }

  /// Ends an outage.
  public func comeBack() async throws { try await server.comeBack() }

  private func described(_ subscription: WebPushRules.Subscription, id: String) -> MockSubscription {
    MockSubscription(
      id: id, endpoint: url + WebPushRules.pathPrefix + id,
      p256dh: subscription.key.map { Array($0.publicKey.x963Representation) } ?? [], auth: subscription.secret)
  }
}
