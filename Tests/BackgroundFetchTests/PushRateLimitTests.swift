import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `The rate limit of pushes` {
  @Test func `Three pushes in an hour wake the app, the others share one later wake`() {
    var budget = PushRateLimit()
    #expect(budget.delay(at: moment(0)) == nil)
    let answers = (0..<10).map { budget.receive(at: moment(Double($0))) }
    #expect(answers == [true, true, true] + Array(repeating: false, count: 7))
    #expect(budget.delay(at: moment(60)) == .seconds(3540))
    let later = [3599.0, 3600, 3700].map { budget.takePending(at: moment($0)) }
    #expect(later == [false, true, false], "all pending pushes shared one wake")
    let next = budget.receive(at: moment(3700))
    #expect(next)
  }

  @Test func `No hour has more than three wakes, whatever the pushes and clock changes`() throws {
    var generator = SplitMix64(seed: 25)
    for _ in 0..<50 {
      var budget = PushRateLimit()
      var uptime = 0.0
      var wakes: [Double] = []
      for _ in 0..<300 {
        uptime += .random(in: 0...1500, using: &generator)
        let date = monday + .random(in: -1e6...1e6, using: &generator)
        let now = FetchInstant(date: date, uptime: uptime, boot: "first")
        let isPush = Bool.random(using: &generator)
        if isPush ? budget.receive(at: now) : budget.takePending(at: now) { wakes.append(uptime) }
        let data = try JSONEncoder().encode(budget)
        budget = try JSONDecoder().decode(PushRateLimit.self, from: data)
      }
      #expect(wakes.count > 30)
      #expect(zip(wakes, wakes.dropFirst(3)).allSatisfy { $1 - $0 >= 3600 })
    }
  }

  @Test func `A successful fetch and signing out drop the pending push`() {
    var one = scheduler()
    for second in 0..<4 { _ = one.receivePush(at: moment(Double(second))) }
    #expect(one.pushDelay(at: moment(4)) == .seconds(3596))
    var other = one
    other.record(RunRecord(reason: .launch, result: .noData, started: monday + 5), at: moment(5))
    #expect(other.pushDelay(at: moment(6)) == nil)
    one.signOut()
    #expect(one.pushDelay(at: moment(6)) == nil)
  }

  @Test func `A push during a hold does not wake the app`() {
    var scheduler = scheduler()
    scheduler.hold(for: .seconds(600), at: moment(0))
    let isWake = scheduler.receivePush(at: moment(1))
    #expect(!isWake)
    #expect(scheduler.pushDelay(at: moment(1)) == .seconds(599))
    let later = [599.0, 600].map { scheduler.takePendingPush(at: moment($0)) }
    #expect(later == [false, true])
  }

  @Test func `A push whose run is never recorded is pending again after 90 seconds, and counts as a wake`() {
    var scheduler = scheduler(.duration(.seconds(86_400)))
    for second in 0..<3 {
      let isWake = scheduler.receivePush(at: moment(Double(second)))
      #expect(isWake)
      scheduler.wakeStarted(.push, at: moment(Double(second)))
      if second < 2 { scheduler.record(RunRecord(reason: .push, result: .noData, started: monday), at: moment(2)) }
    }
    #expect(scheduler.pushDelay(at: moment(50)) == .seconds(3550))
    let taken = scheduler.takePendingPush(at: moment(91))
    #expect(!taken, "the killed one was the third of this hour")
    #expect(scheduler.decision(at: moment(3600)) == .wake(.push, sources: []))
    var other = scheduler
    other.record(RunRecord(reason: .manual, result: .noData, started: monday + 100), at: moment(100))
    #expect(other.pushDelay(at: moment(101)) == nil, "the news were fetched for another reason")
    scheduler.signOut()
    #expect(scheduler.pushDelay(at: moment(4000)) == nil)
  }

  @Test func `A scheduled wake after a killed push makes up for it, and does not lose it by failing`() {
    var scheduler = scheduler(.duration(.seconds(86_400)))
    _ = scheduler.receivePush(at: moment(0))
    scheduler.wakeStarted(.push, at: moment(0))
    scheduler.wakeStarted(.scheduled, at: moment(30))
    #expect(scheduler.pushDelay(at: moment(50)) == .seconds(70), "this process may be killed too")
    var other = scheduler
    scheduler.record(RunRecord(reason: .scheduled, result: .failed, started: monday + 30), at: moment(31))
    #expect(scheduler.pushDelay(at: moment(2000)) == .zero)
    other.record(RunRecord(reason: .manual, result: .noData, started: monday + 40), at: moment(41))
    other.record(RunRecord(reason: .scheduled, result: .failed, started: monday + 30), at: moment(42))
    #expect(other.pushDelay(at: moment(2000)) == nil, "the news were fetched for another reason")
  }

  @Test func `A state of an earlier version keeps the push whose run is not recorded`() throws {
    var scheduler = scheduler(.duration(.seconds(86_400)))
    _ = scheduler.receivePush(at: moment(0))
    scheduler.wakeStarted(.push, at: moment(0))
    var stored = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(scheduler)) as? [String: Any])
    stored["openWake"] = ["reason": "push"]
    let data = try JSONSerialization.data(withJSONObject: stored)
    #expect(try JSONDecoder().decode(FetchScheduler.self, from: data).pushDelay(at: moment(90)) == .zero)
    stored["openWake"] = ["reason": "scheduled"]
    let other = try JSONSerialization.data(withJSONObject: stored)
    #expect(try JSONDecoder().decode(FetchScheduler.self, from: other).pushDelay(at: moment(90)) == nil)
  }

  @Test func `A wake that is recorded twice can be undone without a network`() {
    var scheduler = scheduler(.duration(.seconds(86_400)))
    _ = scheduler.receivePush(at: moment(0))
    for _ in 0..<2 { scheduler.wakeStarted(.push, at: moment(0)) }
    scheduler.record(RunRecord(reason: .push, result: .failed, started: monday, isOffline: true), at: moment(1))
    #expect(scheduler.lastWake == nil)
    #expect(scheduler.pushDelay(at: moment(1)) == .seconds(120))
  }
}
