import Foundation
import HTTPConditions
import HTTPTypes

/// The cadence of a feed, from which the time of the next poll follows.
struct PollSchedule: Codable, Equatable {
  /// The shortest interval of polls, in seconds.
  static let shortest: Double = 300
  /// The longest interval that cadence and failures lead to, in seconds.
  static let longest: Double = 12 * 3600
  /// The longest interval that `Cache-Control` can ask for, in seconds. Some servers send a year.
  static let longestMaxAge: Double = 86_400
  /// The longest wait that `Retry-After` can ask for, in seconds.
  static let longestRetry: Double = 7 * 86_400
  /// The number of entries whose dates make up the cadence.
  private static let sample = 10

  /// The mean time between entries, in seconds; nil if it is not known.
  var cadence: Double?
  /// The date of the newest entry, in seconds since 1970.
  var newest: Double?

  init() {}

  /// - Parameter dates: The dates of the entries, in any order.
  init(dates: [Date], now: Date) {
    let recent = dates.filter { $0 <= now }.sorted(by: >).prefix(Self.sample)
    newest = recent.first?.timeIntervalSince1970
    if let first = recent.first, let last = recent.last, recent.count > 1 {
      cadence = first.timeIntervalSince(last) / Double(recent.count - 1)
    }
  }

  /// Returns the interval after a success, in seconds: half of the mean time between entries, longer for a feed that has
  /// become silent, and never shorter than `Cache-Control` asks for.
  ///
  /// - Parameter jitter: A random number from 0 to 1, which spreads polls over a tenth of the interval.
  func interval(now: Date, fields: HTTPFields, jitter: Double) -> Double {
    var interval = (cadence ?? 7200) / 2
    if let newest { interval = max(interval, (now.timeIntervalSince1970 - newest) / 8) }
    interval = min(max(interval, Self.shortest), Self.longest)
    interval = max(interval, min(Self.maxAge(fields) ?? 0, Self.longestMaxAge))
    return interval * (1 + jitter / 10)
  }

  /// Returns the wait after a failure, in seconds: exponential backoff, and never shorter than `Retry-After` asks for.
  ///
  /// - Parameters:
  ///   - failures: The number of failures before this one.
  ///   - jitter: A random number from 0 to 1, which spreads polls over a fifth of the wait.
  static func backoff(failures: Int, fields: HTTPFields, now: Date, jitter: Double) -> Double {
    let wait = min(shortest * pow(2, Double(min(failures, 16))), longest) * (1 + jitter / 5)
    return max(wait, min(retryAfter(fields, now: now) ?? 0, longestRetry))
  }

  /// The value of `max-age` (RFC 9111 section 5.2.2.1), less the `Age` of the response.
  private static func maxAge(_ fields: HTTPFields) -> Double? {
    for value in fields[values: .cacheControl] {
      for directive in value.lowercased().split(separator: ",") {
        let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts[0] == "max-age" else { continue }
        guard let seconds = Double(parts[1].trimmingCharacters(in: ["\""])), seconds.isFinite, seconds >= 0 else {
          continue
        }
        let age = fields[.age].flatMap { Double($0) } ?? 0
        return max(0, seconds - (age.isFinite ? max(0, age) : 0))
      }
    }
    return nil
  }

  /// The value of `Retry-After` (RFC 9110 section 10.2.3), in seconds.
  private static func retryAfter(_ fields: HTTPFields, now: Date) -> Double? {
    guard let text = fields[.retryAfter]?.trimmingCharacters(in: .whitespaces) else { return nil }
    if let seconds = Double(text) { return seconds.isFinite ? max(0, seconds) : nil }
    return HTTPDate.parse(text, now: now).map { max(0, $0.timeIntervalSince(now)) }
  }
}
