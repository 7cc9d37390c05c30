import BackgroundFetch
import Foundation

/// The first Monday of June 2026, midnight UTC.
let monday = Date(timeIntervalSince1970: 1_780_272_000)
let hour = 3600.0
let day = 86_400.0

/// Returns an instant on a machine that was booted long ago.
func moment(_ seconds: Double, boot: String = "first") -> FetchInstant {
  FetchInstant(date: monday + seconds, uptime: 1_000_000 + seconds, boot: boot)
}

extension FetchDecision {
  var isWake: Bool {
    if case .wake = self { true } else { false }
  }

  var reason: Reason? {
    switch self {
    case .wake(let reason, _), .wait(_, let reason): reason
    case .never: nil
    }
  }

  var until: Date? {
    if case .wait(let date, _) = self { date } else { nil }
  }
}

extension FetchScheduler {
  /// Simulates a period: wakes when the scheduler decides to, and asks for decisions at the times that it returns.
  ///
  /// - Parameters:
  ///   - openings: The times at which the user opens the app, in ascending order.
  ///   - run: A function that returns the result of a fetch at a time and the dates of the items that it finds.
  /// - Returns: The times of the wakes.
  mutating func simulate(
    from start: Double, to end: Double, openings: [Double] = [], constraints: FetchConstraints = .none,
    run: (Double) -> (result: FetchResult, dates: [Date]) = { _ in (.noData, []) }
  ) -> [Double] {
    var now = start
    var wakes: [Double] = []
    var openings = openings[...]
    while now < end {
      if let opening = openings.first, opening <= now {
        recordOpening(at: moment(opening))
        openings.removeFirst()
        continue
      }
      let next: Double
      switch decision(at: moment(now), constraints: constraints) {
      case .wake:
        wakeStarted(at: moment(now))
        let (result, dates) = run(now)
        record(
          RunRecord(reason: .scheduled, result: result, started: monday + now), contentDates: dates, at: moment(now))
        wakes.append(now)
        next = now + 1
      case .wait(let date, _):
        next = max(now + 1, min(date.timeIntervalSince(monday), end))
      case .never: next = end
      }
      now = min(next, openings.first.map { max($0, now) } ?? next)
    }
    return wakes
  }
}

/// Returns a scheduler, by default with the interval `minimum`.
func scheduler(_ interval: FetchInterval = .minimum, seed: UInt64 = 1, zone: TimeZone = .gmt) -> FetchScheduler {
  FetchScheduler(interval: interval, seed: seed, timeZone: zone)
}

/// Returns the dates of the items that a fetch finds if an item is published every hour on the hour.
func hourly(since last: Double, until now: Double) -> [Date] {
  stride(from: (last / hour).rounded(.up) * hour, through: now, by: hour).map { monday + $0 }
}

/// Simulates a user who opens the app at the given hours of each day, with a new item every hour.
///
/// - Returns: The times of the wakes.
func learn(_ scheduler: inout FetchScheduler, days: Int, hours: [Double]) -> [Double] {
  var last = 0.0
  let openings = (0..<days).flatMap { number in hours.map { Double(number) * day + $0 * hour } }
  return scheduler.simulate(from: 0, to: Double(days) * day, openings: openings) { now in
    defer { last = now }
    let dates = hourly(since: last, until: now)
    return (dates.isEmpty ? .noData : .newData, dates)
  }
}

func perDay(_ wakes: [Double], from start: Double = 0, days: Int) -> [Int] {
  (0..<days).map { number in
    let begin = start + Double(number) * day
    return wakes.count { begin <= $0 && $0 < begin + day }
  }
}
