import FetchSimulator
import Foundation
import TestKit

/// The publications of a newsroom over several days.
///
/// `Simulation` draws the items of a newsroom in the time zone of each user. The phones of a fleet share one newsroom, so
/// its items are drawn here, by the same rules.
struct NewsroomDay {
  /// The time zone of the newsroom, whose midnight is the beginning of the day.
  static let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
  /// The number of days of which habits are learned.
  static let learnedDays = 7
  /// The beginning of the first learned day: Wednesday, 2 September 2026.
  static let start = Date(timeIntervalSince1970: 1_788_300_000)
  /// The beginning of the day.
  static let dayStart = start + Double(learnedDays) * 86_400
  /// The number of items from before the learned days, so that the first page of each scope is full.
  static let archive = 400

  private var random: SplitMix64
  private let newsroom: Newsroom

  init(_ newsroom: Newsroom, seed: UInt64) {
    self.newsroom = newsroom
    random = SplitMix64(seed: seed &* 3 &+ 1)
  }

  /// Returns the publications, in order. Their times are seconds since the beginning of the day.
  mutating func publications() -> [Publication] {
    var times: [(seconds: Double, isBreaking: Bool)] = []
    for day in -Self.learnedDays...0 {
      let midnight = Double(day) * 86_400
      times += drawn(weekday: weekday(of: day)).map { (midnight + $0.minutes * 60, $0.isBreaking) }
    }
    let archive = (1...Self.archive).map { (-Double(Self.learnedDays * 86_400 + $0 * 600), false) }
    let all = (archive + times.filter { $0.seconds < 86_400 }).sorted { $0.0 < $1.0 }
    return all.map { publication(at: $0.0, isBreaking: $0.1) }
  }

  /// Returns the weekday of a day, 0 for Monday.
  private func weekday(of day: Int) -> Int {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = Self.zone
    let noon = Self.dayStart + Double(day) * 86_400 + 43_200
    return (calendar.component(.weekday, from: noon) + 5) % 7
  }

  /// Draws the times of a day, in minutes since midnight.
  private mutating func drawn(weekday: Int) -> [(minutes: Double, isBreaking: Bool)] {
    var times: [(Double, Bool)] = []
    for bulletin in newsroom.bulletins ?? [] where bulletin.days.contains(weekday) {
      for minutes in stride(from: bulletin.from.minutes, to: bulletin.to.minutes, by: max(1, bulletin.every)) {
        let time = minutes + random.unit() * bulletin.delay
        times += Array(repeating: (time, false), count: max(1, bulletin.items))
      }
    }
    for stream in newsroom.streams ?? [] where stream.days.contains(weekday) {
      times += random.poisson(stream.perHour, from: stream.from.minutes, to: stream.to.minutes).map { ($0, false) }
    }
    for burst in newsroom.bursts ?? [] where burst.days.contains(weekday) {
      let occurs = random.unit() < burst.probability
      let start = burst.from.minutes + random.unit() * (burst.to.minutes - burst.from.minutes)
      let minutes = random.poisson(burst.perHour, from: start, to: start + burst.hours * 60)
      if occurs { times += minutes.map { ($0, true) } }
    }
    return times
  }

  /// Makes an item of one or two topics, the first ones of the list being the most frequent. Its text has 200 to 4000 bytes,
  /// with a median of about 500.
  private mutating func publication(at seconds: Double, isBreaking: Bool) -> Publication {
    let count = random.unit() < 0.3 ? 2 : 1
    let topics = Set((0..<count).map { _ in random.topic() })
    let bytes = 150 + Int(exp(4 + 4.25 * random.unit()))
    return Publication(time: seconds, topics: topics.sorted(), isBreaking: isBreaking, textBytes: bytes)
  }
}

extension SplitMix64 {
  /// Returns a number in 0..<1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns an exponentially distributed number with the given mean.
  mutating func exponential(_ mean: Double) -> Double { -log(1 - unit()) * mean }

  /// Returns a topic. Those at the beginning of the list are more frequent.
  mutating func topic() -> String {
    let share = unit()
    return FleetPlan.topics[Int(share * share * Double(FleetPlan.topics.count))]
  }

  /// Returns the times of independent events between two times in minutes.
  fileprivate mutating func poisson(_ perHour: Double, from: Double, to: Double) -> [Double] {
    guard perHour > 0 else { return [] }
    var times: [Double] = []
    var time = from
    while true {
      time += exponential(60 / perHour)
      guard time < to else { return times }
      times.append(time)
    }
  }
}
