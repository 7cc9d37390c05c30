import BackgroundFetch
import Foundation
import Testing

@Suite struct `A wake without a network` {
  private func run(
    _ result: FetchResult, isOffline: Bool = false, reason: FetchReason = .scheduled
  ) -> RunRecord {
    RunRecord(reason: reason, result: result, started: monday, isOffline: isOffline)
  }

  @Test func `Does not start, and the schedule tries again soon`() {
    let scheduler = scheduler()
    #expect(scheduler.decision(at: moment(0)).isWake)
    let decision = scheduler.decision(at: moment(0), constraints: FetchConstraints(isOffline: true))
    #expect(decision == .wait(until: monday + 120, .offline))
    #expect(decision.reason?.description == "there is no network")
  }

  @Test func `Does not count: the minimum interval starts at the wake before it`() {
    var scheduler = scheduler(.duration(.seconds(7200)))
    scheduler.setSource("main", minimumInterval: .seconds(900))
    scheduler.wakeStarted(at: moment(0))
    scheduler.record(run(.newData), at: moment(1))
    let start = wake(scheduler, after: 1)
    #expect(start >= 7200)
    scheduler.wakeStarted(at: moment(start))
    scheduler.record(run(.failed, isOffline: true), at: moment(start + 5))
    #expect(scheduler.failures == 0)
    #expect(scheduler.lastWake == moment(0) && scheduler.sources.map(\.lastFetch) == [moment(1)])
    let next = wake(scheduler, after: start + 5)
    #expect(next - start <= 200, "the first retry follows within two minutes")
    scheduler.wakeStarted(at: moment(next))
    scheduler.record(run(.newData), at: moment(next + 5))
    #expect(wake(scheduler, after: next + 5) >= next + 7200)
  }

  @Test func `Is repeated at growing intervals of up to 15 minutes`() throws {
    var scheduler = scheduler(.duration(.seconds(7200)))
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<6 {
      scheduler.wakeStarted(at: moment(now))
      scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
      scheduler.record(run(.failed, isOffline: true), at: moment(now))
      scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
      scheduler.timeZone = .gmt
      #expect(scheduler.decision(at: moment(now + 60)).reason == .offline)
      #expect(scheduler.awaitsNetwork)
      let next = wake(scheduler, after: now)
      waits.append(next - now)
      now = next
    }
    #expect(waits == [120, 240, 480, 900, 900, 900])
    scheduler.reconnected(at: moment(now))
    #expect(!scheduler.awaitsNetwork)
  }

  @Test func `Changes nothing if it was manual`() {
    var scheduler = scheduler(.duration(.seconds(7200)))
    scheduler.wakeStarted(at: moment(0))
    scheduler.record(run(.noData), at: moment(1))
    scheduler.record(run(.failed, isOffline: true, reason: .manual), at: moment(2))
    #expect(scheduler.lastWake == moment(0))
    #expect(wake(scheduler, after: 2) >= 7200)
  }

  @Test func `Does not count towards the daily limit`() {
    var one = scheduler()
    _ = one.simulate(from: 0, to: 3 * day)
    var other = one
    let start = wake(one, after: 3 * day)
    for number in 0..<8 {
      other.wakeStarted(at: moment(start + Double(number)))
      other.record(run(.failed, isOffline: true), at: moment(start + Double(number)))
    }
    #expect(wake(other, after: start + 8) <= start + 8 + 900)
  }

  @Test
  func `Is made up for once the network is back, after the delay of the install, even if the schedule has no wake`()
    throws
  {
    var scheduler = scheduler()
    // The reader comes at 1 p.m. and 9 p.m., four hours after news. Other wakes are too dear for the battery.
    let constraints = FetchConstraints(isMetered: true, isLowPower: true)
    let openings = (0..<20).flatMap { day in [13, 21].map { Double(day) * 86_400 + $0 * hour } }
    var last = 0.0
    _ = scheduler.simulate(from: 0, to: 20 * day, openings: openings, constraints: constraints) { now in
      let dates = openings.map { $0 - 4 * hour }.filter { last < $0 && $0 <= now }.map { monday + $0 }
      last = now
      return (dates.isEmpty ? .noData : .newData, dates)
    }
    let wakeTime = try #require(
      stride(from: 20 * day + 9 * hour, to: 20 * day + 14 * hour, by: 60).first {
        scheduler.decision(at: moment($0), constraints: constraints).isWake
      })
    let lost = scheduler
    scheduler.wakeMissed()
    scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
    scheduler.timeZone = .gmt
    let offline = scheduler.decision(at: moment(wakeTime), constraints: FetchConstraints(isOffline: true))
    #expect(offline.reason == .offline)
    let back = try #require(
      stride(from: wakeTime + 1800, to: wakeTime + 6 * hour, by: 450).first {
        !lost.decision(at: moment($0), constraints: constraints).isWake
      }, "the schedule alone has times without a wake")
    scheduler.reconnected(at: moment(back))
    let delay = scheduler.decision(at: moment(back), constraints: constraints)
    #expect(delay.reason == .startupDelay)
    let due = try #require(delay.until).timeIntervalSince(monday)
    #expect(back...back + FetchScheduler.maximumStartupDelay.inSeconds ~= due)
    #expect(scheduler.decision(at: moment(due), constraints: constraints) == .wake(.missed, sources: []))
    scheduler.wakeStarted(at: moment(due))
    scheduler.record(run(.noData), at: moment(due))
    #expect(!scheduler.decision(at: moment(due + 1000), constraints: constraints).isWake)
  }

  @Test func `Is not made up for after another fetch has brought its news, or has failed with a network`() {
    for result in [FetchResult.newData, .noData, .failed] {
      var scheduler = scheduler(.duration(.seconds(7200)))
      scheduler.wakeMissed()
      scheduler.reconnected(at: moment(0))
      scheduler.wakeStarted(at: moment(400))
      scheduler.record(run(result), at: moment(401))
      #expect(scheduler.decision(at: moment(1000)).reason == .minimumInterval)
    }
  }

  /// Returns the time of the next wake.
  private func wake(_ scheduler: FetchScheduler, after start: Double) -> Double {
    var now = start
    while let until = scheduler.decision(at: moment(now)).until { now = max(now + 1, until.timeIntervalSince(monday)) }
    return now
  }
}

@Suite struct `A push over the rate limit` {
  @Test func `Is pending until the limit allows a wake`() {
    var scheduler = scheduler(.duration(.seconds(86_400)))
    scheduler.wakeStarted(at: moment(-60))
    for second in 0..<3 {
      let isWake = scheduler.receivePush(at: moment(Double(second)))
      #expect(isWake)
      scheduler.wakeStarted(.push, at: moment(Double(second)))
      scheduler.record(RunRecord(reason: .push, result: .newData, started: monday), at: moment(Double(second) + 0.5))
    }
    let isWake = scheduler.receivePush(at: moment(10))
    #expect(!isWake)
    #expect(scheduler.decision(at: moment(10)) == .wait(until: monday + 3600, .push))
    #expect(scheduler.decision(at: moment(3600)) == .wake(.push, sources: []))
    #expect(scheduler.decision(at: moment(3600), constraints: FetchConstraints(isOffline: true)).reason == .offline)
    let taken = scheduler.takePendingPush(at: moment(3600))
    #expect(taken)
    #expect(!scheduler.decision(at: moment(3600)).isWake, "one wake for all pending pushes")
  }

  @Test func `Waits for a hold, for the backoff and for the network`() {
    for obstacle in 0..<3 {
      var scheduler = scheduler(.duration(.seconds(86_400)))
      let isWake = scheduler.receivePush(at: moment(0))
      #expect(isWake)
      scheduler.wakeStarted(.push, at: moment(0))
      if obstacle == 0 { scheduler.hold(for: .seconds(5000), at: moment(1)) }
      scheduler.record(
        RunRecord(reason: .push, result: .failed, started: monday, isOffline: obstacle == 2), at: moment(1))
      // The content that a failed push announced is still missing.
      #expect(!scheduler.decision(at: moment(60)).isWake)
      let expected = [5001.0, 901, 121][obstacle]
      #expect(scheduler.decision(at: moment(expected)) == .wake(.push, sources: []))
      if obstacle < 2 { continue }
      // The network is back.
      scheduler.reconnected(at: moment(10))
      #expect(scheduler.pushDelay(at: moment(10)) ?? .zero > .zero, "the delay of the install")
    }
  }

  @Test func `Is dropped if the interval is never`() {
    var scheduler = scheduler(.never)
    for second in 0..<5 { _ = scheduler.receivePush(at: moment(Double(second))) }
    #expect(scheduler.decision(at: moment(day)) == .never)
  }
}
