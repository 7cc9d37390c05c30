import Foundation
import NewsStore

/// The meaning of the responses of APNs ("Handling notification responses from APNs").
enum APNsAnswer {
  /// The meaning of a response.
  enum Meaning {
    case answer(PushAnswer)
    /// The provider token has expired, and may be renewed.
    case expiredToken
  }

  private struct Body: Decodable {
    var reason: String?
    /// The time at which the token became invalid, in milliseconds since 1970.
    var timestamp: Double?
  }

  /// Returns the meaning of a response.
  ///
  /// - Parameter attempts: The number of earlier attempts that have failed.
  static func meaning(of response: PushResponse, attempts: Int) -> Meaning {
    if response.status == 200 { return .answer(PushAnswer(.sent)) }
    let body = (try? JSONDecoder().decode(Body.self, from: Data(response.body))) ?? Body()
    // The reason is a word of a service that the operator has configured. Logs need no more of it.
    let reason = String((body.reason ?? "").filter { $0.isASCII && $0.isLetter }.prefix(40))
    let text = "APNs answers \(response.status) \(reason)".trimmingCharacters(in: .whitespaces)
    switch (response.status, reason) {
    case (410, _):
      return .answer(PushAnswer(.gone(since: body.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) })))
    case (403, "ExpiredProviderToken"): return .expiredToken
    // These come for a token of another environment or app as well.
    case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (400, "MissingDeviceToken"), (400, "MissingTopic"):
      return .answer(PushAnswer(.tokenError(reason: text)))
    // The key is not for the environment or the app.
    case (400, "BadTopic"), (400, "TopicDisallowed"), (_, "BadEnvironmentKeyIdInToken"):
      return .answer(PushAnswer(.tokenError(reason: text), refusesKey: true))
    case (400, "IdleTimeout"), (408, _): return .answer(failure(response, attempts, text))
    case (400, _), (413, _): return .answer(PushAnswer(.invalid(reason: text)))
    case (401, _), (403, _):
      return .answer(
        .pause(
          RetryWait.configuration,
          "\(text): check TIDINGS_APNS_KEY_FILE, TIDINGS_APNS_KEY_ID and TIDINGS_APNS_TEAM_ID"))
    case (429, "TooManyProviderTokenUpdates"):
      return .answer(.pause(max(RetryWait.quota, RetryWait.retryAfter(response.headers) ?? 0), text))
    case (429, _):
      // Too many requests for this device.
      let wait = max(RetryWait.quota, RetryWait.seconds(attempts: attempts, headers: response.headers))
      return .answer(PushAnswer(.retry(after: wait, reason: text)))
    case (500..., _): return .answer(failure(response, attempts, text))
    default: return .answer(.pause(RetryWait.configuration, "\(text): check TIDINGS_APNS_URL"))
    }
  }

  private static func failure(_ response: PushResponse, _ attempts: Int, _ reason: String) -> PushAnswer {
    .failure(after: RetryWait.seconds(attempts: attempts, headers: response.headers), reason)
  }
}
