public import Foundation

/// How often a feed changes, by the hour of the day and apart for working days and weekends, as its recent past tells.
public struct Cadence: Sendable {
  /// What a client is told at the least and at the most, in seconds.
  public static let intervals = 30...3600
  /// What a client is told before there is any past.
  static let unknown = 300
  /// So much of a change is to be expected until a client comes again: it is then behind by an eighth of the time between
  /// two changes on average.
  private static let share = 0.25
  /// How far back the past counts, in hours.
  static let hours = 14 * 24

  /// Minutes with a change in an hour, for each hour of UTC of a working day, and then of a day of the weekend.
  private let rates: [Double]
  /// The same for the hour before `made`.
  private let latest: Double
  private let made: Date
  private let isKnown: Bool

  /// - Parameters:
  ///   - changes: When something changed, in any order.
  ///   - start: From when on these are all changes.
  ///   - now: The end of that time.
  public init(changes: [Date], since start: Date, now: Date) {
    let start = max(start, now - Double(Self.hours) * 3600)
    // Many changes at once are one to those who poll.
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
    // Of an hour that was hardly seen yet nothing is known.
    rates = zip(counts, spans).map { $1 < 0.9 ? average : $0 / $1 }
    latest = Double(minutes.count { $0 > Int(now.timeIntervalSince1970) / 60 - 60 })
    made = now
    isKnown = !minutes.isEmpty
  }

  /// After how many seconds it is worth asking again.
  public func interval(at now: Date) -> Int {
    guard isKnown else { return Self.unknown }
    var expected = 0.0
    var moment = now
    let end = now + Double(Self.intervals.upperBound)
    while moment < end {
      // A minute is fine enough, and an hour has few of them.
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

  /// - Parameter hour: Since the beginning of 1970, which was a Thursday.
  private static func cell(of hour: Int) -> Int {
    let isWeekend = (hour / 24 + 3) % 7 >= 5
    return hour % 24 + (isWeekend ? 24 : 0)
  }
}
