package import Foundation
import NIOHTTP1
package import NIOSSL
package import News
package import NewsStore
package import OutgoingHTTP
import Synchronization

/// Sends messages to the push services of browsers and of UnifiedPush.
///
/// Source: RFC 8030, RFC 8291, RFC 8292.
package final class WebPushSender: PushSender {
  /// The maximum number of hosts with connections.
  private static let hostLimit = 128
  /// The timeout of a request.
  package static let timeout: Duration = .seconds(20)

  package let provider = PushProvider.webpush
  package let width = 256
  /// The hosts have nothing to do with each other.
  package let sharesFailures = false

  private let origins: WebPushOrigins
  private let tokens: VAPIDTokens
  private let resolver: CheckedResolver
  private let trustRoots: [NIOSSLCertificate]
  private let requestTimeout: Duration
  private let checkTime: Duration
  private let closingTime: Duration
  /// The hosts by origin, with the order of their last use.
  private let hosts = Mutex((hosts: [String: (host: WebPushHost, use: Int)](), uses: 0))

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - credentials: The key of the server.
  ///   - origins: The origins that messages are sent to.
  ///   - resolver: The resolver, which the sender shuts down.
  ///   - trustRoots: The authorities that are trusted besides those of the system.
  ///   - checkTime: The time after which the name of a host is resolved again; nil for five minutes.
  ///   - closingTime: The time that requests to the former address of a host have; nil for 30 seconds.
  ///   - clock: The time of the tokens.
  package init(
    _ credentials: VAPIDCredentials, origins: WebPushOrigins, resolver: CheckedResolver,
    trustRoots: [NIOSSLCertificate], timeout: Duration? = nil, checkTime: Duration? = nil,
    closingTime: Duration? = nil, clock: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.origins = origins
    tokens = VAPIDTokens(credentials, clock: clock)
    self.resolver = resolver
    self.trustRoots = trustRoots
    requestTimeout = timeout ?? Self.timeout
    self.checkTime = checkTime ?? WebPushHost.checkTime
    self.closingTime = closingTime ?? WebPushHost.closingTime
  }

  /// Sends a message.
  package func send(_ message: PushMessage) async -> PushAnswer {
    guard case .webPush(let endpoint, let receiver, let secret) = message.target else {
      return PushAnswer(.invalid(reason: "the device does not belong to Web Push"))
    }
    guard let url = try? OutgoingURL(endpoint), origins.allows(url) else {
      return PushAnswer(.tokenError(reason: "the origin of the push service is not allowed (TIDINGS_PUSH_ORIGINS)"))
    }
    guard let payload = WebPushPayload.bytes(message) else {
      return PushAnswer(.invalid(reason: "the payload has more than \(WebPushEncryption.limit) bytes"))
    }
    let origin = url.origin
    guard let host = host(of: url, origin: origin), await host.gate.enter() else {
      return PushAnswer(.unsent(after: .random(in: 1...5), reason: "the push service is slow"))
    }
    guard let body = try? WebPushEncryption.encrypt(payload, receiver: receiver, secret: secret) else {
      host.gate.leave(hasResponded: true)
      return PushAnswer(.tokenError(reason: "the public key of the subscription is not valid"))
    }
    let (answer, hasResponded) = await send(body, to: url, origin: origin, at: host, message)
    host.gate.leave(hasResponded: hasResponded)
    return answer
  }

  package func shutdown() async {
    let hosts = hosts.withLock { hosts in
      defer { hosts.hosts = [:] }
      return hosts.hosts.values.map(\.host)
    }
    for host in hosts { await host.shutdown() }
    await resolver.shutdown()
  }

  private func send(
    _ body: [UInt8], to url: OutgoingURL, origin: String, at host: WebPushHost, _ message: PushMessage
  ) async -> (PushAnswer, hasResponded: Bool) {
    let wait = RetryWait.seconds(attempts: message.attempts)
    do {
      let connection = try await host.connection()
      let authorization = try await tokens.authorization(for: origin)
      do {
        let response = try await connection.post(
          url.text, headers: Self.headers(message, authorization: authorization), body: body)
        return (WebPushAnswer.answer(response, attempts: message.attempts), true)
      } catch {
        if case .unreachable = error { await host.noteUnreachable(connection) }
        // A host that closes connections by GOAWAY responds.
        return (.failure(after: wait, "the push service: \(error.reason)"), error == .unprocessed)
      }
    } catch OutgoingError.refused {
      return (PushAnswer(.tokenError(reason: "the address of the push service is not allowed")), true)
    } catch is OutgoingError {
      return (.failure(after: wait, "the name of the push service cannot be resolved"), false)
    } catch {
      return (.failure(after: wait, "the token of the server cannot be signed"), true)
    }
  }

  private static func headers(_ message: PushMessage, authorization: String) -> HTTPHeaders {
    let (lifetime, urgency) =
      switch message.kind {
      case .silent: (86_400, "low")
      case .alert: (21_600, message.content.alert?.breaking == true ? "high" : "normal")
      case .confirmation: (3600, "high")
      }
    var headers: HTTPHeaders = [
      "authorization": authorization, "content-encoding": "aes128gcm", "content-type": "application/octet-stream",
      "ttl": "\(lifetime)", "urgency": urgency,
    ]
    if let topic = topic(message) { headers.add(name: "topic", value: topic) }
    return headers
  }

  /// The topic by which a newer message replaces an older one: at most 32 characters (RFC 8030 section 5.4).
  private static func topic(_ message: PushMessage) -> String? {
    switch message.kind {
    case .silent: "news"
    case .alert: message.content.contentID.map { id in withUnsafeBytes(of: id.uuid) { String(base64URL: $0) } }
    case .confirmation: nil
    }
  }

  /// Returns the host of an endpoint; nil if there are too many hosts in use.
  private func host(of url: OutgoingURL, origin: String) -> WebPushHost? {
    let (host, removed) = hosts.withLock { state -> (WebPushHost?, WebPushHost?) in
      state.uses += 1
      if let host = state.hosts[origin]?.host {
        state.hosts[origin]?.use = state.uses
        return (host, nil)
      }
      var removed: WebPushHost?
      if state.hosts.count >= Self.hostLimit {
        let idle = state.hosts.filter { $0.value.host.gate.isIdle }
        guard let oldest = idle.min(by: { $0.value.use < $1.value.use })?.key else { return (nil, nil) }
        removed = state.hosts.removeValue(forKey: oldest)?.host
      }
      let host = WebPushHost(
        url, resolver: resolver, trustRoots: trustRoots, timeout: requestTimeout, checkTime: checkTime,
        closingTime: closingTime)
      state.hosts[origin] = (host, state.uses)
      return (host, removed)
    }
    if let removed { Task { await removed.shutdown() } }
    return host
  }
}
