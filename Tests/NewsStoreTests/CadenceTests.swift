import Foundation
import NewsStore
import Testing

@Suite struct CadenceTests {
  /// Monday 2026-11-02, 00:00 UTC.
  private static let monday = Date(timeIntervalSince1970: 1_793_577_600)

  private static func moment(day: Int = 0, _ hour: Int, _ minute: Int = 0) -> Date {
    monday + Double(((day * 24 + hour) * 60 + minute) * 60)
  }

  /// Returns the hints at the given times, two weeks after the first Monday by default, for a rhythm of changes.
  private static func hints(
    _ rhythm: (_ day: Int) -> [Date], at times: [(hour: Int, minute: Int)], day: Int = 14
  ) -> [Int] {
    let changes = (0...day).flatMap(rhythm)
    return times.map { time in
      let now = moment(day: day, time.hour, time.minute)
      return Cadence(changes: changes.filter { $0 <= now }, since: monday, now: now).interval(at: now)
    }
  }

  @Test(
    "An hourly bulletin: the interval is 15 minutes by day, an hour by night, and shorter towards its first hour")
  func hourlyBulletin() {
    func bulletin(day: Int) -> [Date] { (6...22).map { Self.moment(day: day, $0) } }
    let hints = Self.hints(bulletin, at: [(12, 5), (18, 30), (2, 0), (5, 30)])
    #expect(hints == [900, 900, 3600, 2700])
  }

  @Test("Office hours: the interval is minutes from Monday to Friday, and an hour at night and on weekends")
  func officeHours() {
    func office(day: Int) -> [Date] {
      day % 7 >= 5
        ? [] : (9...16).flatMap { hour in stride(from: 0, to: 60, by: 10).map { Self.moment(day: day, hour, $0) } }
    }
    #expect(Self.hints(office, at: [(10, 0), (15, 30)]).allSatisfy { 140...160 ~= $0 })
    #expect(Self.hints(office, at: [(8, 50)]).allSatisfy { 740...760 ~= $0 })
    #expect(Self.hints(office, at: [(20, 0), (3, 0)]) == [3600, 3600])
    #expect(Self.hints(office, at: [(10, 0), (15, 0)], day: 12) == [3600, 3600])
  }

  @Test("Frequent changes shorten the interval at once, and it recovers an hour after the last one")
  func breakingDay() {
    func usual(day: Int) -> [Date] { (0...23).map { Self.moment(day: day, $0, 30) } }
    func breaking(day: Int) -> [Date] {
      usual(day: day) + (day == 14 ? (0..<120).map { Self.moment(day: day, 14, $0) } : [])
    }
    #expect(Self.hints(usual, at: [(13, 0), (15, 0), (17, 30)]).allSatisfy { 800...900 ~= $0 })
    let hints = Self.hints(breaking, at: [(13, 0), (14, 10), (15, 30), (17, 30)])
    #expect(hints[0] == 900)
    #expect(80...90 ~= hints[1])
    #expect(hints[2] == 30)
    #expect(800...900 ~= hints[3])
  }

  @Test(
    "Without a history the interval is five minutes; simultaneous changes count once; the interval stays in its range")
  func limits() {
    let now = Self.moment(day: 14, 12)
    #expect(Cadence(changes: [], since: now, now: now).interval(at: now) == 300)
    let once = Cadence(
      changes: (0..<500).map { Self.moment(day: 1, 3) + Double($0) / 100 }, since: Self.monday, now: now)
    #expect(once.interval(at: now) == 3600)
    let always = Cadence(changes: (0..<20_000).map { now - Double($0) * 60 }, since: Self.monday, now: now)
    #expect(always.interval(at: now) == 30)
    // A new feed with a short history.
    let young = Cadence(changes: [now - 600, now - 300], since: now - 600, now: now)
    #expect(Cadence.intervals ~= young.interval(at: now))
  }
}
