import Foundation

/// When someone opens the app.
public struct Persona: Sendable, Hashable, Codable {
  /// A habit: at most one opening on each of its days.
  public struct Visit: Sendable, Hashable, Codable {
    /// On which days.
    public var days: Days
    /// The time of day in the mean.
    public var at: LocalTime
    /// The standard deviation of the time, in minutes.
    public var spread: Double
    /// How probable it is on one of the days, 0...1.
    public var probability: Double
    /// For shifts: only in this week of `weeks` that take turns, counted from 0; nil for every week.
    public var week: Int?
    /// How many weeks take turns, 1 or more.
    public var weeks: Int?
  }

  /// Openings that do not depend on each other.
  public struct Stream: Sendable, Hashable, Codable {
    /// On which days.
    public var days: Days
    /// The beginning, local time.
    public var from: LocalTime
    /// The end, local time.
    public var to: LocalTime
    /// How many there are in the mean of such days.
    public var perDay: Double
  }

  /// What it is called.
  public var name: String
  /// A sentence about them.
  public var about: String
  /// The habits.
  public var visits: [Visit]?
  /// What is not a habit.
  public var random: [Stream]?

  /// The openings of some days, in order.
  ///
  /// - Parameters:
  ///   - days: The days.
  ///   - seed: The same seed gives the same openings.
  func openings(in days: VirtualDays, seed: UInt64) -> [Date] {
    var generator = SeededGenerator(seed: seed)
    var dates: [Date] = []
    for day in 0..<days.count {
      for visit in visits ?? [] {
        let occurs = generator.unit() < visit.probability
        let minutes = visit.at.minutes + generator.normal() * visit.spread
        let weeks = max(1, visit.weeks ?? 1)
        let isTurn = visit.week.map { $0 == (day / 7) % weeks } ?? true
        if occurs, isTurn, visit.days.contains(days.weekday(of: day)) { dates.append(days.date(day, minutes)) }
      }
      for stream in random ?? [] where stream.days.contains(days.weekday(of: day)) {
        for minutes in generator.poisson(stream.perDay, from: stream.from, to: stream.to) {
          dates.append(days.date(day, minutes))
        }
      }
    }
    return dates.sorted()
  }
}
