import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `The schedule of wakes` {
  @Test func `A fresh install has no wakes`() {
    var scheduler = FetchScheduler(seed: 1, timeZone: .gmt)
    #expect(scheduler.interval == .never)
    #expect(scheduler.decision(at: moment(0)) == .never)
    #expect(scheduler.simulate(from: 0, to: 30 * day).isEmpty)
  }

  @Test func `With the minimum interval, a fresh install wakes about every two hours`() {
    var scheduler = scheduler()
    let wakes = scheduler.simulate(from: 0, to: day) { _ in (.newData, []) }
    #expect(12...24 ~= wakes.count)
    let gaps = zip(wakes.dropFirst(), wakes).map { $0 - $1 }
    // No better times are known, so the wakes are evenly spaced within the grid of quarters of an hour.
    #expect((gaps.max() ?? 0) - (gaps.min() ?? 0) <= 901)
    #expect(gaps.allSatisfy { hour <= $0 && $0 <= 2.5 * hour })
  }

  @Test func `Signing out sets never and drops pending pushes`() {
    var scheduler = scheduler()
    scheduler.setSource("main", minimumInterval: .seconds(600))
    scheduler.record(RunRecord(reason: .scheduled, result: .failed, started: monday), at: moment(0))
    scheduler.signOut()
    #expect(scheduler.interval == .never && scheduler.failures == 0 && scheduler.sources.isEmpty)
    #expect(scheduler.decision(at: moment(day)) == .never)
  }

  @Test func `Signing out leaves nothing that a later interval makes up for`() throws {
    var fresh = scheduler()
    fresh.wakeStarted(at: moment(0))
    var run = RunRecord(reason: .scheduled, result: .noData, started: monday)
    fresh.record(run, at: moment(0))
    #expect(!fresh.decision(at: moment(1000)).isWake)
    run.received = 5
    for isMissed in [false, true] {
      var scheduler = fresh
      if isMissed { scheduler.wakeMissed() } else { scheduler.record(run, at: moment(1)) }
      #expect(scheduler.decision(at: moment(1000)).isWake)
      var stored = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
      stored.timeZone = .gmt
      #expect(stored.decision(at: moment(1000)) == scheduler.decision(at: moment(1000)))
      scheduler.signOut()
      scheduler.setInterval(.minimum)
      #expect(scheduler.decision(at: moment(1000)) == fresh.decision(at: moment(1000)))
    }
  }

  @Test func `From the third day on, a wake precedes a daily opening at 1 p.m.`() {
    for seed in UInt64(0)..<8 {
      var scheduler = scheduler(seed: seed)
      let wakes = learn(&scheduler, days: 14, hours: [13])
      for number in 2..<14 {
        let opening = Double(number) * day + 13 * hour
        let last = wakes.last { $0 <= opening } ?? 0
        // The lead times must use their full range. No wake in the quarters of an hour before the opening replaces it.
        #expect(FetchScheduler.leadTimeRange ~= .seconds(opening - last), "seed \(seed), day \(number)")
      }
    }
  }

  @Test func `The reason names the learned time and weekday`() {
    var scheduler = scheduler()
    _ = learn(&scheduler, days: 14, hours: [13])
    let decision = scheduler.decision(at: moment(14 * day + 12.99 * hour))
    #expect(decision == .wake(.opening(weekday: 1, minute: 780), sources: []))
    #expect(decision.reason?.description == "the app is often opened at 13:00 on a Monday")
    #expect(scheduler.decision(at: moment(14 * day + 4 * hour)).reason != .evenSpacing)
  }

  @Test func `Quiet hours have the longest gaps`() {
    var scheduler = scheduler()
    let wakes = learn(&scheduler, days: 28, hours: [7.5, 9, 12, 14.25, 17, 19, 21.5, 23])
    for number in 14..<27 {
      let start = Double(number) * day + 12 * hour
      let own = wakes.filter { start <= $0 && $0 < start + day }
      let gaps = zip(own, own.dropFirst()).sorted { $0.1 - $0.0 > $1.1 - $1.0 }
      // The longest gap is between the wake for 23:00 and the wake for 7:30.
      #expect(gaps[0].0 >= start + 10.5 * hour && gaps[0].1 <= start + 19.5 * hour)
      #expect(gaps[0].1 - gaps[0].0 >= 1.5 * (gaps[1].1 - gaps[1].0))
    }
  }

  @Test(arguments: ["2027-03-28", "2026-10-25"])
  func `Wakes follow the local clock when daylight saving time changes`(_ change: String) throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = berlin
    let sunday = try Date(change + "T12:00:00Z", strategy: .iso8601)
    let openings = try (-10...3).map { number in
      let date = try #require(calendar.date(byAdding: .day, value: number, to: sunday))
      return try #require(calendar.date(bySettingHour: 13, minute: 0, second: 0, of: date)).timeIntervalSince(monday)
    }
    var scheduler = scheduler(zone: berlin)
    let wakes = scheduler.simulate(from: openings[0] - 12 * hour, to: openings[13] + hour, openings: openings) { now in
      (.newData, hourly(since: now - hour, until: now))
    }
    for opening in openings[3...] {
      #expect(FetchScheduler.leadTimeRange ~= .seconds(opening - (wakes.last { $0 <= opening } ?? 0)))
    }
  }

  @Test func `Constraints keep the wakes before habits and remove others`() {
    var scheduler = scheduler()
    _ = learn(&scheduler, days: 14, hours: [8, 13, 19])
    var constrained = scheduler
    let free = scheduler.simulate(from: 14 * day, to: 21 * day) { (.newData, hourly(since: $0 - hour, until: $0)) }
    let constraints = FetchConstraints(isMetered: true, isLowPower: true)
    let few = constrained.simulate(from: 14 * day, to: 21 * day, constraints: constraints) {
      (.newData, hourly(since: $0 - hour, until: $0))
    }
    #expect(few.count >= 21 && few.count <= free.count)
    var fresh = BackgroundFetchTests.scheduler()
    var other = fresh
    #expect(3...6 ~= fresh.simulate(from: 0, to: 3 * day, constraints: constraints) { _ in (.newData, []) }.count)
    #expect(other.simulate(from: 0, to: 3 * day) { _ in (.newData, []) }.count > 30)
  }

  @Test func `Slow and costly runs reduce the number of wakes, but not to zero`() {
    var counts: [Int] = []
    for (cost, received) in [(0.0, nil), (1, nil), (1000, nil), (1000, 5)] as [(Double, Int?)] {
      var scheduler = scheduler()
      for _ in 0..<30 {
        var run = RunRecord(
          reason: .manual, result: .newData, started: monday, bytes: Int(cost * 200_000),
          cpuMilliseconds: cost * 200, wallMilliseconds: cost * 2000)
        run.received = received
        scheduler.record(run, at: moment(0))
      }
      counts.append(scheduler.simulate(from: 1, to: 3 * day) { _ in (.newData, []) }.count)
      scheduler.record(
        RunRecord(reason: .manual, result: .newData, started: monday, bytes: -5, wallMilliseconds: .nan), at: moment(1))
    }
    #expect(counts[0] > counts[1])
    #expect(counts[1] >= counts[2] && counts[2] >= 3)
    #expect(counts[3] >= counts[0], "the pages of a full copy say nothing about later runs")
  }

  @Test func `Sources that become due within minutes share a wake`() {
    var scheduler = scheduler()
    scheduler.setSource("b", minimumInterval: .seconds(3600))
    scheduler.setSource("a", minimumInterval: .seconds(3600))
    scheduler.setSource("late", minimumInterval: .seconds(4 * 3600))
    #expect(scheduler.decision(at: moment(0)) == .wake(.evenSpacing, sources: ["a", "b", "late"]))
    let run = RunRecord(reason: .manual, result: .newData, started: monday)
    scheduler.wakeStarted(at: moment(0))
    scheduler.record(run, sources: ["a", "late"], at: moment(0))
    scheduler.record(run, sources: ["b"], at: moment(200))
    var now = 200.0
    var decision = scheduler.decision(at: moment(now))
    while let until = decision.until {
      now = until.timeIntervalSince(monday)
      decision = scheduler.decision(at: moment(now))
    }
    #expect(now >= 3800, "the wake for a waits for b")
    guard case .wake(_, let sources) = decision else { return }
    #expect(sources == ["a", "b"])
  }

  @Test func `A change of the interval keeps the last fetch of a source`() {
    var scheduler = scheduler()
    scheduler.setSource("main", minimumInterval: .seconds(3600))
    scheduler.record(RunRecord(reason: .manual, result: .noData, started: monday), at: moment(0))
    scheduler.setSource("main", minimumInterval: .seconds(7200))
    #expect(scheduler.sources.map(\.lastFetch) == [moment(0)])
    // A run fetches the sources that are due.
    scheduler.record(RunRecord(reason: .manual, result: .noData, started: monday), at: moment(7199))
    #expect(scheduler.sources.map(\.lastFetch) == [moment(0)])
    #expect(scheduler.sources.map(\.minimumInterval) == [.seconds(7200)])
  }

  @Test func `A timer may fire a second early`() throws {
    var scheduler = scheduler()
    scheduler.wakeStarted(at: moment(0))
    scheduler.record(RunRecord(reason: .scheduled, result: .newData, started: monday), at: moment(0))
    let next = try #require(scheduler.decision(at: moment(0)).until).timeIntervalSince(monday)
    #expect(next > FetchInterval.minimumDuration.inSeconds)
    #expect(scheduler.decision(at: moment(next - 0.9)).isWake)
    #expect(!scheduler.decision(at: moment(next - 1.1)).isWake)
  }

  @Test func `A source has its own interval, whatever the schedule`() {
    var scheduler = scheduler()
    scheduler.setSource("daily", minimumInterval: .seconds(12 * hour))
    let wakes = scheduler.simulate(from: 0, to: 7 * day) { _ in (.newData, []) }
    #expect(zip(wakes.dropFirst(), wakes).allSatisfy { $0 - $1 >= 12 * hour })
    #expect(wakes.count >= 7)
  }

  @Test func `A decision changes nothing`() {
    var scheduler = scheduler()
    _ = learn(&scheduler, days: 7, hours: [8, 13, 19])
    let before = scheduler
    for number in 0..<50 { _ = scheduler.decision(at: moment(7 * day + Double(number) * 1000)) }
    #expect(scheduler == before)
  }
}
