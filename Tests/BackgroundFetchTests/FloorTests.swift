import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `What a wake has to wait for` {
  private let noData = RunRecord(reason: .scheduled, result: .noData, started: monday)
  private let failed = RunRecord(reason: .scheduled, result: .failed, started: monday)

  /// Returns the time of the next wake by the monotonic clock, if nothing happens until then.
  private func next(_ scheduler: FetchScheduler, after start: Double) -> Double {
    var now = start
    for _ in 0..<100 {
      guard let until = scheduler.decision(at: moment(now)).until else { return now }
      now = max(now + 1, until.timeIntervalSince(monday))
    }
    return .infinity
  }

  @Test func `Sixty minutes do not become a hundred and twenty`() {
    var scheduler = scheduler(.seconds(3600))
    scheduler.setSource("main", minimumInterval: 3600)
    let wakes = scheduler.live(from: 0, to: 3 * day, openings: Array(stride(from: 100, to: 3 * day, by: 700))) {
      (.newData, hourly(since: $0 - hour, until: $0))
    }
    let gaps = zip(wakes.dropFirst(), wakes).map { $0 - $1 }
    #expect(gaps.allSatisfy { $0 >= 3600 })
    #expect(gaps.contains { $0 < 4600 })
  }

  @Test func `Errors are followed by longer and longer waits up to six hours, and one success ends that`() {
    var scheduler = scheduler()
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<40 {
      scheduler.wakeStarted(at: moment(now))
      scheduler.record(failed, at: moment(now))
      let wake = next(scheduler, after: now)
      waits.append(wake - now)
      now = wake
    }
    #expect(waits.allSatisfy { $0 >= 900 && $0 <= day })
    #expect(waits[10...].allSatisfy { $0 >= 0.75 * FetchScheduler.longestBackoff })
    #expect(scheduler.failures == 40)
    let decision = scheduler.decision(at: moment(now - 1800))
    #expect(decision.reason == .backoff)
    scheduler.record(noData, at: moment(now))
    #expect(scheduler.failures == 0)
    #expect(next(scheduler, after: now) - now < FetchScheduler.longestBackoff)
  }

  @Test(arguments: UInt64(0)..<20)
  func `The first wait after an error is a quarter of an hour at most, and each doubles it`(
    seed: UInt64
  ) {
    var scheduler = scheduler(seed: seed)
    for (number, longest) in [900.0, 1800, 3600, 7200, 14_400, 21_600, 21_600].enumerated() {
      let start = Double(number) * day
      scheduler.record(failed, at: moment(start))
      #expect(scheduler.decision(at: moment(start + 0.74 * longest)).reason == .backoff)
      #expect(scheduler.decision(at: moment(start + longest)).reason != .backoff)
    }
  }

  @Test func `A leap of the wall clock neither ends a backoff nor prolongs it`() {
    var scheduler = scheduler()
    scheduler.record(failed, at: moment(0))
    for leap in [-400 * day, 400 * day] {
      func now(_ seconds: Double) -> FetchMoment {
        FetchMoment(date: monday + leap + seconds, uptime: moment(seconds).uptime, boot: "first")
      }
      #expect(scheduler.decision(at: now(600)).reason == .backoff)
      #expect(scheduler.decision(at: now(900)).reason != .backoff)
    }
  }

  @Test func `To be offline is no error`() {
    var scheduler = scheduler()
    var offline = failed
    offline.isOffline = true
    for number in 0..<20 { scheduler.record(offline, at: moment(Double(number))) }
    #expect(scheduler.failures == 0)
    #expect(next(scheduler, after: 20) == 20)
  }

  @Test func `Installs wait for different times after errors`() {
    let ends = (UInt64(0)..<30).map { seed in
      var scheduler = scheduler(seed: seed)
      scheduler.wakeStarted(at: moment(0))
      for _ in 0..<10 { scheduler.record(failed, at: moment(0)) }
      return next(scheduler, after: 0)
    }
    #expect(Set(ends.map { Int($0 / 60) }).count > 15)
  }

  @Test func `Installs do not come all at once after a boot or when the network is back`() {
    var boots: [Double] = []
    var networks: [Double] = []
    for seed in UInt64(0)..<60 {
      var scheduler = scheduler(seed: seed)
      let boot = FetchMoment(date: monday, uptime: 0, boot: "new")
      if let until = scheduler.decision(at: boot).until {
        #expect(scheduler.decision(at: boot).reason == .settling)
        boots.append(until.timeIntervalSince(monday))
      }
      scheduler.reconnected(at: moment(0))
      networks.append(next(scheduler, after: 0))
    }
    for times in [boots, networks] {
      #expect(times.count >= 59)
      for minute in 0..<13 { #expect(times.count { Int($0 / 60) == minute } <= 22) }
      // The delay ends at most half a quarter of an hour later, at the next lead.
      #expect(times.allSatisfy { $0 <= FetchScheduler.settling + 450 })
    }
  }

  @Test func `A server that wants to be left alone binds everything, for a day at most`() {
    var scheduler = scheduler()
    scheduler.hold(until: monday + 7200, at: moment(0))
    scheduler.hold(seconds: 60, at: moment(1))
    for reason in FetchReason.allCases {
      #expect(!scheduler.isAllowed(reason, at: moment(7199)))
      #expect(scheduler.isAllowed(reason, at: moment(7200)))
    }
    #expect(scheduler.decision(at: moment(10)).reason == .hold)
    #expect(next(scheduler, after: 10) >= 7200)
    scheduler.hold(seconds: 1e12, at: moment(0))
    #expect(scheduler.holdRemaining(at: moment(0)) == 86_400)
    scheduler.hold(seconds: .nan, at: moment(day))
    #expect(scheduler.holdRemaining(at: moment(day)) <= 86_400)
    var other = BackgroundFetchTests.scheduler()
    other.hold(until: monday - 5, at: moment(0))
    #expect(other.isAllowed(.manual, at: moment(0)))
  }

  @Test func `Setting the clock neither prolongs nor shortens a hold`() throws {
    var scheduler = scheduler()
    scheduler.hold(seconds: 3600, at: moment(0))
    scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
    for jump in [-1e6, 1e6] {
      let now = FetchMoment(date: monday + jump, uptime: 1_000_000 + 1800, boot: "first")
      #expect(scheduler.holdRemaining(at: now) == 1800)
    }
    let after = FetchMoment(date: monday - 1e6, uptime: 100, boot: "second")
    #expect(scheduler.holdRemaining(at: after) == 3500)
    let later = FetchMoment(date: monday + 1800, uptime: 100, boot: "second")
    #expect(scheduler.holdRemaining(at: later) == 1800)
  }

  @Test func `A suggestion binds the schedule alone, for six hours at most`() {
    var scheduler = scheduler()
    scheduler.suggest(seconds: 7200, at: moment(0))
    #expect(scheduler.decision(at: moment(10)).reason == .suggested)
    #expect(next(scheduler, after: 10) >= 7200)
    #expect(scheduler.isAllowed(.push, at: moment(10)) && scheduler.isAllowed(.manual, at: moment(10)))
    scheduler.suggest(seconds: 1e9, at: moment(0))
    #expect(next(scheduler, after: 10) == 21_600)
    scheduler.suggest(seconds: 0, at: moment(0))
    #expect(next(scheduler, after: 10) == 10)
  }

  @Test func `A push that brought the news postpones the next wake`() {
    var scheduler = scheduler()
    scheduler.record(noData, at: moment(0))
    scheduler.wakeStarted(at: moment(0))
    let planned = next(scheduler, after: 1)
    scheduler.wakeStarted(.push, at: moment(planned - 60))
    scheduler.record(RunRecord(reason: .push, result: .newData, started: monday), at: moment(planned - 60))
    #expect(next(scheduler, after: planned - 59) >= planned + 840)
  }

  @Test(arguments: [FetchInterval.minimum, .seconds(5400), .seconds(40_000), .seconds(200_000)])
  func `The floor holds through restarts and clocks that jump, and no jump makes a burst or a pause`(
    _ interval: FetchInterval
  ) throws {
    let floor = try #require(interval.seconds)
    var generator = SplitMix64(seed: UInt64(floor))
    for round in 0..<2 {
      var scheduler = FetchScheduler(interval: interval, seed: generator.next(), timeZone: .gmt)
      var real = 0.0
      var wall = 0.0
      var boot = 0
      var booted = -1e6
      var last: Double?
      // Whether the time of day was changed since the last wake, which the clocks cannot detect across a boot.
      var isMisled = false
      var resumed = 0.0
      for _ in 0..<80 {
        real += .random(in: 0...floor / 3, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0:
          wall += .random(in: -1e7...1e7, using: &generator)
          isMisled = true
        case 1:
          boot += 1
          booted = real
          resumed = real
        case 2:
          scheduler.recordOpening(
            at: FetchMoment(date: monday + real + wall, uptime: real - booted, boot: "\(boot)"))
        default: break
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
          scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
        }
        let now = FetchMoment(date: monday + real + wall, uptime: real - booted, boot: "\(boot)")
        guard scheduler.decision(at: now).isWake else {
          let since = max(last ?? 0, resumed)
          // The decision is requested only at intervals, so it may be late by one interval.
          #expect(real - since <= max(floor, FetchScheduler.longestGap) + floor / 3 + 900, "round \(round)")
          continue
        }
        if let last, !isMisled || scheduler.lastWake?.boot == now.boot { #expect(real - last >= floor) }
        last = real
        isMisled = false
        scheduler.wakeStarted(at: now)
        scheduler.record(noData, at: now)
        #expect(!scheduler.decision(at: now).isWake, "one wake and no burst")
      }
      #expect(last != nil)
    }
  }
}
