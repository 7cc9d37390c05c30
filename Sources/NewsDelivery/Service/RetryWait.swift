import Foundation
import HTTPConditions
import NIOHTTP1

/// The waits before further attempts.
enum RetryWait {
  /// The wait after the first failure, in seconds. It doubles with each further one.
  private static let shortest: Double = 5
  /// The longest wait after a failure, in seconds.
  private static let longest: Double = 900
  /// The shortest wait after an answer that there are too many messages, in seconds. FCM's documentation demands it.
  static let quota: Double = 60
  /// The pause after an answer that only the operator can change, in seconds.
  static let configuration: Double = 300
  /// The longest wait that `Retry-After` can ask for, in seconds.
  static let longestRetryAfter: Double = 86_400

  /// Returns the wait after a failure, in seconds: exponential backoff with jitter, and never shorter than `Retry-After`
  /// asks for.
  ///
  /// - Parameters:
  ///   - attempts: The number of earlier attempts that have failed.
  ///   - headers: The fields of the response; nil without a response.
  static func seconds(attempts: Int, headers: HTTPHeaders? = nil) -> Double {
    let backoff = min(shortest * pow(2, Double(min(max(attempts, 0), 16))), longest)
    return max(backoff, headers.flatMap(retryAfter) ?? 0) * .random(in: 1...1.3)
  }

  /// Returns the wait that a response demands, in seconds; nil if it demands none.
  static func retryAfter(_ headers: HTTPHeaders) -> Double? {
    headers.first(name: "Retry-After").flatMap {
      RetryAfterField.seconds($0, date: headers.first(name: "Date"), now: Date(), maximum: longestRetryAfter)
    }
  }
}
