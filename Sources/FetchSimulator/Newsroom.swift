import Foundation

/// When news items come out.
public struct Newsroom: Sendable, Hashable, Codable {
  /// Items by the clock.
  public struct Bulletin: Sendable, Hashable, Codable {
    /// On which days.
    public var days: Days
    /// The first one, local time.
    public var from: LocalTime
    /// The end, local time; none comes out then.
    public var to: LocalTime
    /// Minutes from one to the next, 1 or more.
    public var every: Double
    /// How many minutes they are late at most.
    public var delay: Double
    /// How many items each has.
    public var items: Int
  }

  /// Items that do not depend on each other.
  public struct Stream: Sendable, Hashable, Codable {
    /// On which days.
    public var days: Days
    /// The beginning, local time.
    public var from: LocalTime
    /// The end, local time.
    public var to: LocalTime
    /// How many there are in an hour in the mean.
    public var perHour: Double
  }

  /// A story that breaks on some days and keeps the newsroom busy.
  public struct Burst: Sendable, Hashable, Codable {
    /// On which days.
    public var days: Days
    /// The earliest that it breaks, local time.
    public var from: LocalTime
    /// The latest, local time.
    public var to: LocalTime
    /// For how many hours.
    public var hours: Double
    /// How many items there are in an hour in the mean.
    public var perHour: Double
    /// How probable it is on one of the days, 0...1.
    public var probability: Double
  }

  /// What it is called.
  public var name: String
  /// A sentence about it.
  public var about: String
  /// What comes by the clock.
  public var bulletins: [Bulletin]?
  /// What comes at random.
  public var streams: [Stream]?
  /// What comes all at once.
  public var bursts: [Burst]?

  /// When the items of some days come out, in order.
  ///
  /// - Parameters:
  ///   - days: The days.
  ///   - seed: The same seed gives the same items.
  func items(in days: VirtualDays, seed: UInt64) -> [Date] {
    var generator = SeededGenerator(seed: seed)
    var dates: [Date] = []
    for day in 0..<days.count {
      let weekday = days.weekday(of: day)
      for bulletin in bulletins ?? [] where bulletin.days.contains(weekday) {
        for minutes in stride(from: bulletin.from.minutes, to: bulletin.to.minutes, by: max(1, bulletin.every)) {
          let date = days.date(day, minutes + generator.unit() * bulletin.delay)
          dates += Array(repeating: date, count: min(max(1, bulletin.items), 10_000))
        }
      }
      for stream in streams ?? [] where stream.days.contains(weekday) {
        let mean = stream.perHour * (stream.to.minutes - stream.from.minutes) / 60
        dates += generator.poisson(mean, from: stream.from, to: stream.to).map { days.date(day, $0) }
      }
      for burst in bursts ?? [] where burst.days.contains(weekday) {
        let breaks = generator.unit() < burst.probability
        let start = burst.from.minutes + generator.unit() * (burst.to.minutes - burst.from.minutes)
        guard breaks else { continue }
        let end = LocalTime(minutes: start + burst.hours * 60)
        let minutes = generator.poisson(burst.perHour * burst.hours, from: LocalTime(minutes: start), to: end)
        dates += minutes.map { days.date(day, $0) }
      }
    }
    return dates.sorted()
  }
}
