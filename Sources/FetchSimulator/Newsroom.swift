public import Foundation

/// A newsroom: the times at which it publishes items.
///
///     let json = """
///       {
///         "name": "evening", "about": "Three items at 18:00 on workdays.",
///         "bulletins": [
///           { "days": "workdays", "from": "18:00", "to": "18:01", "every": 60, "delay": 2, "items": 3 }
///         ]
///       }
///       """
///     let evening = try JSONDecoder().decode(Newsroom.self, from: Data(json.utf8))
///     print(Simulation(persona: persona, newsroom: evening, days: 14, seed: 1).run(catalogue.policies))
public struct Newsroom: Sendable, Hashable, Codable {
  /// Items that are published at fixed times.
  ///
  ///     var punctual = newsroom
  ///     punctual.bulletins = newsroom.bulletins?.map { bulletin in
  ///       var bulletin = bulletin
  ///       bulletin.delay = 0
  ///       return bulletin
  ///     }
  public struct Bulletin: Sendable, Hashable, Codable {
    /// The days of publication.
    public var days: Days
    /// The local time of the first bulletin.
    public var from: LocalTime
    /// The local end time, which is excluded.
    public var to: LocalTime
    /// The minutes from one bulletin to the next, at least 1.
    public var every: Double
    /// The maximum delay of a bulletin, in minutes.
    public var delay: Double
    /// The number of items in a bulletin, 1...10,000.
    public var items: Int
  }

  /// Items that are published at random times, independently of each other.
  ///
  ///     let hourly = newsroom.streams?.map(\.perHour).max() ?? 0
  ///     print("up to \(hourly) items in an hour")
  public struct Stream: Sendable, Hashable, Codable {
    /// The days of publication.
    public var days: Days
    /// The local start time.
    public var from: LocalTime
    /// The local end time.
    public var to: LocalTime
    /// The mean number of items in an hour.
    public var perHour: Double
  }

  /// Breaking news: on some days, many items in a few hours.
  ///
  ///     var calm = newsroom
  ///     calm.bursts = nil
  public struct Burst: Sendable, Hashable, Codable {
    /// The days on which it may happen.
    public var days: Days
    /// The earliest local start time.
    public var from: LocalTime
    /// The latest local start time.
    public var to: LocalTime
    /// The duration in hours.
    public var hours: Double
    /// The mean number of items in an hour.
    public var perHour: Double
    /// The probability of a burst on one of the days, 0...1.
    public var probability: Double
  }

  /// The name.
  public var name: String
  /// A description in one sentence.
  public var about: String
  /// The items at fixed times.
  public var bulletins: [Bulletin]?
  /// The items at random times.
  public var streams: [Stream]?
  /// The bursts of breaking news.
  public var bursts: [Burst]?
  /// The dates of known items, in any order. They are not part of the JSON.
  public var published: [Date]?

  private enum CodingKeys: String, CodingKey {
    case name, about, bulletins, streams, bursts
  }

  /// Creates a newsroom from known items.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - about: A description in one sentence.
  ///   - published: The dates of the items.
  public init(name: String, about: String, published: [Date]) {
    (self.name, self.about, self.published) = (name, about, published)
  }

  /// Returns the publication dates of the items, in order.
  ///
  /// - Parameters:
  ///   - days: The days of the simulation.
  ///   - seed: The same seed gives the same items.
  func items(in days: VirtualDays, seed: UInt64) -> [Date] {
    var generator = SeededGenerator(seed: seed)
    var dates = published ?? []
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
        let occurs = generator.unit() < burst.probability
        let start = burst.from.minutes + generator.unit() * (burst.to.minutes - burst.from.minutes)
        guard occurs else { continue }
        let end = LocalTime(minutes: start + burst.hours * 60)
        let minutes = generator.poisson(burst.perHour * burst.hours, from: LocalTime(minutes: start), to: end)
        dates += minutes.map { days.date(day, $0) }
      }
    }
    return dates.sorted()
  }
}
