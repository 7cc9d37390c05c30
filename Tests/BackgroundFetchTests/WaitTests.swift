import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `Minimum waits before a wake` {
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

  @Test func `An interval of sixty minutes does not result in gaps of two hours`() {
    var scheduler = scheduler(.duration(.seconds(3600)))
    scheduler.setSource("main", minimumInterval: .seconds(3600))
    let wakes = scheduler.simulate(from: 0, to: 3 * day, openings: Array(stride(from: 100, to: 3 * day, by: 700))) {
      (.newData, hourly(since: $0 - hour, until: $0))
    }
    let gaps = zip(wakes.dropFirst(), wakes).map { $0 - $1 }
    #expect(gaps.allSatisfy { $0 >= 3600 })
    #expect(gaps.contains { $0 < 4600 })
  }

  @Test func `The backoff grows with each error up to six hours, and one success ends it`() {
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
    #expect(waits[10...].allSatisfy { $0 >= 0.75 * FetchScheduler.maximumBackoff.inSeconds })
    #expect(scheduler.failures == 40)
    let decision = scheduler.decision(at: moment(now - 1800))
    #expect(decision.reason == .backoff)
    scheduler.record(noData, at: moment(now))
    #expect(scheduler.failures == 0)
    #expect(next(scheduler, after: now) - now < FetchScheduler.maximumBackoff.inSeconds)
  }

  @Test(arguments: slice(of: UInt64(0)..<20))
  func `The first backoff is at most 15 minutes, and each error doubles it`(
    seed: UInt64
  ) {
    var scheduler = scheduler(seed: seed)
    for (number, maximum) in [900.0, 1800, 3600, 7200, 14_400, 21_600, 21_600].enumerated() {
      let start = Double(number) * day
      scheduler.record(failed, at: moment(start))
      #expect(scheduler.decision(at: moment(start + 0.74 * maximum)).reason == .backoff)
      #expect(scheduler.decision(at: moment(start + maximum)).reason != .backoff)
    }
  }

  @Test func `Setting the clock neither shortens nor prolongs a backoff`() {
    var scheduler = scheduler()
    scheduler.record(failed, at: moment(0))
    for leap in [-400 * day, 400 * day] {
      func now(_ seconds: Double) -> FetchInstant {
        FetchInstant(date: monday + leap + seconds, uptime: moment(seconds).uptime, boot: "first")
      }
      #expect(scheduler.decision(at: now(600)).reason == .backoff)
      #expect(scheduler.decision(at: now(900)).reason != .backoff)
    }
  }

  @Test func `A run without a network does not count as an error`() {
    var scheduler = scheduler()
    var offline = failed
    offline.isOffline = true
    for number in 0..<20 { scheduler.record(offline, at: moment(Double(number))) }
    #expect(scheduler.failures == 0)
    #expect(next(scheduler, after: 20) == 20)
  }

  @Test func `The backoff differs between installs`() {
    let ends = (UInt64(0)..<30).map { seed in
      var scheduler = scheduler(seed: seed)
      scheduler.wakeStarted(at: moment(0))
      for _ in 0..<10 { scheduler.record(failed, at: moment(0)) }
      return next(scheduler, after: 0)
    }
    #expect(Set(ends.map { Int($0 / 60) }).count > 15)
  }

  @Test func `Installs do not fetch all at once after a boot or a reconnection`() {
    var boots: [Double] = []
    var networks: [Double] = []
    for seed in UInt64(0)..<60 {
      var scheduler = scheduler(seed: seed)
      let boot = FetchInstant(date: monday, uptime: 0, boot: "new")
      if let until = scheduler.decision(at: boot).until {
        #expect(scheduler.decision(at: boot).reason == .startupDelay)
        boots.append(until.timeIntervalSince(monday))
      }
      scheduler.reconnected(at: moment(0))
      networks.append(next(scheduler, after: 0))
    }
    for times in [boots, networks] {
      #expect(times.count >= 59)
      for minute in 0..<13 { #expect(times.count { Int($0 / 60) == minute } <= 22) }
      // The delay ends at most half a quarter of an hour later, before the next quarter.
      #expect(times.allSatisfy { $0 <= FetchScheduler.maximumStartupDelay.inSeconds + 450 })
    }
  }

  @Test func `A hold of the server prevents all fetches, for up to a day`() {
    var scheduler = scheduler()
    scheduler.hold(until: monday + 7200, at: moment(0))
    scheduler.hold(for: .seconds(60), at: moment(1))
    #expect(!scheduler.isFetchAllowed(at: moment(7199)))
    #expect(scheduler.isFetchAllowed(at: moment(7200)))
    #expect(scheduler.decision(at: moment(10)).reason == .hold)
    #expect(next(scheduler, after: 10) >= 7200)
    scheduler.hold(for: .seconds(1e12), at: moment(0))
    #expect(scheduler.holdRemaining(at: moment(0)) == .seconds(86_400))
    scheduler.hold(for: .seconds(-60), at: moment(day))
    #expect(scheduler.holdRemaining(at: moment(day)) == .zero)
    var other = BackgroundFetchTests.scheduler()
    other.hold(until: monday - 5, at: moment(0))
    #expect(other.isFetchAllowed(at: moment(0)))
  }

  @Test func `Setting the clock neither shortens nor prolongs a hold`() throws {
    var scheduler = scheduler()
    scheduler.hold(for: .seconds(3600), at: moment(0))
    scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
    for jump in [-1e6, 1e6] {
      let now = FetchInstant(date: monday + jump, uptime: 1_000_000 + 1800, boot: "first")
      #expect(scheduler.holdRemaining(at: now) == .seconds(1800))
    }
    let after = FetchInstant(date: monday - 1e6, uptime: 100, boot: "second")
    #expect(scheduler.holdRemaining(at: after) == .seconds(3500))
    let later = FetchInstant(date: monday + 1800, uptime: 100, boot: "second")
    #expect(scheduler.holdRemaining(at: later) == .seconds(1800))
  }

  @Test func `A suggestion delays only scheduled wakes, for up to six hours`() {
    var scheduler = scheduler()
    scheduler.suggest(.seconds(7200), at: moment(0))
    #expect(scheduler.decision(at: moment(10)).reason == .suggested)
    #expect(next(scheduler, after: 10) >= 7200)
    #expect(scheduler.isFetchAllowed(at: moment(10)))
    scheduler.suggest(.seconds(1e9), at: moment(0))
    #expect(next(scheduler, after: 10) == 21_600)
    scheduler.suggest(.zero, at: moment(0))
    #expect(next(scheduler, after: 10) == 10)
  }

  @Test func `A wake for a push postpones the next scheduled wake`() {
    var scheduler = scheduler()
    scheduler.record(noData, at: moment(0))
    scheduler.wakeStarted(at: moment(0))
    let planned = next(scheduler, after: 1)
    scheduler.wakeStarted(.push, at: moment(planned - 60))
    scheduler.record(RunRecord(reason: .push, result: .newData, started: monday), at: moment(planned - 60))
    #expect(next(scheduler, after: planned - 59) >= planned + 840)
  }

  @Test(arguments: slice(of: [0, 5400, 40_000, 200_000]))
  func `Restarts and clock changes cause neither wakes below the minimum interval nor long gaps`(
    _ seconds: Int
  ) throws {
    let interval = seconds == 0 ? FetchInterval.minimum : .duration(.seconds(seconds))
    let minimumInterval = try #require(interval.duration).inSeconds
    var generator = SplitMix64(seed: UInt64(minimumInterval))
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
        real += .random(in: 0...minimumInterval / 3, using: &generator)
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
            at: FetchInstant(date: monday + real + wall, uptime: real - booted, boot: "\(boot)"))
        default: break
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
          scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
        }
        let now = FetchInstant(date: monday + real + wall, uptime: real - booted, boot: "\(boot)")
        guard scheduler.decision(at: now).isWake else {
          let since = max(last ?? 0, resumed)
          // The decision is requested only at intervals, so it may be late by one interval.
          #expect(
            real - since <= max(minimumInterval, FetchScheduler.maximumGap.inSeconds) + minimumInterval / 3 + 900,
            "round \(round)")
          continue
        }
        if let last, !isMisled || scheduler.lastWake?.boot == now.boot { #expect(real - last >= minimumInterval) }
        last = real
        isMisled = false
        scheduler.wakeStarted(at: now)
        scheduler.record(noData, at: now)
        #expect(!scheduler.decision(at: now).isWake, "a wake is not repeated")
      }
      #expect(last != nil)
    }
  }
}
