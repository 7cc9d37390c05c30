import Foundation
import HTTPConditions

/// `Retry-After` (RFC 9110, section 10.2.3) and the other fields that tell when to come again.
enum RetryAfter {
  /// The longest time that a server may keep a client away, in seconds: a day.
  static let most = 86_400.0

  /// For how many seconds nothing is to be sent, 0...``most``.
  ///
  /// - Parameters:
  ///   - value: A number of seconds, or a date.
  ///   - date: The `Date` of the answer, from which a date is counted: the server's clock need not be ours.
  ///   - now: The time where that is missing.
  /// - Returns: nil for anything else.
  static func seconds(_ value: String, date: String?, now: Date) -> Double? {
    if value.utf8.allSatisfy({ 48...57 ~= $0 }) {
      // More digits than a number has are a long time, too.
      return value.isEmpty ? nil : min(Double(value) ?? most, most)
    }
    guard let then = HTTPDate.parse(value, now: now) else { return nil }
    let start = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
    return min(max(then.timeIntervalSince(start), 0), most)
  }

  /// The seconds until the next wake that a server proposes: the longer of `X-Poll-Interval` and `max-age`, 0...``most``.
  static func proposal(pollInterval: String?, cacheControl: String?) -> Double? {
    let interval = pollInterval.flatMap(Int.init)
    let age = cacheControl?.lowercased().split(separator: ",").lazy
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .first { $0.hasPrefix("max-age=") }
      .flatMap { Int($0.dropFirst("max-age=".count)) }
    guard let longest = [interval, age].compactMap({ $0 }).max(), longest >= 0 else { return nil }
    return min(Double(longest), most)
  }
}
