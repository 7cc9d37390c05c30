import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite("Fetch budget")
struct FetchBudgetTests {
  /// A fetch that ignores cancellation until the test ends, and a log of its events with the seconds since its start.
  struct Endless {
    let events = Journal<String>()
    let budgets = Journal<FetchBudget>()
    let gate = Gate()
    let task: Task<FetchOutcome, Never>

    init(_ wake: Wake, since moment: FetchInstant? = nil) async throws {
      let start = moment ?? wake.clock.now
      let (events, budgets, gate) = (events, budgets, gate)
      task = Task {
        let outcome = await wake.fetcher.perform(reason: .scheduled, wake: moment) { budget in
          budget.onExpiration { events.append("warned at \(Int(wake.clock.now.uptime - start.uptime))") }
          budgets.append(budget)
          await gate.pass()
          return .newData
        }
        events.append("\(outcome.ending) at \(Int(wake.clock.now.uptime - start.uptime))")
        return outcome
      }
      try await eventually("the fetch has started") { gate.waiting == 1 }
    }

    /// Waits until the expiration handler has been called and the timer sleeps again.
    func warned(_ wake: Wake, at second: Int = 25) async throws {
      try await wake.waitForTimer(5)
      try await eventually("the handler is called") { events.entries == ["warned at \(second)"] }
    }

    var remaining: Duration? { budgets.entries[0].timeRemaining }
  }

  @Test("the expiration handler is called at 25 s and the fetch fails at 30 s, even if it ignores cancellation")
  func expiry() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    try await wake.waitForTimer(25)
    #expect(fetch.remaining == .seconds(30))
    wake.clock.advance(by: 24)
    #expect(fetch.remaining == .seconds(6))
    #expect(wake.clock.sleeping.contains(1), "no timer is due before 25 s")
    wake.clock.advance(by: 1)
    try await fetch.warned(wake)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome == FetchOutcome(result: .failed, ending: .expired, hasJoined: false, duration: .seconds(30)))
    #expect(fetch.events.entries == ["warned at 25", "expired at 30"])
    #expect(fetch.remaining == .zero)
    #expect(!wake.fetcher.isIdle, "the fetch is still running")
    fetch.gate.open()
    try await eventually("the fetch has ended") { wake.fetcher.isIdle }
    #expect(
      wake.log.entries == ["an abandoned fetch has ended: newData"], "exactly one timer has ended the fetch")
  }

  @Test("suspension follows the result of an expiring fetch")
  func suspension() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    let suspended = Task {
      let outcome = await wake.application.suspend()
      fetch.events.append("\(outcome)")
    }
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake)
    wake.clock.advance(by: 5)
    await suspended.value
    _ = await fetch.task.value
    #expect(Set(fetch.events.entries.dropFirst()) == ["expired at 30", "suspended"])
    #expect(wake.log.entries.isEmpty)
    fetch.gate.open()
  }

  /// Runs in a process of its own, because an access to the released budget would end the process.
  @Test("a handler that runs when the fetch ends may use the budget; later handlers are not called")
  func lateHandler() async throws {
    await #expect(processExitsWith: .success) {
      let (wake, release, called) = (Wake(), DispatchSemaphore(value: 0), Journal<Duration?>())
      let task = Task {
        await wake.fetcher.perform(reason: .scheduled) { budget in
          budget.onExpiration { [unowned budget] in
            release.wait()
            called.append(budget.timeRemaining)
          }
          budget.onExpiration { [unowned budget] in called.append(budget.timeRemaining) }
          try await wake.clock.sleep(for: .seconds(28))
          return .newData
        }
      }
      try await eventually("the timers sleep") { wake.clock.sleeping == [25, 28] }
      wake.clock.advance(by: 25)
      try await eventually("the handlers are called") { wake.clock.sleeping == [3, 5] }
      wake.clock.advance(by: 3)
      let outcome = await task.value
      #expect(outcome.result == .newData)
      try await eventually("the fetch is over") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
      release.signal()
      try await eventually("the first handler has returned") { !called.entries.isEmpty }
      for _ in 0..<100 { await Task.yield() }
      #expect(called.entries.count == 1)
    }
  }

  @Test("a fetch that responds to cancellation is cancelled at 30 s, not before")
  func cancelled() async throws {
    let wake = Wake()
    let task = Task {
      await wake.fetcher.perform(reason: .push) { _ in
        try await wake.clock.sleep(for: .seconds(1_000))
        return .newData
      }
    }
    try await wake.waitForTimer(1_000)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    #expect(wake.clock.sleeping.contains(975))
    wake.clock.advance(by: 5)
    let outcome = await task.value
    #expect(outcome.ending == .expired)
    try await eventually("the fetch and its timer have ended") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("a wake in the past leaves less time", arguments: [1.0, 12, 26])
  func earlierWake(seconds: Double) async throws {
    let wake = Wake()
    let moment = wake.clock.now
    wake.clock.advance(by: seconds)
    let fetch = try await Endless(wake, since: moment)
    #expect(fetch.remaining == .seconds(30 - seconds))
    try await wake.waitForTimer(seconds < 25 ? 25 - seconds : 30 - seconds)
    wake.clock.advance(by: 30 - seconds)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    #expect(outcome.duration == .seconds(30))
    fetch.gate.open()
  }

  @Test("a wake that is 30 s old starts no fetch in the background")
  func lateWake() async {
    let wake = Wake()
    let moment = wake.clock.now
    wake.clock.advance(by: 30)
    let outcome = await wake.fetcher.perform(reason: .scheduled, wake: moment) { _ in
      Issue.record("it was begun")
      return .newData
    }
    #expect(outcome == FetchOutcome(result: .failed, ending: .expired, hasJoined: false, duration: .seconds(30)))
    #expect(wake.fetcher.isIdle)
    await wake.application.enterForeground()
    let visible = await wake.fetcher.perform(reason: .push, wake: moment) { _ in .newData }
    #expect(visible.result == .newData, "the user of a visible app waits for it")
  }

  @Test("a wake in the future leaves no more than 30 s")
  func futureWake() async throws {
    let wake = Wake()
    var moment = wake.clock.now
    moment.uptime += 100
    let fetch = try await Endless(wake, since: moment)
    #expect(fetch.remaining == .seconds(30))
    fetch.gate.open()
    let outcome = await fetch.task.value
    #expect(outcome.result == .newData)
  }

  @Test("setting the time of day changes nothing", arguments: [-86_400.0, -20, 20, 86_400])
  func jumps(seconds: Double) async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 10)
    wake.clock.setDate(by: seconds)
    #expect(fetch.remaining == .seconds(20))
    wake.clock.advance(by: 15)
    try await fetch.warned(wake)
    wake.clock.setDate(by: -seconds)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome.duration == .seconds(30))
    #expect(fetch.events.entries == ["warned at 25", "expired at 30"])
    fetch.gate.open()
  }

  @Test("a handler registered after the warning is called at once, one registered after the end is not called")
  func lateHandlers() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    let late = Journal<String>()
    let budget = fetch.budgets.entries[0]
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    budget.onExpiration { late.append("after the warning") }
    try await eventually("the handler is called") { late.entries == ["after the warning"] }
    wake.clock.advance(by: 5)
    _ = await fetch.task.value
    budget.onExpiration { late.append("after the end") }
    fetch.gate.open()
    try await eventually("the fetch has ended") { wake.fetcher.isIdle }
    #expect(late.entries == ["after the warning"])
  }

  @Test("a handler that blocks delays nothing")
  func blockingHandler() async throws {
    let wake = Wake()
    let release = DispatchSemaphore(value: 0)
    let fetch = try await Endless(wake)
    fetch.budgets.entries[0].onExpiration { release.wait() }
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    release.signal()
    fetch.gate.open()
  }

  @Test("a fetch that ends in time gets no warning, and leaves no timer")
  func inTime() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 20)
    fetch.gate.open()
    let outcome = await fetch.task.value
    #expect(outcome == FetchOutcome(result: .newData, ending: .finished, hasJoined: false, duration: .seconds(20)))
    try await eventually("no timer is left") { wake.clock.sleeping.isEmpty }
    wake.clock.advance(by: 100)
    #expect(fetch.events.entries == ["finished at 20"])
  }
}
