import Foundation
import HTTPConditions

/// `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// The maximum wait that a server may demand, in seconds: one day.
  static let maximum = 86_400.0

  /// Returns the wait that a server demands, in seconds, 0...``maximum``.
  ///
  /// - Parameters:
  ///   - value: A number of seconds, or a date.
  ///   - date: The `Date` of the response. A date in `value` is relative to it, because the server's clock may differ.
  ///   - now: The time that applies if `date` is missing.
  /// - Returns: nil for an invalid value.
  static func seconds(_ value: String, date: String?, now: Date) -> Double? {
    if value.utf8.allSatisfy({ 48...57 ~= $0 }) {
      // A number with too many digits is a long wait too.
      return value.isEmpty ? nil : min(Double(value) ?? maximum, maximum)
    }
    guard let then = HTTPDate.parse(value, now: now) else { return nil }
    let start = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    return min(max(then.timeIntervalSince(start), 0), maximum)
  }
}
