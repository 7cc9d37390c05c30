public import Foundation

/// A user of the app: the times at which the app is opened.
///
///     let json = """
///       {
///         "name": "lunch", "about": "Opens the app at lunch on nine workdays of ten.",
///         "visits": [{ "days": "workdays", "at": "12:30", "spread": 10, "probability": 0.9 }]
///       }
///       """
///     let lunch = try JSONDecoder().decode(Persona.self, from: Data(json.utf8))
///     print(Simulation(persona: lunch, newsroom: newsroom, days: 14, seed: 1).run(catalogue.policies))
public struct Persona: Sendable, Hashable, Codable {
  /// A habit: at most one opening on each of its days.
  ///
  ///     var reliable = persona
  ///     reliable.visits = persona.visits?.map { visit in
  ///       var visit = visit
  ///       visit.probability = 1
  ///       return visit
  ///     }
  public struct Visit: Sendable, Hashable, Codable {
    /// The days of the habit.
    public var days: Days
    /// The mean time of day.
    public var at: LocalTime
    /// The standard deviation of the time, in minutes.
    public var spread: Double
    /// The probability of the opening on one of the days, 0...1.
    public var probability: Double
    /// The week of the habit, for shifts: an index into `weeks` alternating weeks, counted from 0; nil for every week.
    public var week: Int?
    /// The number of alternating weeks, at least 1; nil for 1.
    public var weeks: Int?
  }

  /// Openings at random times, independently of each other.
  ///
  ///     let perDay = persona.random?.map(\.perDay).reduce(0, +) ?? 0
  ///     print("\(perDay) openings a day without a habit")
  public struct Stream: Sendable, Hashable, Codable {
    /// The days of the openings.
    public var days: Days
    /// The local start time.
    public var from: LocalTime
    /// The local end time.
    public var to: LocalTime
    /// The mean number of openings on one of the days.
    public var perDay: Double
  }

  /// The name.
  public var name: String
  /// A description in one sentence.
  public var about: String
  /// The habits.
  public var visits: [Visit]?
  /// The openings without a habit.
  public var random: [Stream]?
  /// The dates of recorded openings, in any order. They are not part of the JSON.
  public var openings: [Date]?

  private enum CodingKeys: String, CodingKey {
    case name, about, visits, random
  }

  /// Creates a user from recorded openings.
  ///
  ///     let log = try OpeningLog(String(contentsOf: folder.appending(path: "openings.jsonl"), encoding: .utf8))
  ///     let me = Persona(name: "me", about: "The openings of this computer.", openings: log.openings)
  ///     print(Simulation(persona: me, newsroom: newsroom, days: 14, seed: 1).run(catalogue.policies))
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - about: A description in one sentence.
  ///   - openings: The dates at which the app was opened.
  public init(name: String, about: String, openings: [Date]) {
    (self.name, self.about, self.openings) = (name, about, openings)
  }

  /// Returns the dates of the openings, in order.
  ///
  /// - Parameters:
  ///   - days: The days of the simulation.
  ///   - seed: The same seed gives the same openings.
  func openings(in days: VirtualDays, seed: UInt64) -> [Date] {
    var generator = SeededGenerator(seed: seed)
    var dates = openings ?? []
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
