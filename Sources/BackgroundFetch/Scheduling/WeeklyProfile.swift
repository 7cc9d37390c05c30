public import Foundation

/// Estimates at which times of the week an event happens, such as an opening of the app or a publication of news.
///
/// For each quarter of an hour of the week on the local clock, the profile holds the number of days with at least one
/// event, and for each weekday the number of observed days. Both decay with a half-life of ``halfLife`` days, so that
/// habits may change. A day is learned when it is over: the expectation for a day never depends on that day.
///
/// Each operation takes the time zone as an argument. It is not part of the value, because travellers take their habits
/// with them.
///
///     var profile = WeeklyProfile(usual: 4)
///     let now = Date()
///     profile.record([now - 3600, now], now: now, in: .current)
///     profile.advance(to: now + 86_400, in: .current)
///     print(profile.probability(at: now + 86_400, in: .current))
public struct WeeklyProfile: Sendable, Hashable {
  /// The half-life of observations, in days.
  public static let halfLife = 21.0
  /// The maximum number of days that are learned at once. More days without an operation mean a jump of the clock or a
  /// machine that was off. They must not erase the habits of a year.
  static let longestAbsence = 28
  /// The maximum age of the first recorded dates, in days.
  static let longestPast = 14

  /// The decayed number of days with an event in a quarter, by ``LocalQuarter/ofWeek``.
  var counts = [Float](repeating: 0, count: LocalQuarter.perWeek)
  /// The decayed number of observed days, Monday first.
  var exposure = [Double](repeating: 0, count: 7)
  /// The decayed sum of each model's evidence against the even model: the logarithm of the likelihood ratio.
  var evidence = [Double](repeating: 0, count: ProfileModels.count)
  /// The first day that is not learned yet.
  var nextDay: Int?
  /// The quarters with an event on days that are not learned yet.
  var pending: Set<LocalQuarter> = []
  /// The expected number of quarters with an event in a day, before any observation.
  let usual: Double
  /// The maximum number of days between an event and its record.
  let lateness: Int
  /// Whether the days before the first event count as observed once it is recorded.
  let learnsSilence: Bool
  /// The probability of an event, for each quarter of the week. It is derived from the other values and changes only
  /// once a day.
  private(set) var probabilities: [Double] = []

  /// Creates a profile without observations, in which all times are equally probable.
  ///
  /// - Parameters:
  ///   - usual: The expected number of a day's 96 quarters of an hour with an event before any observation, clamped to
  ///     0.1...95. It weighs as much as one observed day.
  ///   - lateness: The maximum number of days between an event and its record, clamped to 0...7. Days are learned that
  ///     much later.
  ///   - learnsSilence: Whether the days before the first event count as observed once it is recorded. Before that, it
  ///     is unknown whether events are recorded at all.
  public init(usual: Double, lateness: Int = 0, learnsSilence: Bool = true) {
    self.usual = min(max(usual, 0.1), 95)
    self.lateness = min(max(lateness, 0), 7)
    self.learnsSilence = learnsSilence
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
      nextDay = max(min(earliest.day + 1, present.day), present.day - Self.longestPast)
    }
    add(quarters)
    advance(to: present)
    // If the clock was set back, the first day that is not learned may be an earlier one now.
    add(quarters)
  }

  /// Learns the days that are over.
  ///
  /// - Parameters:
  ///   - now: The current time of day. If it was set back by days, observation starts anew there.
  ///   - zone: The time zone of the habits.
  public mutating func advance(to now: Date, in zone: TimeZone) {
    advance(to: LocalQuarter(now, in: zone))
  }

  private mutating func add(_ quarters: [LocalQuarter]) {
    if let nextDay { pending.formUnion(quarters.filter { $0.day >= nextDay }) }
  }

  private mutating func advance(to present: LocalQuarter) {
    let end = present.day - lateness
    guard let start = nextDay, start <= present.day + 1 else {
      nextDay = nextDay == nil ? present.day : end
      pending = pending.filter { $0.number <= present.number && $0.day >= end }
      return
    }
    guard start < end else { return }
    guard !pending.isEmpty || counts.contains(where: { $0 > 0 }) else {
      if !learnsSilence { nextDay = end }
      return
    }
    for day in start..<min(end, start + Self.longestAbsence) { learn(day) }
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

  private var models: ProfileModels { ProfileModels(counts: counts, exposure: exposure, usual: usual) }

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
  /// hours of the local clock. Days that are not over are left out, and old ones count less.
  public var hours: [[Double]] {
    (0..<7).map { weekday in
      (0..<24).map { hour in
        let start = weekday * LocalQuarter.perDay + hour * 4
        return counts[start..<start + 4].reduce(0) { $0 + Double($1) }
      }
    }
  }

  /// The number of observed days of each weekday, Monday first. Old ones count less.
  public var days: [Double] { exposure }
}
