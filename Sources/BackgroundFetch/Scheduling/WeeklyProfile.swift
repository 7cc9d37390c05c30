public import Foundation

/// At which times of the week something happens: people open an app, news come out.
///
/// It holds, for each quarter of an hour of the week by the local clock, on how many days there was at least one event,
/// and how many days were watched. Both halve in ``halfLife`` days, so that habits may change. A day is learned when it
/// is over: what is expected of a day never rests on that day.
///
/// The zone of the clock is handed to each operation. It is not part of the value, since travellers take their habits
/// with them.
public struct WeeklyProfile: Sendable, Hashable {
  /// In how many days what was observed comes to count half.
  public static let halfLife = 21.0
  /// So many days at most are learned at once. More without a word are a leap of the clock or a machine that was off,
  /// and must not make a year of habits forgotten.
  static let longestAbsence = 28
  /// How far back dates are taken that are there at the very beginning, in days.
  static let longestPast = 14

  /// On how many days something happened in a quarter, by ``LocalQuarter/ofWeek``.
  var counts = [Float](repeating: 0, count: LocalQuarter.perWeek)
  /// How many days were watched, Monday first.
  var exposure = [Double](repeating: 0, count: 7)
  /// By how much each model has foretold the days better than the even one, as the logarithm of the probabilities'
  /// ratio.
  var evidence = [Double](repeating: 0, count: ProfileModels.count)
  /// The first day that is not learned yet.
  var nextDay: Int?
  /// Quarters with an event in days not learned yet.
  var pending: Set<LocalQuarter> = []
  /// Of how many quarters in a day an event is to be expected before anything was observed.
  let usual: Double
  /// How many days an event may come to be known after it happened.
  let lateness: Int
  /// Whether the days before the first event count once it came.
  let learnsSilence: Bool
  /// For each quarter of the week how probable an event is. Follows from the rest, and changes once a day only.
  private(set) var probabilities: [Double] = []

  /// A profile that knows nothing and expects the same of all times.
  ///
  /// - Parameters:
  ///   - usual: Of how many of a day's 96 quarters of an hour an event is to be expected before anything was observed;
  ///     more than 0 and less than 96. One day of watching weighs as much.
  ///   - lateness: How many days after it happened an event may come to be known, 0...7. Days are learned so much
  ///     later.
  ///   - learnsSilence: Before the first event it is not known whether anyone tells of them. This says whether the days
  ///     before it count as watched once it came.
  public init(usual: Double, lateness: Int = 0, learnsSilence: Bool = true) {
    self.usual = min(max(usual, 0.1), 95)
    self.lateness = min(max(lateness, 0), 7)
    self.learnsSilence = learnsSilence
    estimate()
  }

  /// Notes when something happened. Several events in a quarter of an hour are one.
  ///
  /// - Parameters:
  ///   - dates: In any order. Those in the future and on days that are learned already are left out. The first ones
  ///     ever may reach two weeks back: all that happened since the earliest is taken to be among them.
  ///   - now: The time of day.
  ///   - zone: Where the clock of the habits is.
  public mutating func record(_ dates: [Date], now: Date, in zone: TimeZone) {
    let present = LocalQuarter(now, in: zone)
    let quarters = dates.map { LocalQuarter($0, in: zone) }.filter { $0.number <= present.number }
    if nextDay == nil, let earliest = quarters.min(by: { $0.number < $1.number }) {
      // Of the earliest day only the end is known.
      nextDay = max(min(earliest.day + 1, present.day), present.day - Self.longestPast)
    }
    add(quarters)
    advance(to: present)
    // The first day may be an earlier one now, if the clock was set back.
    add(quarters)
  }

  /// Learns the days that are over.
  ///
  /// - Parameters:
  ///   - now: The time of day. If it was set back by days, watching starts anew there.
  ///   - zone: Where the clock of the habits is.
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

  /// How probable an event is in a quarter of an hour.
  func probability(in quarter: LocalQuarter) -> Double { probabilities[quarter.ofWeek] }

  /// How many quarters of an hour of a day have an event, in the mean over the week.
  var meanPerDay: Double { probabilities.reduce(0, +) / 7 }

  /// How probable an event is in a quarter of an hour that begins at the time of day, 0...1.
  ///
  /// - Parameters:
  ///   - date: Any time in the quarter.
  ///   - zone: Where the clock of the habits is.
  public func probability(at date: Date, in zone: TimeZone) -> Double { probability(in: LocalQuarter(date, in: zone)) }

  /// For a heat map: how many quarters of an hour with an event were observed, Monday first, by 24 hours of the local
  /// clock. Days that are not over are left out, and old ones count less.
  public var hours: [[Double]] {
    (0..<7).map { weekday in
      (0..<24).map { hour in
        let start = weekday * LocalQuarter.perDay + hour * 4
        return counts[start..<start + 4].reduce(0) { $0 + Double($1) }
      }
    }
  }

  /// How many days of each weekday were watched, Monday first; old ones count less.
  public var days: [Double] { exposure }
}
