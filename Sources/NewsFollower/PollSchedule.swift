import Foundation
import HTTPConditions
import HTTPTypes
import NewsFeeds

/// The cadence of a feed and its own hints, from which the time of the next poll follows. All times are in seconds.
struct PollSchedule: Codable, Equatable {
  /// The shortest interval of polls.
  static let shortest: Double = 300
  /// The longest interval that cadence and failures lead to.
  static let longest: Double = 12 * 3600
  /// The longest interval that `Cache-Control` and `Expires` can ask for. Some servers send a year.
  static let longestFreshness: Double = 86_400
  /// The longest interval that the feed, and `Retry-After`, can ask for.
  static let longestHint: Double = 7 * 86_400
  /// The number of entries whose dates make up the cadence.
  private static let sample = 10

  /// The mean time between entries; nil if it is not known.
  var cadence: Double?
  /// The date of the newest entry, since 1970.
  var newest: Double?
  /// The interval of a feed without dates, by the changes that polls have found.
  var estimate: Double?
  /// The time for which the last response was fresh.
  private var freshness: Double?
  private var timeToLive: Double?
  private var updateInterval: Double?
  /// A time from which `updateInterval` counts, since 1970.
  private var updateBase: Double?
  private var skippedHours: Set<Int>?
  private var skippedDays: Set<Int>?
  /// The writes of the feed in the current period of a day; nil if it has written nothing but new items.
  var tally: WriteTally?

  init() {}

  /// - Parameters:
  ///   - dates: The dates of the entries, in any order.
  ///   - hints: The hints of the feed.
  init(dates: [Date], hints: FeedProperties, now: Date) {
    let recent = dates.filter { $0 <= now }.sorted(by: >).prefix(Self.sample)
    newest = recent.first?.timeIntervalSince1970
    if let first = recent.first, let last = recent.last, recent.count > 1 {
      cadence = first.timeIntervalSince(last) / Double(recent.count - 1)
    }
    timeToLive = hints.minutesToLive.map { Double($0) * 60 }
    updateInterval = hints.updateMinutes.map { Double($0) * 60 }
    updateBase = hints.updateBase?.timeIntervalSince1970
    skippedHours = hints.skippedHours.isEmpty ? nil : hints.skippedHours
    skippedDays = hints.skippedDays.isEmpty ? nil : hints.skippedDays
  }

  /// Returns the schedule after a poll. Without dates, the interval is halved by each poll that finds entries, and
  /// lengthened by half of itself by each poll that finds none.
  func estimated(after last: PollSchedule, foundEntries: Bool) -> PollSchedule {
    guard cadence == nil else { return self }
    var schedule = self
    schedule.estimate = last.estimate.map { Self.clamped(foundEntries ? $0 / 2 : $0 * 1.5) } ?? 3600
    return schedule
  }

  /// Notes the time for which a response is fresh. A response with the status 304 changes it only if it names one
  /// (RFC 9111 section 3.2).
  mutating func noteFreshness(_ fields: HTTPFields, now: Date, isRevalidation: Bool) {
    freshness = FreshnessLifetime.remainingSeconds(fields, now: now) ?? (isRevalidation ? freshness : nil)
  }

  /// Returns the wait after a success: half of the mean time between entries, longer for a feed that has become silent,
  /// and never shorter than the feed and its server ask for.
  ///
  /// - Parameter jitter: A random number from 0 to 1, which spreads polls over a tenth of the wait.
  func wait(now: Date, fields: HTTPFields, jitter: Double) -> Double {
    var interval = cadence.map { $0 / 2 } ?? estimate ?? 3600
    if let newest { interval = max(interval, (now.timeIntervalSince1970 - newest) / 8) }
    let hints = [
      timeToLive.map { min($0, Self.longestHint) }, timeToUpdate(now).map { min($0, Self.longestHint) },
      freshness.map { min($0, Self.longestFreshness) }, Self.retryAfter(fields, now: now),
    ]
    let wait = hints.compactMap { $0 }.reduce(Self.clamped(interval), max) * (1 + jitter / 10)
    return allowed(wait, now: now, jitter: jitter)
  }

  /// Returns the wait after a failure: exponential backoff, and never shorter than `Retry-After` asks for.
  ///
  /// - Parameters:
  ///   - failures: The number of failures before this one.
  ///   - retryAfter: The wait that the server demands; nil if it demands none.
  ///   - jitter: A random number from 0 to 1, which spreads polls over a fifth of the wait.
  func backoff(failures: Int, retryAfter: Double?, now: Date, jitter: Double) -> Double {
    let wait = min(Self.shortest * pow(2, Double(min(failures, 16))), Self.longest)
    return allowed(max(wait, retryAfter ?? 0) * (1 + jitter / 5), now: now, jitter: jitter)
  }

  /// Returns the wait that the server demands; nil if it demands none.
  static func retryAfter(_ fields: HTTPFields, now: Date) -> Double? {
    fields[.retryAfter].flatMap {
      RetryAfterField.seconds($0, date: fields[.date], now: now, maximum: longestHint)
    }
  }

  private static func clamped(_ interval: Double) -> Double { min(max(interval, shortest), longest) }

  /// The time until the feed says that it is updated: the next multiple of the interval after its base, or the interval.
  private func timeToUpdate(_ now: Date) -> Double? {
    guard let updateInterval else { return nil }
    guard let updateBase else { return updateInterval }
    let passed = (now.timeIntervalSince1970 - updateBase).truncatingRemainder(dividingBy: updateInterval)
    return updateInterval - (passed < 0 ? passed + updateInterval : passed)
  }

  /// Lengthens a wait that would end in an hour or on a day in which the feed asks not to be read.
  ///
  /// - Parameter jitter: A number from 0 to 1, which spreads the polls over the first minutes of the next hour.
  private func allowed(_ wait: Double, now: Date, jitter: Double) -> Double {
    var hints = FeedProperties()
    hints.skippedHours = skippedHours ?? []
    hints.skippedDays = skippedDays ?? []
    let time = now.addingTimeInterval(wait)
    let allowed = hints.allowedTime(from: time)
    return allowed > time ? allowed.timeIntervalSince(now) + jitter * 300 : wait
  }
}
