public import Foundation

/// The field `Retry-After` (RFC 9110 section 10.2.3).
///
///     let wait = RetryAfterField.seconds("120", date: nil, now: Date(), maximum: 86_400)
///     print(wait ?? 0)  // 120.0
public enum RetryAfterField {
  /// Returns the wait that a server demands, in seconds.
  ///
  /// The field has two forms only: a number of seconds in decimal digits, and a date. Anything else is invalid.
  ///
  /// - Parameters:
  ///   - value: The field value; spaces and tabs around it are ignored.
  ///   - date: The `Date` of the response. A date in `value` is relative to it, because the server's clock may differ.
  ///   - now: The time that applies if `date` is missing.
  ///   - maximum: The upper bound of the result, in seconds.
  /// - Returns: 0...`maximum`; nil for an invalid value.
  public static func seconds(_ value: String, date: String?, now: Date, maximum: Double) -> Double? {
    let value = value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    if value.utf8.allSatisfy({ 48...57 ~= $0 }) {
      // A number with too many digits is a long wait too.
      return value.isEmpty ? nil : min(Double(value) ?? maximum, maximum)
    }
    guard let then = HTTPDate.parse(value, now: now) else { return nil }
    let start = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    return min(max(then.timeIntervalSince(start), 0), maximum)
  }
}
