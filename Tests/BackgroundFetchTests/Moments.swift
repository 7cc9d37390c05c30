import BackgroundFetch
import Foundation

/// The first Monday of June 2026, midnight UTC.
let monday = Date(timeIntervalSince1970: 1_780_272_000)
let hour = 3600.0
let day = 86_400.0

/// A moment of a machine that was started long ago.
func moment(_ seconds: Double, boot: String = "first") -> FetchMoment {
  FetchMoment(date: monday + seconds, uptime: 1_000_000 + seconds, boot: boot)
}

extension FetchDecision {
  var isWake: Bool {
    if case .wake = self { true } else { false }
  }

  var reason: Reason {
    switch self {
    case .wake(let reason, _), .wait(_, let reason): reason
    }
  }

  var until: Date? {
    if case .wait(let date, _) = self { date } else { nil }
  }
}

extension FetchScheduler {
  /// Lives from one moment to another, waking whenever it is time and asking again when it was told to.
  ///
  /// - Parameters:
  ///   - openings: In order.
  ///   - result: What a fetch at a time comes to, and when the items came out.
  /// - Returns: When there were wakes.
  mutating func live(
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
      }
      now = min(next, openings.first.map { max($0, now) } ?? next)
    }
    return wakes
  }
}

/// A scheduler that wants as many wakes as it sees fit.
func scheduler(_ interval: FetchInterval = .minimum, seed: UInt64 = 1, zone: TimeZone = .gmt) -> FetchScheduler {
  FetchScheduler(interval: interval, seed: seed, timeZone: zone)
}

/// News each hour, on the hour, day and night, as a fetch finds them.
func hourly(since last: Double, until now: Double) -> [Date] {
  stride(from: (last / hour).rounded(.up) * hour, through: now, by: hour).map { monday + $0 }
}

/// Someone who opens the app at the given hours of each day, for whom something new is out each hour.
///
/// - Returns: The wakes.
func learn(_ scheduler: inout FetchScheduler, days: Int, hours: [Double]) -> [Double] {
  var last = 0.0
  let openings = (0..<days).flatMap { number in hours.map { Double(number) * day + $0 * hour } }
  return scheduler.live(from: 0, to: Double(days) * day, openings: openings) { now in
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
