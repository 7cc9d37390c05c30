import BackgroundFetch
import TestKit
import Testing

@Suite("Background tasks")
struct BackgroundTasksTests {
  let clock = ManualClock()
  let log = Journal<String>()
  let expired = Journal<String>()
  let application: ApplicationLifecycle
  var tasks: BackgroundTasks { application.backgroundTasks }

  init() async {
    application = ApplicationLifecycle(launchReason: .user, clock: clock, log: log.append)
    await application.launch()
  }

  @Test("tasks have no limit in the foreground, and 30 s after leaving it")
  func timeLimit() async throws {
    let task = tasks.begin("a") { expired.append("a") }
    clock.advance(by: 1_000)
    #expect(tasks.timeRemaining == nil)
    await application.enterBackground()
    #expect(tasks.timeRemaining == .seconds(30))
    try await eventually("the time limit runs") { clock.sleeping == [30] }
    clock.advance(by: 12)
    #expect(tasks.timeRemaining == .seconds(18))
    await application.enterForeground()
    #expect(tasks.timeRemaining == nil)
    try await eventually("there is no timer") { clock.sleeping.isEmpty }
    clock.advance(by: 1_000)
    tasks.end(task)
    #expect(expired.entries.isEmpty)
    #expect(log.entries.isEmpty)
  }

  @Test("expiry calls each handler once, in the order of the tasks, except handlers of ended tasks")
  func expiry() async throws {
    let ended = tasks.begin("ended") { expired.append("ended") }
    _ = tasks.begin("a") { expired.append("a") }
    _ = tasks.begin("silent")
    _ = tasks.begin("b") { expired.append("b") }
    tasks.end(ended)
    await application.enterBackground()
    try await eventually("the time limit runs") { clock.sleeping == [30] }
    clock.advance(by: 29)
    #expect(clock.sleeping == [1])
    clock.advance(by: 1)
    try await eventually("all tasks have expired") { log.entries.count == 3 && expired.entries == ["a", "b"] }
    #expect(
      log.entries == [
        "background task 2 (a) has expired", "background task 3 (silent) has expired",
        "background task 4 (b) has expired",
      ])
    await application.enterForeground()
    await application.enterBackground()
    clock.advance(by: 100)
    #expect(clock.sleeping.isEmpty, "no task is left")
    #expect(expired.entries.count == 2)
  }

  @Test("a handler may end its task; ending it again is logged")
  func endingWithin() async throws {
    let ids = Journal<BackgroundTasks.ID>()
    let tasks = tasks
    ids.append(
      tasks.begin("a") {
        tasks.end(ids.entries[0])
        expired.append("a")
      })
    await application.enterBackground()
    try await eventually("the time limit runs") { clock.sleeping == [30] }
    clock.advance(by: 30)
    try await eventually("the task has expired") { expired.entries == ["a"] }
    #expect(log.entries == ["background task 1 (a) has expired"])
    tasks.end(ids.entries[0])
    #expect(log.entries.last == "background task 1 has already ended")
  }

  @Test("ending a task twice is logged and does nothing")
  func endingTwice() {
    let first = tasks.begin("a")
    let second = tasks.begin("b") { expired.append("b") }
    tasks.end(first)
    tasks.end(first)
    #expect(log.entries == ["background task 1 has already ended"])
    tasks.end(second)
    #expect(log.entries.count == 1)
  }

  @Test("a task that begins after the time limit expires at once")
  func tooLate() async throws {
    await application.enterBackground()
    clock.advance(by: 31)
    #expect(tasks.timeRemaining == .zero)
    _ = tasks.begin("late") { expired.append("late") }
    try await eventually("the task has expired") { expired.entries == ["late"] }
  }

  @Test("the end of the last task ends the timer and releases the handlers")
  func nothingLeaks() async throws {
    weak var held: Gate?
    await application.enterBackground()
    do {
      let gate = Gate()
      held = gate
      let task = tasks.begin("a") { [gate] in gate.open() }
      try await eventually("the time limit runs") { clock.sleeping == [30] }
      tasks.end(task)
    }
    try await eventually("there is no timer") { clock.sleeping.isEmpty }
    #expect(held == nil)
  }

  @Test("a wake starts a new time limit")
  func wake() async throws {
    await application.enterBackground()
    clock.advance(by: 1_000)
    let fetcher = BackgroundFetcher(application: application)
    let outcome = await fetcher.perform(reason: .scheduled) { budget in
      #expect(budget.timeRemaining == .seconds(30))
      return .noData
    }
    #expect(outcome.result == .noData)
    #expect(tasks.timeRemaining == .seconds(30))
    clock.advance(by: 10)
    var earlier = clock.now
    earlier.uptime -= 15
    _ = await fetcher.perform(reason: .scheduled, wake: earlier) { _ in .noData }
    #expect(tasks.timeRemaining == .seconds(20), "a wake that began before shortens no limit")
    #expect(log.entries.isEmpty)
  }
}
