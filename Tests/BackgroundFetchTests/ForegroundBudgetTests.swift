import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite("Fetch budget and foreground")
struct ForegroundBudgetTests {
  @Test(
    "entering the foreground removes the budget; the fetch continues until its timeout, and its caller gets one result")
  func foreground() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 24)
    await wake.application.enterForeground()
    #expect(fetch.remaining == nil)
    try await eventually("only the timer of the timeout is left") { wake.clock.sleeping == [60] }
    wake.clock.advance(by: 59)
    fetch.gate.open()
    let outcome = await fetch.task.value
    #expect(outcome.ending == .finished)
    #expect(fetch.events.entries == ["finished at 83"])
  }

  @Test("a timer that fires while the application enters the foreground does not end the fetch")
  func lateTimer() async throws {
    let clock = LateClock()
    let application = ApplicationLifecycle(launchReason: .fetch, clock: clock)
    let fetcher = BackgroundFetcher(application: application)
    let (gate, warnings) = (Gate(), Journal<Void>())
    let task = Task {
      await fetcher.perform(reason: .scheduled) { budget in
        budget.onExpiration { warnings.append(()) }
        await gate.pass()
        return .newData
      }
    }
    try await eventually("the timer runs") { clock.manual.sleeping == [25] && gate.waiting == 1 }
    clock.manual.advance(by: 30)
    try await eventually("the timer has fired") { clock.gate.waiting == 1 }
    await application.enterForeground()
    clock.gate.open()
    try await eventually("the sleep has returned") { clock.returned.entries.count == 1 }
    for _ in 0..<100 { await Task.yield() }
    gate.open()
    let outcome = await task.value
    #expect(outcome.ending == .finished)
    #expect(warnings.entries.isEmpty)
  }

  @Test("a fetch has 30 s after the application leaves the foreground")
  func background() async throws {
    let wake = Wake(launchReason: .user)
    await wake.application.launch()
    let fetch = try await FetchBudgetTests.Endless(wake)
    #expect(fetch.remaining == nil)
    wake.clock.advance(by: 20)
    await wake.application.enterBackground()
    #expect(fetch.remaining == .seconds(30))
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake, at: 45)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    try await eventually("the warning and the expiry are recorded") {
      fetch.events.entries == ["warned at 45", "expired at 50"]
    }
    fetch.gate.open()
  }

  @Test("after the application leaves the foreground, a fetch has no more than the rest of its timeout")
  func backgroundLate() async throws {
    let wake = Wake(launchReason: .user)
    await wake.application.launch()
    let fetch = try await FetchBudgetTests.Endless(wake)
    wake.clock.advance(by: 45)
    await wake.application.enterBackground()
    #expect(fetch.remaining == .seconds(15))
    try await wake.waitForTimer(10)
    wake.clock.advance(by: 15)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    #expect(outcome.duration == .seconds(60))
    fetch.gate.open()
  }

  @Test("in the foreground, a fetch that hangs ends after its timeout for all callers")
  func foregroundTimeout() async throws {
    let wake = Wake(launchReason: .user, foregroundTimeout: .seconds(7))
    await wake.application.launch()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.waitForTimer(7)
    wake.clock.advance(by: 4)
    let joined = Task { await wake.fetcher.perform(reason: .manual) { _ in .noData } }
    try await eventually("the caller has joined") { wake.fetcher.waitingCallers == 2 }
    wake.clock.advance(by: 2)
    #expect(wake.fetcher.waitingCallers == 2, "the timeout is not over")
    try await wake.waitForTimer(1)
    wake.clock.advance(by: 1)
    let outcomes = [await fetch.task.value, await joined.value]
    #expect(outcomes.map(\.ending) == [.expired, .expired])
    #expect(outcomes.map(\.duration) == [.seconds(7), .seconds(3)])
    #expect(fetch.events.entries == ["expired at 7"])
    fetch.gate.open()
    try await eventually("the fetcher is idle") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("the default timeout in the foreground is a minute")
  func defaultTimeout() async throws {
    let wake = Wake(launchReason: .user)
    await wake.application.launch()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.waitForTimer(60)
    wake.clock.advance(by: 60)
    #expect(await fetch.task.value.ending == .expired)
    fetch.gate.open()
  }

  @Test("a handler registered in the foreground is called before the next end, not at once")
  func handlerInForeground() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake)
    await wake.application.enterForeground()
    let times = Journal<Double>()
    let start = wake.clock.now.uptime
    fetch.budgets.entries[0].onExpiration { times.append(wake.clock.now.uptime - start) }
    wake.clock.advance(by: 20)
    await wake.application.enterBackground()
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await eventually("the handler is called") { times.entries == [45] }
    fetch.gate.open()
    _ = await fetch.task.value
  }

  @Test("the warning comes once, however often the application enters and leaves the foreground")
  func warnedOnce() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake)
    await wake.application.enterForeground()
    await wake.application.enterBackground()
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    wake.clock.advance(by: 5)
    _ = await fetch.task.value
    #expect(fetch.events.entries == ["warned at 25", "expired at 55"])
    fetch.gate.open()
  }
}

/// A clock that sleeps until the time has passed and a gate is open, even if the task is cancelled.
private final class LateClock: FetchClock {
  let manual = ManualClock()
  let gate = Gate()
  let returned = Journal<Void>()

  var now: FetchInstant { manual.now }

  func sleep(for duration: Duration) async throws {
    try await manual.sleep(for: duration)
    await gate.pass()
    returned.append(())
  }
}
