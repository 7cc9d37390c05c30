import Foundation
import NewsStore

/// The meaning of the responses of FCM HTTP v1 ("FCM ErrorCode" and "Admin error codes").
enum FCMAnswer {
  /// The meaning of a response.
  enum Meaning {
    case answer(PushAnswer)
    /// The access token is not valid, and is to be renewed.
    case invalidToken
  }

  private struct Body: Decodable {
    struct Failure: Decodable {
      var status: String?
      var details: [Detail]?
    }

    struct Detail: Decodable {
      var type: String?
      var errorCode: String?

      enum CodingKeys: String, CodingKey {
        case type = "@type"
        case errorCode
      }
    }

    var error: Failure?
  }

  /// Returns the meaning of a response.
  ///
  /// - Parameter attempts: The number of earlier attempts that have failed.
  static func meaning(of response: PushResponse, attempts: Int) -> Meaning {
    if response.status == 200 { return .answer(PushAnswer(.sent)) }
    let failure = (try? JSONDecoder().decode(Body.self, from: Data(response.body)))?.error
    let details = failure?.details ?? []
    let code = details.first { $0.type?.hasSuffix("google.firebase.fcm.v1.FcmError") == true }?.errorCode
    let word = (code ?? failure?.status ?? "").filter { $0.isASCII && ($0.isLetter || $0 == "_") }.prefix(40)
    let text = "FCM answers \(response.status) \(word)".trimmingCharacters(in: .whitespaces)
    let wait = RetryWait.seconds(attempts: attempts, headers: response.headers)
    switch (response.status, code) {
    case (404, "UNREGISTERED"): return .answer(PushAnswer(.gone(since: nil)))
    case (400, "INVALID_ARGUMENT"):
      // A malformed token is gone. A violation of a field means that our payload is wrong.
      let isOurs = details.contains { $0.type?.hasSuffix("google.rpc.BadRequest") == true }
      return .answer(PushAnswer(isOurs ? .invalid(reason: text) : .gone(since: nil)))
    case (403, "SENDER_ID_MISMATCH"): return .answer(PushAnswer(.tokenError(reason: text), refusesKey: true))
    // The project has no valid key for the service of this device. Other devices are not concerned.
    case (401, "THIRD_PARTY_AUTH_ERROR"): return .answer(PushAnswer(.invalid(reason: text), refusesKey: true))
    case (401, _): return .invalidToken
    case (403, _), (404, _):
      return .answer(.pause(RetryWait.configuration, "\(text): check TIDINGS_FCM_CREDENTIALS"))
    case (429, _):
      let isAsked = RetryWait.retryAfter(response.headers) != nil
      return .answer(.failure(after: isAsked ? wait : max(RetryWait.quota, wait), text))
    case (408, _), (500..., _): return .answer(.failure(after: wait, text))
    case (400..., _): return .answer(PushAnswer(.invalid(reason: text)))
    default: return .answer(.pause(RetryWait.configuration, "\(text): check TIDINGS_FCM_URL"))
    }
  }
}
