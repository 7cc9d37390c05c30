import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `Weekly profiles` {
  private let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

  @Test func `A profile without observations is uniform`() {
    let profile = WeeklyProfile(expectedPerDay: 4)
    let values = (0..<672).map { profile.probability(at: monday + Double($0) * 900, in: .gmt) }
    #expect(values.allSatisfy { abs($0 - 4.0 / 96) < 1e-12 })
  }

  @Test(arguments: 0..<7)
  func `Two days at 1 p.m. result in a clear peak on the third day, on any weekday`(_ first: Int) {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in first...first + 1 {
      let date = monday + Double(number) * day + 13 * hour + 120
      profile.record([date], now: date, in: .gmt)
    }
    let third = monday + Double(first + 2) * day
    profile.advance(to: third, in: .gmt)
    let peak = profile.probability(at: third + 13 * hour, in: .gmt)
    #expect(peak > 0.25)
    for quarter in 0..<96 where abs(quarter - 52) > 4 {
      #expect(profile.probability(at: third + Double(quarter) * 900, in: .gmt) < peak / 4)
    }
  }

  @Test func `Two days at about 1 p.m. are sufficient too`() {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for (number, minutes) in [(0, -8.0), (1, 11)] {
      let date = monday + Double(number) * day + 13 * hour + minutes * 60
      profile.record([date], now: date, in: .gmt)
    }
    profile.advance(to: monday + 2 * day, in: .gmt)
    let lunch = (51...52).map { profile.probability(at: monday + 2 * day + Double($0) * 900, in: .gmt) }
    let evening = profile.probability(at: monday + 2 * day + 19 * hour, in: .gmt)
    #expect(lunch.allSatisfy { $0 > 3 * evening })
  }

  @Test func `Future events are ignored`() {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in 0..<3 {
      let start = monday + Double(number) * day
      profile.record([start + hour, start + 13 * hour], now: start + hour, in: .gmt)
    }
    profile.advance(to: monday + 3 * day, in: .gmt)
    #expect(profile.hours.map { $0[1] > 0 } == [true, true, true, false, false, false, false])
    #expect(profile.hours.allSatisfy { $0[13] == 0 })
  }

  @Test func `Random openings result in a nearly uniform profile`() {
    var generator = SplitMix64(seed: 12)
    for _ in 0..<10 {
      var profile = WeeklyProfile(expectedPerDay: 4)
      for number in 0..<28 {
        for _ in 0..<6 {
          let date = monday + (Double(number) + .random(in: 0..<1, using: &generator)) * day
          profile.record([date], now: monday + Double(number + 1) * day - 1, in: .gmt)
        }
      }
      profile.advance(to: monday + 28 * day, in: .gmt)
      let values = (0..<672).map { profile.probability(at: monday + 28 * day + Double($0) * 900, in: .gmt) }
      let mean = values.reduce(0, +) / 672
      #expect(values.allSatisfy { abs($0 - mean) < mean * 0.5 })
    }
  }

  @Test func `Weekends are distinguished from working days, and Tuesdays from other days`() {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in 0..<35 {
      let start = monday + Double(number) * day
      if number % 7 >= 5 { profile.record([start + 10 * hour], now: start + 10 * hour, in: .gmt) }
      if number % 7 == 1 { profile.record([start + 16 * hour], now: start + 16 * hour, in: .gmt) }
    }
    profile.advance(to: monday + 35 * day, in: .gmt)
    func probability(_ weekday: Double, _ time: Double) -> Double {
      profile.probability(at: monday + (35 + weekday) * day + time * hour, in: .gmt)
    }
    #expect(probability(5, 10) > 0.4)
    #expect(probability(6, 10) > 0.4)
    #expect(probability(1, 16) > 0.4)
    for weekday in [0.0, 2, 3, 4] {
      #expect(probability(weekday, 10) < 0.1)
      #expect(probability(weekday, 16) < 0.15)
    }
  }

  @Test func `New habits replace old ones`() {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in 0..<84 {
      let date = monday + Double(number) * day + (number < 42 ? 8 : 20) * hour
      profile.record([date], now: date, in: .gmt)
    }
    profile.advance(to: monday + 84 * day, in: .gmt)
    #expect(profile.probability(at: monday + 84 * day + 20 * hour, in: .gmt) > 0.6)
    #expect(profile.probability(at: monday + 84 * day + 8 * hour, in: .gmt) < 0.3)
    let hours = profile.hours
    #expect(hours.count == 7 && hours.allSatisfy { $0.count == 24 })
    // Six weeks are two half-lives.
    let ratio = hours.reduce(0) { $0 + $1[8] } / hours.reduce(0) { $0 + $1[20] }
    #expect(abs(ratio - 0.25) < 0.02)
  }

  @Test(arguments: ["2026-03-29", "2026-10-25"])
  func `A habit keeps its local time when daylight saving time changes`(_ change: String) throws {
    let sunday = try Date(change + "T12:00:00Z", strategy: .iso8601)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = berlin
    func lunch(_ number: Int) throws -> Date {
      let date = try #require(calendar.date(byAdding: .day, value: number, to: sunday))
      return try #require(calendar.date(bySettingHour: 13, minute: 0, second: 0, of: date))
    }
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in -10 ..< -1 {
      let date = try lunch(number)
      profile.record([date], now: date, in: berlin)
    }
    for number in -1...2 {
      let date = try lunch(number)
      profile.advance(to: date, in: berlin)
      #expect(profile.probability(at: date, in: berlin) > 0.5)
      #expect(profile.probability(at: date - hour, in: berlin) < 0.1)
      #expect(profile.probability(at: date + hour, in: berlin) < 0.1)
      profile.record([date], now: date, in: berlin)
    }
    profile.advance(to: try lunch(3), in: berlin)
    // One cell of each weekday holds all openings. A day of 23 or 25 hours counts like any other.
    #expect(profile.hours.allSatisfy { $0.indices.filter { [hours = $0] in hours[$0] > 0 } == [13] })
    #expect(profile.days.reduce(0, +) > 10 && profile.days.reduce(0, +) < 13)
  }

  @Test func `Both occurrences of a repeated hour share their cells`() throws {
    let first = try Date("2026-10-25T00:30:00Z", strategy: .iso8601)
    var profile = WeeklyProfile(expectedPerDay: 4)
    profile.record([first], now: first, in: berlin)
    profile.record([first + hour], now: first + hour, in: berlin)
    profile.advance(to: first + 2 * day, in: berlin)
    #expect(abs(profile.hours[6][2] - exp2(-1.0 / 21)) < 1e-6)
  }

  @Test func `Events reported a day late and those before the first fetch are learned`() {
    var profile = WeeklyProfile(expectedPerDay: 21, reportingDelay: 1, countsInitialDays: false)
    profile.record((1..<240).map { monday - Double($0) * hour }, now: monday, in: .gmt)
    #expect(profile.days.reduce(0, +) > 6)
    #expect(profile.probability(at: monday + 10 * hour, in: .gmt) > 0.8)
    #expect(profile.probability(at: monday + 10.5 * hour, in: .gmt) < 0.2)
    let before = profile.hours
    profile.record([monday - 0.3 * hour], now: monday + hour, in: .gmt)
    profile.advance(to: monday + day, in: .gmt)
    #expect(profile.hours[6][23] > before[6][23])
  }

  @Test(arguments: [true, false])
  func `The days before the first event count only if the profile is configured so`(_ learns: Bool) {
    var profile = WeeklyProfile(expectedPerDay: 4, countsInitialDays: learns)
    for number in 0..<10 { profile.advance(to: monday + Double(number) * day, in: .gmt) }
    #expect(profile.days == Array(repeating: 0, count: 7))
    #expect(abs(profile.probability(at: monday, in: .gmt) - 4.0 / 96) < 1e-12)
    profile.record([monday + 10 * day], now: monday + 10 * day, in: .gmt)
    profile.advance(to: monday + 11 * day, in: .gmt)
    #expect(profile.days.reduce(0, +) > (learns ? 8 : 0) && profile.days.reduce(0, +) < (learns ? 11 : 3))
  }

  @Test func `A jump of the clock erases only weeks, and learning continues after the way back`() {
    var profile = WeeklyProfile(expectedPerDay: 4)
    for number in 0..<14 {
      let date = monday + Double(number) * day + 13 * hour
      profile.record([date], now: date, in: .gmt)
    }
    profile.advance(to: monday + 30_000 * day, in: .gmt)
    #expect(profile.hours.reduce(0) { $0 + $1[13] } > 3)
    for number in 14..<40 {
      let date = monday + Double(number) * day + 13 * hour
      profile.record([date], now: date, in: .gmt)
    }
    profile.advance(to: monday + 40 * day, in: .gmt)
    #expect(profile.probability(at: monday + 40 * day + 13 * hour, in: .gmt) > 0.5)
  }

  @Test func `A decoded profile is equal, and the JSON takes up to six kilobytes`() throws {
    var generator = SplitMix64(seed: 24)
    var profile = WeeklyProfile(expectedPerDay: 21, reportingDelay: 1, countsInitialDays: false)
    for number in 0..<60 {
      let now = monday + Double(number + 1) * day
      let dates = (0..<40).map { _ in now - .random(in: 0..<day, using: &generator) }
      profile.record(dates, now: now, in: .gmt)
      let data = try JSONEncoder().encode(profile)
      #expect(data.count < 6144)
      let again = try JSONDecoder().decode(WeeklyProfile.self, from: data)
      #expect(again.hours == profile.hours && again.days == profile.days)
      #expect(abs(again.probability(at: now, in: .gmt) - profile.probability(at: now, in: .gmt)) < 1e-6)
      profile = again
    }
  }

  @Test(arguments: [-1e300, -62_135_596_800, -1, 0, 4_291_747_200, 1e15, 1e300])
  func `Distant dates do not crash`(_ seconds: Double) {
    var profile = WeeklyProfile(expectedPerDay: 4)
    let date = Date(timeIntervalSince1970: seconds)
    profile.record([date, .distantPast, .distantFuture], now: date, in: berlin)
    profile.record([monday], now: monday, in: berlin)
    profile.record([date], now: date, in: berlin)
    #expect(0...1 ~= profile.probability(at: date, in: berlin))
  }
}
