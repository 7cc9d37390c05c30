package import Foundation
import JWTKit
import NIOHTTP1
package import NIOSSL
package import News
package import NewsStore

/// Sends notifications through the Apple Push Notification service.
///
/// Source: "Sending notification requests to APNs" and "Establishing a token-based connection to APNs".
package final class APNsSender: PushSender {
  /// The time in seconds for which APNs keeps a message for a device that cannot be reached.
  private static let silentLifetime: Double = 86_400
  private static let alertLifetime: Double = 6 * 3600
  /// The timeout of a request.
  private static let timeout: Duration = .seconds(20)

  package let provider = PushProvider.apns
  /// APNs allows about 1,000 streams on a connection.
  package let width = 300
  package let sharesFailures = true

  private let url: String?
  private let service: @Sendable (PushEnvironment) -> String
  private let token: APNsProviderToken
  private let connection: PushConnection
  private let clock: @Sendable () -> Date

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - credentials: The key of the provider.
  ///   - url: The address of the service without a trailing slash; nil for Apple's.
  ///   - trustRoots: The authorities that are trusted besides those of the system.
  ///   - service: Returns the address of Apple's service for an environment, without a trailing slash.
  ///   - clock: The time of the provider token.
  package init(
    _ credentials: APNsCredentials, url: String?, trustRoots: [NIOSSLCertificate], timeout: Duration? = nil,
    service: @escaping @Sendable (PushEnvironment) -> String = { APNsSender.service(of: $0) },
    clock: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.url = url
    self.service = service
    token = APNsProviderToken(
      key: credentials.key, keyID: credentials.keyID, teamID: credentials.teamID, clock: clock)
    connection = PushConnection(trustRoots: trustRoots, timeout: timeout ?? Self.timeout)
    self.clock = clock
  }

  /// Sends a message.
  package func send(_ message: PushMessage) async -> PushAnswer {
    guard case .apns(let device, let topic, let environment) = message.target else {
      return PushAnswer(.invalid(reason: "the device does not belong to APNs"))
    }
    // Anything else would change the path, and its error would look like one of the configuration.
    guard 1...400 ~= device.utf8.count, device.utf8.allSatisfy(\.isASCIIHexDigit),
      !topic.isEmpty, topic.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
    else { return PushAnswer(.tokenError(reason: "the token or the app is malformed")) }
    guard let payload = APNsPayload.bytes(message), payload.count <= APNsPayload.limit else {
      return PushAnswer(.invalid(reason: "the payload has more than \(APNsPayload.limit) bytes"))
    }
    let url = "\(url ?? service(environment))/3/device/\(device)"
    return await send(payload, to: url, topic: topic, message)
  }

  package func shutdown() async { await connection.shutdown() }

  /// Returns the address of Apple's service for an environment, without a trailing slash.
  package static func service(of environment: PushEnvironment) -> String {
    environment == .production ? "https://api.push.apple.com" : "https://api.sandbox.push.apple.com"
  }

  private func send(_ payload: [UInt8], to url: String, topic: String, _ message: PushMessage) async -> PushAnswer {
    var wait: Double = 0
    // A renewed token has one attempt.
    for _ in 0..<2 {
      do {
        let token = try await token.text()
        let response = try await connection.post(
          url, headers: headers(message, topic: topic, token: token), body: payload)
        switch APNsAnswer.meaning(of: response, attempts: message.attempts) {
        case .answer(let answer): return answer
        case .expiredToken:
          guard let rest = try await self.token.renew(after: token) else { continue }
          wait = rest
        }
      } catch let error as PushConnectionError {
        return .failure(after: RetryWait.seconds(attempts: message.attempts), "APNs: \(error.reason)")
      } catch {
        return .pause(
          RetryWait.configuration, "the provider token of APNs cannot be signed: check TIDINGS_APNS_KEY_FILE")
      }
      break
    }
    return .pause(max(60, wait), "APNs answers 403 ExpiredProviderToken: check the clock of the server")
  }

  private func headers(_ message: PushMessage, topic: String, token: String) -> HTTPHeaders {
    let isAlert = message.kind == .alert
    let lifetime = isAlert ? Self.alertLifetime : Self.silentLifetime
    return [
      "authorization": "bearer \(token)",
      "apns-topic": topic,
      "apns-push-type": isAlert ? "alert" : "background",
      // Background notifications must have this priority.
      "apns-priority": isAlert ? "10" : "5",
      "apns-expiration": "\(Int(clock().timeIntervalSince1970 + lifetime))",
      "apns-collapse-id": Self.collapseID(message),
      "apns-id": message.messageID.uuidString.lowercased(),
      "content-type": "application/json",
    ]
  }

  /// The id by which a newer message replaces an older one: at most 64 bytes.
  ///
  /// All silent messages say the same: the token is at least this one.
  private static func collapseID(_ message: PushMessage) -> String {
    guard message.kind == .alert, let id = message.content.contentID else { return "news" }
    return id.uuidString.lowercased()
  }
}
