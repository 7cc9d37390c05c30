import Foundation

/// A forecast of the next two days for the scheduler, in quarters of an hour of absolute time.
struct WakeForecast {
  /// The index of the first quarter that may have a wake.
  let first: Int

  private let now: FetchInstant
  private let earliest: Double
  private let leadTime: Double
  /// The number of the first quarter, counted from 1970 in UTC.
  private let origin: Int
  private let quarters: [LocalQuarter]
  private let planner: WakePlanner
  private let price: Double
  /// The maximum number of wakes before midnight, and the number of quarters until then.
  private let dailyLimit: (wakes: Int, quarters: Int)?
  private let meanOpenings: Double
  /// Whether the maximum gap is over, so that the wake does not wait for a better time.
  private let isOverdue: Bool

  /// - Parameters:
  ///   - minimumInterval: The minimum number of seconds between two wakes.
  ///   - earliest: The number of seconds until the earliest possible wake.
  init(_ scheduler: FetchScheduler, at now: FetchInstant, minimumInterval: Double, earliest: Double) {
    let zone = scheduler.timeZone
    let leadTime = scheduler.leadTime
    // About 3000 years before and after 1970.
    let start = min(max(now.date.timeIntervalSince1970, -1e11), 1e11) + leadTime
    // A wake in the second half of a quarter serves the next one.
    let origin = Int((start / LocalQuarter.seconds).rounded())
    let quarters = (0..<WakePlanner.horizon).map {
      LocalQuarter(seconds: Double(origin + $0) * LocalQuarter.seconds, in: zone)
    }
    self.now = now
    self.earliest = earliest
    self.leadTime = leadTime
    self.origin = origin
    self.quarters = quarters

    var openings = scheduler.openings
    openings.advance(to: now.date, in: zone)
    var news = scheduler.news
    news.advance(to: now.date, in: zone)
    func slot(after seconds: Double, _ rule: FloatingPointRoundingRule) -> Int {
      Int(((start + min(seconds, FetchInterval.maximumDuration.inSeconds)) / LocalQuarter.seconds).rounded(rule))
        - origin
    }
    first = max(0, slot(after: earliest, .toNearestOrAwayFromZero))
    let maximumGap = max(FetchScheduler.maximumGap.inSeconds, minimumInterval)
    // Without an earlier wake or success, the first wake need not wait for a better time.
    let last = (scheduler.lastWake ?? scheduler.lastSuccess).map { maximumGap - now.elapsed(since: $0) } ?? 0
    isOverdue = last <= earliest
    let minimumGap = Int((minimumInterval / LocalQuarter.seconds).rounded(.up))
    let freshness = scheduler.lastSuccess.map { success in
      let age = Int((min(now.elapsed(since: success), 86_400) / LocalQuarter.seconds).rounded())
      return (0..<age).reduce(1) { fresh, back in
        let quarter = LocalQuarter(seconds: Double(origin - 1 - back) * LocalQuarter.seconds, in: zone)
        return fresh * (1 - news.probability(in: quarter))
      }
    }
    planner = WakePlanner(
      openings: quarters.map { openings.probability(in: $0) }, quiet: quarters.map { 1 - news.probability(in: $0) },
      freshness: freshness ?? 0, gap: minimumGap...max(minimumGap, LocalQuarter.perDay),
      first: first...max(first, slot(after: max(0, last), .down)))
    meanOpenings = openings.meanPerDay / Double(LocalQuarter.perDay)
    price = scheduler.price.value(openings: openings.meanPerDay)

    var dailyLimit = scheduler.dailyLimit
    let present = LocalQuarter(now.date, in: zone)
    dailyLimit.advance(to: present)
    // The lead time moves the wake for the first quarter of a day to the day before.
    let midnight = quarters.firstIndex { $0.day > present.day && $0.ofDay > 0 } ?? quarters.count
    self.dailyLimit = dailyLimit.remaining.map { ($0, midnight) }
  }

  /// Returns the date of the wake before a quarter.
  func date(of wake: Int) -> Date {
    let due = Date(timeIntervalSince1970: Double(origin + wake) * LocalQuarter.seconds - leadTime)
    return wake == first && isOverdue ? now.date + earliest : max(due, now.date + earliest)
  }

  /// Returns the best wakes, and the limit that changes the first wake, if any.
  func plan(constraints: FetchConstraints) -> (wakes: [Int], obstacle: FetchDecision.Reason?) {
    let free = planner.wakes(price: price)
    let wakes = constraints.priceFactor > 1 ? planner.wakes(price: price * constraints.priceFactor) : free
    let limited = limited(wakes, price: price * constraints.priceFactor)
    if limited.first != wakes.first { return (limited, .nothingNew) }
    return (wakes, wakes.first == free.first ? nil : .constrained)
  }

  /// Returns the best plan within the daily limit. It raises the price until the plan has few enough wakes.
  private func limited(_ wakes: [Int], price: Double) -> [Int] {
    guard let dailyLimit, wakes.count(where: { $0 < dailyLimit.quarters }) > dailyLimit.wakes else { return wakes }
    guard dailyLimit.wakes > 0 else {
      var planner = planner
      let start = max(first, dailyLimit.quarters)
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
      if plan.count(where: { $0 < dailyLimit.quarters }) > dailyLimit.wakes {
        low = middle
      } else {
        high = middle
        best = plan
      }
    }
    return best
  }

  /// Returns the purpose of the first wake of a plan: the quarter with the most expected openings that it serves, if
  /// that quarter has more than 2.5 times the mean.
  func purpose(of wakes: [Int]) -> FetchDecision.Reason {
    guard let wake = wakes.first else { return .evenSpacing }
    let end = min(wakes.dropFirst().first ?? .max, wake + 8, quarters.count)
    let peak = (wake..<end).max { planner.openings[$0] < planner.openings[$1] }
    guard let peak, planner.openings[peak] > 2.5 * meanOpenings else { return .evenSpacing }
    return .opening(weekday: quarters[peak].weekday + 1, minute: quarters[peak].ofDay * 15)
  }

  /// Returns `quietHours` for a wait of at least three hours with less than half of the mean openings.
  func quiet(before wake: Int) -> FetchDecision.Reason? {
    let expected = planner.openings[..<wake].reduce(0, +)
    return wake >= 12 && expected < meanOpenings * Double(wake) / 2 ? .quietHours : nil
  }
}
