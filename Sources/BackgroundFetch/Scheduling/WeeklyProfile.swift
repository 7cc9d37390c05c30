public import Foundation

/// An estimate of the times of the week at which an event happens, such as an opening of the app or a publication.
///
/// For each quarter of an hour of the week on the local clock, the profile holds the number of days with at least one
/// event, and for each weekday the number of observed days. Both decay with a half-life of ``halfLife`` days, so that
/// habits may change. A day is learned when it is over. The forecast for a day therefore never depends on that day.
///
/// Each operation takes the time zone as an argument. It is not part of the value, because travellers take their habits
/// with them.
///
///     var profile = WeeklyProfile(expectedPerDay: 4)
///     let now = Date()
///     profile.record([now - 3600, now], now: now, in: .current)
///     profile.advance(to: now + 86_400, in: .current)
///     print(profile.probability(at: now + 86_400, in: .current))
public struct WeeklyProfile: Sendable, Hashable {
  /// The half-life of observations, in days.
  public static let halfLife = 21.0
  /// The maximum number of days that are learned at once. More days without an operation mean that the clock has jumped
  /// or the machine was off. They must not erase the habits of a year.
  static let maximumMissedDays = 28
  /// The maximum age of the first recorded dates, in days.
  static let maximumInitialAge = 14

  /// The decayed number of days with an event in a quarter, by ``LocalQuarter/ofWeek``.
  var counts = [Float](repeating: 0, count: LocalQuarter.perWeek)
  /// The decayed number of observed days, Monday first.
  var exposure = [Double](repeating: 0, count: 7)
  /// The decayed sum of each model's evidence against the uniform model: the logarithm of the likelihood ratio.
  var evidence = [Double](repeating: 0, count: ProfileModels.count)
  /// The first day that is not learned yet.
  var nextDay: Int?
  /// The quarters with an event on days that are not learned yet.
  var pending: Set<LocalQuarter> = []
  /// The expected number of quarters with an event in a day, before any observation.
  let expectedPerDay: Double
  /// The maximum number of days between an event and its record.
  let reportingDelay: Int
  /// Whether the days before the first event count as observed once it is recorded.
  let countsInitialDays: Bool
  /// The probability of an event, for each quarter of the week. It is derived from the other values and changes only
  /// once a day.
  private(set) var probabilities: [Double] = []

  /// Creates a profile without observations, in which all times are equally probable.
  ///
  /// - Parameters:
  ///   - expectedPerDay: The expected number of a day's 96 quarters of an hour with an event before any observation,
  ///     clamped to 0.1...95. It weighs as much as one observed day.
  ///   - reportingDelay: The maximum number of days between an event and its record, clamped to 0...7. Days are learned
  ///     that many days later.
  ///   - countsInitialDays: Whether the days before the first event count as observed once that event is recorded.
  ///     Until then, it is unknown whether events are recorded at all.
  public init(expectedPerDay: Double, reportingDelay: Int = 0, countsInitialDays: Bool = true) {
    self.expectedPerDay = min(max(expectedPerDay, 0.1), 95)
    self.reportingDelay = min(max(reportingDelay, 0), 7)
    self.countsInitialDays = countsInitialDays
    estimate()
  }

  /// Records events. Several events in a quarter of an hour count as one.
  ///
  /// - Parameters:
  ///   - dates: The dates of the events, in any order. Dates in the future and on days that are already learned are
  ///     ignored. The dates of the first call may reach two weeks back, and count as all events since the earliest.
  ///   - now: The current time of day.
  ///   - zone: The time zone of the habits.
  public mutating func record(_ dates: [Date], now: Date, in zone: TimeZone) {
    let present = LocalQuarter(now, in: zone)
    let quarters = dates.map { LocalQuarter($0, in: zone) }.filter { $0.number <= present.number }
    if nextDay == nil, let earliest = quarters.min(by: { $0.number < $1.number }) {
      // Only the end of the earliest day is known.
      nextDay = max(min(earliest.day + 1, present.day), present.day - Self.maximumInitialAge)
    }
    add(quarters)
    advance(to: present)
    // If the clock was set back, the first day that is not learned may be an earlier one now.
    add(quarters)
  }

  /// Adds the days that are over to the profile.
  ///
  /// - Parameters:
  ///   - now: The current time of day. If it was set back by days, observation starts again there.
  ///   - zone: The time zone of the habits.
  public mutating func advance(to now: Date, in zone: TimeZone) {
    advance(to: LocalQuarter(now, in: zone))
  }

  private mutating func add(_ quarters: [LocalQuarter]) {
    if let nextDay { pending.formUnion(quarters.filter { $0.day >= nextDay }) }
  }

  private mutating func advance(to present: LocalQuarter) {
    let end = present.day - reportingDelay
    guard let start = nextDay, start <= present.day + 1 else {
      nextDay = nextDay == nil ? present.day : end
      pending = pending.filter { $0.number <= present.number && $0.day >= end }
      return
    }
    guard start < end else { return }
    guard !pending.isEmpty || counts.contains(where: { $0 > 0 }) else {
      if !countsInitialDays { nextDay = end }
      return
    }
    for day in start..<min(end, start + Self.maximumMissedDays) { learn(day) }
    nextDay = end
    pending = pending.filter { $0.day >= end }
    estimate()
  }

  private mutating func learn(_ day: Int) {
    let decay = exp2(-1 / Self.halfLife)
    let weekday = LocalQuarter.weekday(ofDay: day)
    let events = pending.filter { $0.day == day }.map(\.ofDay)
    let gains = models.evidence(of: Set(events), on: weekday)
    for index in evidence.indices { evidence[index] = evidence[index] * decay + gains[index] }
    for index in counts.indices { counts[index] *= Float(decay) }
    for index in exposure.indices { exposure[index] *= decay }
    exposure[weekday] += 1
    for quarter in events { counts[weekday * LocalQuarter.perDay + quarter] += 1 }
  }

  private var models: ProfileModels {
    ProfileModels(counts: counts, exposure: exposure, expectedPerDay: expectedPerDay)
  }

  mutating func estimate() {
    probabilities = models.average(evidence: evidence)
  }

  /// Returns the probability of an event in a quarter of an hour.
  func probability(in quarter: LocalQuarter) -> Double { probabilities[quarter.ofWeek] }

  /// The expected number of quarters of an hour with an event in a day, averaged over the week.
  var meanPerDay: Double { probabilities.reduce(0, +) / 7 }

  /// Returns the probability of an event in the quarter of an hour around a date, 0...1.
  ///
  /// - Parameters:
  ///   - date: Any time in the quarter.
  ///   - zone: The time zone of the habits.
  public func probability(at date: Date, in zone: TimeZone) -> Double { probability(in: LocalQuarter(date, in: zone)) }

  /// The observed number of quarters of an hour with an event, for a heat map: seven weekdays, Monday first, of 24
  /// hours of the local clock. Days that are not over are left out, and old days count less.
  public var hours: [[Double]] {
    (0..<7).map { weekday in
      (0..<24).map { hour in
        let start = weekday * LocalQuarter.perDay + hour * 4
        return counts[start..<start + 4].reduce(0) { $0 + Double($1) }
      }
    }
  }

  /// The number of observed days of each weekday, Monday first. Old days count less.
  public var days: [Double] { exposure }
}
