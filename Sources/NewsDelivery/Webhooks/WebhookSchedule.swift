/// The times of the attempts to deliver an event: Standard Webhooks 1.0, "Delivery".
enum WebhookSchedule {
  /// The waits after the first and the further failures, in seconds: 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24
  /// hours.
  private static let waits: [Double] = [5, 300, 1800] + [2, 5, 10, 14, 20, 24].map { $0 * 3600 }
  /// The longest wait that `Retry-After` can ask for, in seconds.
  static let longestRetryAfter: Double = 86_400

  /// Returns the wait after a failure, in seconds; nil if there is no further attempt.
  ///
  /// - Parameters:
  ///   - failures: The number of failures before this one.
  ///   - retryAfter: The wait that the receiver demands, in seconds; nil if it demands none.
  ///   - jitter: A random number from 0 to 1, which spreads attempts over a tenth of the wait.
  static func wait(afterFailures failures: Int, retryAfter: Double?, jitter: Double) -> Double? {
    guard failures < waits.count else { return nil }
    return max(waits[max(failures, 0)], retryAfter ?? 0) * (1 + jitter / 10)
  }
}
