import NewsStore

/// The meaning of the responses of push services (RFC 8030 section 5, RFC 8292 section 4.2).
enum WebPushAnswer {
  /// Returns the meaning of a response.
  ///
  /// - Parameter attempts: The number of earlier attempts that have failed.
  static func answer(_ response: PushResponse, attempts: Int) -> PushAnswer {
    let text = "the push service answers \(response.status)"
    let wait = RetryWait.seconds(attempts: attempts, headers: response.headers)
    switch response.status {
    case 200..<300: return PushAnswer(.sent)
    case 404, 410: return PushAnswer(.gone(since: nil))
    case 401, 403:
      return PushAnswer(
        .tokenError(reason: "\(text): it refuses the key of TIDINGS_VAPID_KEY_FILE"), refusesKey: true)
    // 406 is Microsoft's answer to too many messages.
    case 406, 429: return PushAnswer(.retry(after: max(wait, RetryWait.quota), reason: text))
    case 408, 500...: return .failure(after: wait, text)
    case 400..<500: return PushAnswer(.invalid(reason: text))
    // Redirects are not followed: they may lead to any host.
    default: return PushAnswer(.tokenError(reason: text))
    }
  }
}
