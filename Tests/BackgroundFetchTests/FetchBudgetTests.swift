import BackgroundFetch
import TestTime
import Foundation
import Testing

@Suite("Budget")
struct FetchBudgetTests {
  /// Runs a fetch that ignores its cancellation until the test is over, and notes the uptime of what happens to it.
  struct Endless {
    let events = Journal<String>()
    let budgets = Journal<FetchBudget>()
    let gate = Gate()
    let task: Task<FetchOutcome, Never>

    init(_ wake: Wake, since moment: FetchMoment? = nil) async throws {
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
      try await eventually("the fetch has begun") { gate.waiting == 1 }
    }

    /// Waits until the handler has been called and the timer sleeps again.
    func warned(_ wake: Wake, at second: Int = 25) async throws {
      try await wake.sleeps(5, others: 1)
      try await eventually("the handler is called") { events.entries == ["warned at \(second)"] }
    }

    var remaining: Duration? { budgets.entries[0].timeRemaining }
  }

  @Test("the expiration handler is called at 25 s and the fetch has failed at 30 s, even if it ignores that")
  func expiry() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    try await wake.sleeps(25)
    #expect(fetch.remaining == .seconds(30))
    wake.clock.advance(by: 24)
    #expect(fetch.remaining == .seconds(6))
    #expect(wake.clock.sleeping.contains(1), "nothing is due before 25 s")
    wake.clock.advance(by: 1)
    try await fetch.warned(wake)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome == FetchOutcome(result: .failed, ending: .expired, hasJoined: false, duration: .seconds(30)))
    #expect(fetch.events.entries == ["warned at 25", "expired at 30"])
    #expect(fetch.remaining == .zero)
    #expect(!wake.fetcher.isIdle, "it is still at work")
    fetch.gate.open()
    try await eventually("it has ended") { wake.fetcher.isIdle }
    #expect(wake.log.entries.last == "a fetch that had been given up has ended: newData")
  }

  @Test("a fetch that heeds its cancellation is cancelled at 30 s, not before")
  func cancelled() async throws {
    let wake = Wake()
    let task = Task {
      await wake.fetcher.perform(reason: .push) { _ in
        try await wake.clock.sleep(for: .seconds(1_000))
        return .newData
      }
    }
    try await wake.sleeps(1_000)
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5, others: 1)
    #expect(wake.clock.sleeping.contains(975))
    wake.clock.advance(by: 5)
    let outcome = await task.value
    #expect(outcome.ending == .expired)
    try await eventually("it is gone, and its timer too") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("a wake in the past leaves less", arguments: [1.0, 12, 26])
  func earlierWake(seconds: Double) async throws {
    let wake = Wake()
    let moment = wake.clock.now
    wake.clock.advance(by: seconds)
    let fetch = try await Endless(wake, since: moment)
    #expect(fetch.remaining == .seconds(30 - seconds))
    try await wake.sleeps(seconds < 25 ? 25 - seconds : 30 - seconds, others: seconds < 25 ? 0 : 1)
    wake.clock.advance(by: 30 - seconds)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    #expect(outcome.duration == .seconds(30))
    fetch.gate.open()
  }

  @Test("a wake that is 30 s old begins nothing")
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
  }

  @Test("a wake in the future gives no more than 30 s")
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
    try await wake.sleeps(25)
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

  @Test("a handler that comes after the warning is called at once, one that comes after the end is not")
  func lateHandlers() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    let late = Journal<String>()
    let budget = fetch.budgets.entries[0]
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5, others: 1)
    budget.onExpiration { late.append("after the warning") }
    try await eventually("it is called") { late.entries == ["after the warning"] }
    wake.clock.advance(by: 5)
    _ = await fetch.task.value
    budget.onExpiration { late.append("after the end") }
    fetch.gate.open()
    try await eventually("it has ended") { wake.fetcher.isIdle }
    #expect(late.entries == ["after the warning"])
  }

  @Test("a handler that blocks puts nothing off")
  func blockingHandler() async throws {
    let wake = Wake()
    let release = DispatchSemaphore(value: 0)
    let fetch = try await Endless(wake)
    fetch.budgets.entries[0].onExpiration { release.wait() }
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5, others: 1)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    release.signal()
    fetch.gate.open()
  }

  @Test("a fetch that ends in time is not warned, and leaves no timer")
  func inTime() async throws {
    let wake = Wake()
    let fetch = try await Endless(wake)
    try await wake.sleeps(25)
    wake.clock.advance(by: 20)
    fetch.gate.open()
    let outcome = await fetch.task.value
    #expect(outcome == FetchOutcome(result: .newData, ending: .finished, hasJoined: false, duration: .seconds(20)))
    try await eventually("nobody sleeps") { wake.clock.sleeping.isEmpty }
    wake.clock.advance(by: 100)
    #expect(fetch.events.entries == ["finished at 20"])
  }
}

@Suite("Budget and foreground")
struct ForegroundBudgetTests {
  @Test("coming to the foreground ends the budget; the fetch goes on, and its caller is told once")
  func foreground() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.sleeps(25)
    wake.clock.advance(by: 24)
    await wake.application.enterForeground()
    #expect(fetch.remaining == nil)
    try await eventually("its timers are gone") { wake.clock.sleeping.isEmpty }
    wake.clock.advance(by: 10_000)
    fetch.gate.open()
    let outcome = await fetch.task.value
    #expect(outcome.ending == .finished)
    #expect(fetch.events.entries == ["finished at 10024"])
  }

  @Test("a timer that has run out as the application comes to the foreground ends nothing any more")
  func lateTimer() async throws {
    let clock = LateClock()
    let application = Application(launchReason: .fetch, clock: clock)
    let fetcher = BackgroundFetcher(application: application)
    let (gate, warnings) = (Gate(), Journal<Void>())
    let task = Task {
      await fetcher.perform(reason: .scheduled) { budget in
        budget.onExpiration { warnings.append(()) }
        await gate.pass()
        return .newData
      }
    }
    // That of the fetch and that of its background task.
    try await eventually("the timers run") { clock.manual.sleeping == [25, 30] && gate.waiting == 1 }
    clock.manual.advance(by: 30)
    try await eventually("they have run out") { clock.gate.waiting == 2 }
    await application.enterForeground()
    clock.gate.open()
    try await eventually("they are over") { clock.returned.entries.count == 2 }
    for _ in 0..<100 { await Task.yield() }
    gate.open()
    let outcome = await task.value
    #expect(outcome.ending == .finished)
    #expect(warnings.entries.isEmpty)
  }

  @Test("leaving the foreground gives a fetch 30 s from then")
  func background() async throws {
    let wake = Wake(launchReason: .user)
    await wake.application.launch()
    let fetch = try await FetchBudgetTests.Endless(wake)
    #expect(fetch.remaining == nil)
    wake.clock.advance(by: 100)
    await wake.application.enterBackground()
    #expect(fetch.remaining == .seconds(30))
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake, at: 125)
    wake.clock.advance(by: 5)
    let outcome = await fetch.task.value
    #expect(outcome.ending == .expired)
    try await eventually("all was told") { fetch.events.entries == ["warned at 125", "expired at 130"] }
    fetch.gate.open()
  }

  @Test("a handler that comes in the foreground is called before the next end, not at once")
  func handlerInForeground() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake)
    await wake.application.enterForeground()
    let times = Journal<Double>()
    let start = wake.clock.now.uptime
    fetch.budgets.entries[0].onExpiration { times.append(wake.clock.now.uptime - start) }
    wake.clock.advance(by: 100)
    await wake.application.enterBackground()
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await eventually("it is called") { times.entries == [125] }
    fetch.gate.open()
    _ = await fetch.task.value
  }

  @Test("a fetch is warned once, however often the foreground comes and goes")
  func warnedOnce() async throws {
    let wake = Wake()
    let fetch = try await FetchBudgetTests.Endless(wake)
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await fetch.warned(wake)
    await wake.application.enterForeground()
    await wake.application.enterBackground()
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5, others: 1)
    wake.clock.advance(by: 5)
    _ = await fetch.task.value
    #expect(fetch.events.entries == ["warned at 25", "expired at 55"])
    fetch.gate.open()
  }
}

/// Sleeps until it is time and a gate is open, cancelled or not.
private final class LateClock: FetchClock {
  let manual = ManualClock()
  let gate = Gate()
  let returned = Journal<Void>()

  var now: FetchMoment { manual.now }

  func sleep(for duration: Duration) async throws {
    try await manual.sleep(for: duration)
    await gate.pass()
    returned.append(())
  }
}
