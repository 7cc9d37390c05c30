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
    #expect(decision.reason.description == "there is no network")
  }

  @Test func `Does not count: the minimum interval starts at the wake before it`() {
    var scheduler = scheduler(.seconds(7200))
    scheduler.wakeStarted(at: moment(0))
    scheduler.record(run(.newData), at: moment(1))
    let start = wake(scheduler, after: 1)
    #expect(start >= 7200)
    scheduler.wakeStarted(at: moment(start))
    scheduler.record(run(.failed, isOffline: true), at: moment(start + 5))
    #expect(scheduler.failures == 0)
    #expect(scheduler.lastWake == moment(0))
    let next = wake(scheduler, after: start + 5)
    #expect(next - start <= 200, "the first retry follows within two minutes")
    scheduler.wakeStarted(at: moment(next))
    scheduler.record(run(.newData), at: moment(next + 5))
    #expect(wake(scheduler, after: next + 5) >= next + 7200)
  }

  @Test func `Is repeated at growing intervals of up to 15 minutes`() throws {
    var scheduler = scheduler(.seconds(7200))
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<6 {
      scheduler.wakeStarted(at: moment(now))
      scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
      scheduler.record(run(.failed, isOffline: true), at: moment(now))
      scheduler = try JSONDecoder().decode(FetchScheduler.self, from: JSONEncoder().encode(scheduler))
      scheduler.timeZone = .gmt
      #expect(scheduler.decision(at: moment(now + 60)).reason == .offline)
      let next = wake(scheduler, after: now)
      waits.append(next - now)
      now = next
    }
    #expect(waits == [120, 240, 480, 900, 900, 900])
  }

  @Test func `Changes nothing if it was manual`() {
    var scheduler = scheduler(.seconds(7200))
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

  /// Returns the time of the next wake.
  private func wake(_ scheduler: FetchScheduler, after start: Double) -> Double {
    var now = start
    while let until = scheduler.decision(at: moment(now)).until { now = max(now + 1, until.timeIntervalSince(monday)) }
    return now
  }
}

@Suite struct `A push over the rate limit` {
  @Test func `Is pending until the limit allows a wake`() {
    var scheduler = scheduler(.seconds(86_400))
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
      var scheduler = scheduler(.seconds(86_400))
      let isWake = scheduler.receivePush(at: moment(0))
      #expect(isWake)
      scheduler.wakeStarted(.push, at: moment(0))
      if obstacle == 0 { scheduler.hold(seconds: 5000, at: moment(1)) }
      scheduler.record(
        RunRecord(reason: .push, result: .failed, started: monday, isOffline: obstacle == 2), at: moment(1))
      // The content that a failed push announced is still missing.
      #expect(!scheduler.decision(at: moment(60)).isWake)
      let expected = [5001.0, 901, 121][obstacle]
      #expect(scheduler.decision(at: moment(expected)) == .wake(.push, sources: []))
    }
  }

  @Test func `Is dropped if the interval is never`() {
    var scheduler = scheduler(.never)
    for second in 0..<5 { _ = scheduler.receivePush(at: moment(Double(second))) }
    #expect(scheduler.decision(at: moment(day)) == .wait(until: .distantFuture, .never))
  }
}
