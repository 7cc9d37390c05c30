import Foundation

/// A forecast of the next two days for the scheduler, in quarters of an hour of absolute time.
struct Outlook {
  /// The first quarter of a plan that may have a wake.
  let first: Int

  private let now: FetchMoment
  private let earliest: Double
  private let lead: Double
  /// The number of the first quarter, counted from 1970 in UTC.
  private let origin: Int
  private let quarters: [LocalQuarter]
  private let planner: WakePlanner
  private let price: Double
  /// The maximum number of wakes before midnight, and the number of quarters until then.
  private let allowance: (wakes: Int, quarters: Int)?
  private let usual: Double
  /// Whether the maximum gap is over already, so that the wake does not wait for a better time.
  private let isOverdue: Bool

  /// - Parameters:
  ///   - floor: The minimum number of seconds between two wakes.
  ///   - earliest: The number of seconds until the earliest possible wake.
  init(_ scheduler: FetchScheduler, at now: FetchMoment, floor: Double, earliest: Double) {
    let zone = scheduler.timeZone
    let lead = scheduler.leadSeconds
    // About 3000 years either way.
    let start = min(max(now.date.timeIntervalSince1970, -1e11), 1e11) + lead
    // A wake in the second half of a quarter serves the next one.
    let origin = Int((start / LocalQuarter.seconds).rounded())
    let quarters = (0..<WakePlanner.horizon).map {
      LocalQuarter(seconds: Double(origin + $0) * LocalQuarter.seconds, in: zone)
    }
    self.now = now
    self.earliest = earliest
    self.lead = lead
    self.origin = origin
    self.quarters = quarters

    var openings = scheduler.openings
    openings.advance(to: now.date, in: zone)
    var news = scheduler.news
    news.advance(to: now.date, in: zone)
    func slot(after seconds: Double, _ rule: FloatingPointRoundingRule) -> Int {
      Int(((start + min(seconds, FetchInterval.longest)) / LocalQuarter.seconds).rounded(rule)) - origin
    }
    first = max(0, slot(after: earliest, .toNearestOrAwayFromZero))
    let longest = max(FetchScheduler.longestGap, floor)
    // Without an earlier wake or success, the first wake need not wait for a better time.
    let last = (scheduler.lastWake ?? scheduler.lastSuccess).map { longest - now.elapsed(since: $0) } ?? 0
    isOverdue = last <= earliest
    let quartersOfFloor = Int((floor / LocalQuarter.seconds).rounded(.up))
    let freshness = scheduler.lastSuccess.map { success in
      let age = Int((min(now.elapsed(since: success), 86_400) / LocalQuarter.seconds).rounded())
      return (0..<age).reduce(1) { fresh, back in
        let quarter = LocalQuarter(seconds: Double(origin - 1 - back) * LocalQuarter.seconds, in: zone)
        return fresh * (1 - news.probability(in: quarter))
      }
    }
    planner = WakePlanner(
      openings: quarters.map { openings.probability(in: $0) }, calm: quarters.map { 1 - news.probability(in: $0) },
      freshness: freshness ?? 0, gap: quartersOfFloor...max(quartersOfFloor, LocalQuarter.perDay),
      first: first...max(first, slot(after: max(0, last), .down)))
    usual = openings.meanPerDay / Double(LocalQuarter.perDay)
    price = scheduler.price.value(openings: openings.meanPerDay)

    var allowance = scheduler.allowance
    let present = LocalQuarter(now.date, in: zone)
    allowance.advance(to: present)
    // The wake for the first quarter of a day takes place on the day before.
    let midnight = quarters.firstIndex { $0.day > present.day && $0.ofDay > 0 } ?? quarters.count
    self.allowance = allowance.remaining.map { ($0, midnight) }
  }

  /// Returns the date of the wake before a quarter.
  func date(of wake: Int) -> Date {
    let due = Date(timeIntervalSince1970: Double(origin + wake) * LocalQuarter.seconds - lead)
    return wake == first && isOverdue ? now.date + earliest : max(due, now.date + earliest)
  }

  /// Returns the best wakes, and the limit that changes the first of them, if any.
  func plan(constraints: FetchConstraints) -> (wakes: [Int], obstacle: FetchDecision.Reason?) {
    let free = planner.wakes(price: price)
    let wakes = constraints.factor > 1 ? planner.wakes(price: price * constraints.factor) : free
    let limited = limited(wakes, price: price * constraints.factor)
    if limited.first != wakes.first { return (limited, .nothingNew) }
    return (wakes, wakes.first == free.first ? nil : .constrained)
  }

  /// Returns the best plan within the allowance. It raises the price until there are few enough wakes.
  private func limited(_ wakes: [Int], price: Double) -> [Int] {
    guard let allowance, wakes.count(where: { $0 < allowance.quarters }) > allowance.wakes else { return wakes }
    guard allowance.wakes > 0 else {
      var planner = planner
      let start = max(first, allowance.quarters)
      planner.first = start...max(start, planner.first.upperBound)
      return planner.wakes(price: price)
    }
    var low = price
    // No wake is worth more than all openings. At this price only mandatory wakes remain.
    var high = max(price, planner.openings.reduce(0, +)) + 1
    var best = planner.wakes(price: high)
    for _ in 0..<12 {
      let middle = (low * high).squareRoot()
      let plan = planner.wakes(price: middle)
      if plan.count(where: { $0 < allowance.quarters }) > allowance.wakes {
        low = middle
      } else {
        high = middle
        best = plan
      }
    }
    return best
  }

  /// Returns the purpose of the first wake of a plan: the quarter that it serves with the most expected openings, if
  /// that quarter stands out.
  func purpose(of wakes: [Int]) -> FetchDecision.Reason {
    guard let wake = wakes.first else { return .evenSpacing }
    let end = min(wakes.dropFirst().first ?? .max, wake + 8, quarters.count)
    let peak = (wake..<end).max { planner.openings[$0] < planner.openings[$1] }
    guard let peak, planner.openings[peak] > 2.5 * usual else { return .evenSpacing }
    return .opening(weekday: quarters[peak].weekday + 1, minute: quarters[peak].ofDay * 15)
  }

  /// Returns `quietHours` for a wait of at least three hours with less than half of the usual openings.
  func quiet(before wake: Int) -> FetchDecision.Reason? {
    let expected = planner.openings[..<wake].reduce(0, +)
    return wake >= 12 && expected < usual * Double(wake) / 2 ? .quietHours : nil
  }
}
