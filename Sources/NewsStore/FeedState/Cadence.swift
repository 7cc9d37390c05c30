public import Foundation

/// The rate at which a feed changes, by hour of the day, for working days and weekends, derived from its recent
/// changes.
public struct Cadence: Sendable {
  /// The range of poll intervals, in seconds.
  public static let intervals = 30...3600
  /// The poll interval before any change is known, in seconds.
  static let unknown = 300
  /// The number of changes expected within a poll interval. On average a client is then behind by an eighth of the time
  /// between two changes.
  private static let share = 0.25
  /// The length of the history taken into account, in hours.
  static let hours = 14 * 24

  /// The number of minutes with a change per hour: 24 values for the UTC hours of working days, then 24 for weekends.
  private let rates: [Double]
  /// The number of minutes with a change in the hour before `made`.
  private let latest: Double
  private let made: Date
  private let isKnown: Bool

  /// Derives the rates from past changes.
  ///
  /// - Parameters:
  ///   - changes: The times of changes, in any order.
  ///   - start: The beginning of the period in which `changes` is complete.
  ///   - now: The end of that period.
  public init(changes: [Date], since start: Date, now: Date) {
    let start = max(start, now - Double(Self.hours) * 3600)
    // Several changes within a minute count as one, because a poll receives them together.
    let minutes = Set(changes.lazy.filter { $0 >= start && $0 <= now }.map { Int($0.timeIntervalSince1970) / 60 })
    var counts = [Double](repeating: 0, count: 48)
    for minute in minutes { counts[Self.cell(of: minute / 60)] += 1 }
    var spans = [Double](repeating: 0, count: 48)
    var hour = start
    while hour < now {
      let next = Date(timeIntervalSince1970: (hour.timeIntervalSince1970 / 3600).rounded(.down) * 3600 + 3600)
      spans[Self.cell(of: Int(hour.timeIntervalSince1970) / 3600)] += min(next, now).timeIntervalSince(hour) / 3600
      hour = next
    }
    let average = Double(minutes.count) / max(spans.reduce(0, +), 1)
    // An hour that was observed too briefly gets the average.
    rates = zip(counts, spans).map { $1 < 0.9 ? average : $0 / $1 }
    latest = Double(minutes.count { $0 > Int(now.timeIntervalSince1970) / 60 - 60 })
    made = now
    isKnown = !minutes.isEmpty
  }

  /// The recommended poll interval in seconds.
  public func interval(at now: Date) -> Int {
    guard isKnown else { return Self.unknown }
    var expected = 0.0
    var moment = now
    let end = now + Double(Self.intervals.upperBound)
    while moment < end {
      // A step of one minute is precise enough, and an hour has only 60 of them.
      let hour = Int(moment.timeIntervalSince1970) / 3600
      let isFresh = moment < made + 3600
      let rate = max(rates[Self.cell(of: hour)], isFresh ? latest : 0)
      guard expected + rate / 60 < Self.share else {
        moment += (Self.share - expected) / rate * 3600
        break
      }
      expected += rate / 60
      moment += 60
    }
    let seconds = Int((moment.timeIntervalSince(now) / 10).rounded()) * 10
    return min(max(seconds, Self.intervals.lowerBound), Self.intervals.upperBound)
  }

  /// - Parameter hour: The number of hours since the beginning of 1970, which was a Thursday.
  private static func cell(of hour: Int) -> Int {
    let isWeekend = (hour / 24 + 3) % 7 >= 5
    return hour % 24 + (isWeekend ? 24 : 0)
  }
}
