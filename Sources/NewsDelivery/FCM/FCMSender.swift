package import Foundation
import NIOHTTP1
package import NIOSSL
package import News
package import NewsStore

/// Sends messages through Firebase Cloud Messaging, HTTP v1.
///
/// Source: "Send messages using the FCM HTTP v1 API".
package final class FCMSender: PushSender {
  /// The address of Google's service, without a trailing slash.
  package static let service = "https://fcm.googleapis.com"
  /// The timeout of a request. FCM asks for at least ten seconds.
  private static let timeout: Duration = .seconds(20)

  package let provider = PushProvider.fcm
  package let width = 300
  package let sharesFailures = true

  private let url: String
  private let token: FCMAccessToken
  private let connection: PushConnection
  /// Google's token service is another host.
  private let tokenConnection: PushConnection

  /// Creates a sender.
  ///
  /// - Parameters:
  ///   - credentials: The service account.
  ///   - url: The address of the service without a trailing slash; nil for Google's.
  ///   - trustRoots: The authorities that are trusted besides those of the system.
  ///   - clock: The time of the access token.
  package init(
    _ credentials: FCMCredentials, url: String?, trustRoots: [NIOSSLCertificate], timeout: Duration? = nil,
    clock: @escaping @Sendable () -> Date = { Date() }
  ) {
    let timeout = timeout ?? Self.timeout
    self.url = "\(url ?? Self.service)/v1/projects/\(credentials.projectID)/messages:send"
    connection = PushConnection(trustRoots: trustRoots, timeout: timeout)
    tokenConnection = PushConnection(trustRoots: trustRoots, timeout: timeout)
    token = FCMAccessToken(credentials, connection: tokenConnection, clock: clock)
  }

  /// Sends a message.
  package func send(_ message: PushMessage) async -> PushAnswer {
    guard case .fcm(let device) = message.target else {
      return PushAnswer(.invalid(reason: "the device does not belong to FCM"))
    }
    guard let body = FCMMessage.bytes(message, token: device) else {
      return PushAnswer(.invalid(reason: "the data has more than \(FCMMessage.limit) bytes"))
    }
    do {
      // A renewed token has one attempt.
      for _ in 0..<2 {
        let token = try await token.text()
        let response = try await connection.post(
          url, headers: ["authorization": "Bearer \(token)", "content-type": "application/json"], body: body)
        switch FCMAnswer.meaning(of: response, attempts: message.attempts) {
        case .answer(let answer): return answer
        case .invalidToken: self.token.discard(token)
        }
      }
      return .pause(RetryWait.configuration, "FCM answers 401 to a new access token: check TIDINGS_FCM_CREDENTIALS")
    } catch let failure as FCMAccessToken.Failure where failure.isConfiguration {
      return .pause(RetryWait.configuration, "\(failure.reason): check TIDINGS_FCM_CREDENTIALS")
    } catch let failure as FCMAccessToken.Failure {
      return .failure(after: failure.wait, failure.reason)
    } catch let error as PushConnectionError {
      return .failure(after: RetryWait.seconds(attempts: message.attempts), "FCM: \(error.reason)")
    } catch {
      return .failure(after: RetryWait.seconds(attempts: message.attempts), "FCM: the message could not be sent")
    }
  }

  package func shutdown() async {
    await connection.shutdown()
    await tokenConnection.shutdown()
  }
}
