import BackgroundFetch
import Dispatch
import TestKit
import Foundation
import Synchronization
import Testing

@Suite("Fetcher")
struct BackgroundFetcherTests {
  struct Offline: Error {}

  @Test("each result comes back by each of the forms", arguments: FetchResult.allCases)
  func forms(result: FetchResult) async throws {
    let wake = Wake()
    let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in result }
    #expect(outcome.result == result)
    #expect(outcome.ending == .finished)
    let results = Journal<FetchResult>()
    wake.fetcher.perform(reason: .scheduled, fetch: { _ in result }, completion: results.append)
    try await eventually("the handler is called") { results.entries == [result] && wake.fetcher.isIdle }
    wake.fetcher.perform(reason: .scheduled, fetch: { $1(result) }, completion: results.append)
    try await eventually("the handler is called") { results.entries == [result, result] && wake.fetcher.isIdle }
    #expect(wake.application.backgroundTasks.timeRemaining == .seconds(30))
    #expect(wake.log.entries.isEmpty)
  }

  @Test("a fetch that throws has failed, and why is logged")
  func throwing() async {
    let wake = Wake()
    let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in throw Offline() }
    #expect(outcome.result == .failed)
    #expect(outcome.ending == .finished)
    #expect(outcome.failure == "Offline()")
    #expect(outcome.report == nil)
    #expect(wake.log.entries == ["the fetch has failed: Offline()"])
  }

  @Test("a fetch by callback that calls twice, never or late: its caller is told once")
  func misuse() async throws {
    let wake = Wake()
    let results = Journal<FetchResult>()
    let twice: @Sendable (FetchBudget, FetchCompletion) -> Void = { _, completion in
      completion(.newData)
      completion(.failed)
    }
    wake.fetcher.perform(reason: .push, fetch: twice, completion: results.append)
    try await eventually("it has ended") { wake.fetcher.isIdle && results.entries == [.newData] }
    #expect(wake.log.entries == ["a completion was called again, with failed"])

    wake.fetcher.perform(reason: .push, fetch: { _, _ in }, completion: results.append)
    try await eventually("it has ended") { wake.fetcher.isIdle && results.entries == [.newData, .failed] }
    #expect(wake.log.entries.last == "a completion was dropped without a result")

    let kept = Journal<FetchCompletion>()
    wake.fetcher.perform(reason: .push, fetch: { kept.append($1) }, completion: results.append)
    try await eventually("it has begun") { !kept.entries.isEmpty }
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5)
    wake.clock.advance(by: 5)
    try await eventually("it has expired") { results.entries == [.newData, .failed, .failed] }
    kept.entries[0](.newData)
    try await eventually("it has ended") { wake.fetcher.isIdle }
    #expect(results.entries.count == 3)
    #expect(wake.log.entries.last == "a fetch that had been given up has ended: newData")
  }

  @Test("wakes during a fetch join it, a manual refresh and a wake alike", arguments: FetchReason.allCases)
  func joining(first: FetchReason) async throws {
    let wake = Wake()
    let gate = Gate()
    let begun = try await wake.begin(first, at: gate)
    let results = Journal<FetchResult>()
    for reason in FetchReason.allCases {
      wake.fetcher.perform(
        reason: reason,
        fetch: { _ in
          Issue.record("a second fetch has begun")
          return .noData
        }, completion: results.append)
    }
    wake.clock.advance(by: 3)
    gate.open()
    let outcome = await begun.value
    #expect(outcome == FetchOutcome(result: .newData, ending: .finished, hasJoined: false, duration: .seconds(3)))
    let expected = Array(repeating: FetchResult.newData, count: FetchReason.allCases.count)
    try await eventually("all are told") { results.entries == expected }
    try await eventually("it is at rest") { wake.fetcher.isIdle }
    let next = await wake.fetcher.perform(reason: .manual) { _ in .noData }
    #expect(next.result == .noData)
    #expect(!next.hasJoined)
  }

  @Test("whoever joins an expiring fetch gets its result at its end, not 30 s after their own wake")
  func joiningLate() async throws {
    let wake = Wake()
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    try await wake.sleeps(25)
    wake.clock.advance(by: 20)
    let second = Task { await wake.fetcher.perform(reason: .push) { _ in .newData } }
    try await eventually("it has joined") { wake.fetcher.waitingCallers == 2 && wake.clock.sleeping == [5] }
    wake.clock.advance(by: 5)
    try await eventually("the timer sleeps again") { wake.clock.sleeping == [5] }
    wake.clock.advance(by: 5)
    let outcomes = [await first.value, await second.value]
    #expect(outcomes.map(\.ending) == [.expired, .expired])
    #expect(outcomes.map(\.duration) == [.seconds(30), .seconds(10)])
    #expect(outcomes.map(\.hasJoined) == [false, true])
    gate.open()
  }

  @Test("the budget is that of the earliest wake that is waited for")
  func joiningEarlierWake() async throws {
    let wake = Wake()
    let moment = wake.clock.now
    wake.clock.advance(by: 15)
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    try await wake.sleeps(25)
    let second = Task { await wake.fetcher.perform(reason: .push, wake: moment) { _ in .newData } }
    try await wake.sleeps(10)
    wake.clock.advance(by: 10)
    try await wake.sleeps(5)
    wake.clock.advance(by: 5)
    let outcomes = [await first.value, await second.value]
    #expect(outcomes.map(\.ending) == [.expired, .expired])
    #expect(outcomes.map(\.duration) == [.seconds(15), .seconds(30)])
    gate.open()
  }

  @Test("a cancelled caller has failed; the fetch goes on for the others and is cancelled with the last")
  func cancellation() async throws {
    let wake = Wake()
    let isCancelled = Journal<Bool>()
    let gate = Gate()
    let callers = (0..<2).map { _ in
      Task {
        await wake.fetcher.perform(reason: .manual) { _ in
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            isCancelled.append(true)
          }
          return .newData
        }
      }
    }
    try await eventually("the fetch has begun") { gate.waiting == 1 }
    try await eventually("both wait") { wake.fetcher.waitingCallers == 2 }
    callers[0].cancel()
    let first = await callers[0].value
    #expect(first.result == .failed)
    #expect(first.ending == .cancelled)
    #expect(isCancelled.entries.isEmpty)
    callers[1].cancel()
    let second = await callers[1].value
    #expect(second.ending == .cancelled)
    try await eventually("the fetch is cancelled") { isCancelled.entries == [true] }
    gate.open()
    try await eventually("it has ended") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("a caller who is cancelled already begins nothing that lasts")
  func cancelledBefore() async throws {
    let wake = Wake()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await wake.fetcher.perform(reason: .manual) { _ in
        try await wake.clock.sleep(for: .seconds(1_000))
        return .newData
      }
    }
    let outcome = await task.value
    #expect(outcome.result == .failed)
    #expect(outcome.ending == .cancelled)
    try await eventually("all is over") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("the next fetch waits for one that was given up, and never overlaps it", arguments: [false, true])
  func givenUp(inForeground: Bool) async throws {
    let wake = Wake()
    if inForeground { await wake.application.enterForeground() }
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    first.cancel()
    _ = await first.value
    let begun = Journal<Duration?>()
    let second = Task {
      await wake.fetcher.perform(reason: .manual) { budget in
        begun.append(budget.timeRemaining)
        return .noData
      }
    }
    try await wake.sleeps(25)
    wake.clock.advance(by: 10)
    #expect(begun.entries.isEmpty)
    gate.open()
    let outcome = await second.value
    #expect(outcome.result == .noData)
    #expect(begun.entries == [inForeground ? nil : .seconds(20)])
  }

  @Test("who waits for a fetch that never ends has failed after 30 s, in the foreground too", arguments: [false, true])
  func givenUpForGood(inForeground: Bool) async throws {
    let wake = Wake()
    if inForeground { await wake.application.enterForeground() }
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    first.cancel()
    _ = await first.value
    let second = Task {
      await wake.fetcher.perform(reason: .manual) { _ in
        Issue.record("it overlaps the first")
        return .noData
      }
    }
    try await wake.sleeps(25)
    wake.clock.advance(by: 25)
    try await wake.sleeps(5)
    wake.clock.advance(by: 5)
    let outcome = await second.value
    #expect(outcome.result == .failed)
    #expect(outcome.ending == .expired)
    gate.open()
    try await eventually("the first has ended") { wake.fetcher.isIdle }
  }

  /// Starts as many fetches as there are cores, so that no thread is left for tasks.
  @Test("fetches that keep every core busy are ended at 30 s all the same")
  func busy() async throws {
    let isOver = Flag()
    let count = ProcessInfo.processInfo.activeProcessorCount
    let results = Journal<FetchResult>()
    let begun = Journal<Int>()
    let wakes = (0..<count).map { _ in Wake() }
    for (number, wake) in wakes.enumerated() {
      wake.fetcher.perform(
        reason: .scheduled,
        fetch: { _ in
          begun.append(number)
          // The loop is bounded, because otherwise the test could not report its failure.
          let limit = ContinuousClock.now + .seconds(20)
          while !isOver.isSet, ContinuousClock.now < limit { sched_yield() }
          return .newData
        }, completion: results.append)
    }
    try await eventually("all are at work") { begun.entries.count == count }
    for wake in wakes {
      try await wake.sleeps(25)
      wake.clock.advance(by: 30)
    }
    try await eventually("all have expired") { results.entries == Array(repeating: .failed, count: count) }
    isOver.set()
    try await eventually("all have ended") { wakes.allSatisfy(\.fetcher.isIdle) }
    #expect(results.entries.count == count)
  }

  @Test("a fetch holds the lock, and gives it back whatever comes of it", arguments: [true, false])
  func lock(succeeds: Bool) async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      let wake = Wake(lock: lock)
      let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in
        #expect(try lock.acquire() == nil)
        if !succeeds { throw Offline() }
        return .newData
      }
      #expect(outcome.result == (succeeds ? .newData : .failed))
      try await eventually("it is free") { try lock.acquire() != nil }
    }
  }

  @Test("if another process fetches, a wake is busy at once and a manual refresh waits", arguments: [false, true])
  func otherProcess(isManual: Bool) async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      let held = try #require(try lock.acquire())
      let wake = Wake(launchReason: .user, lock: lock)
      await wake.application.launch()
      let task = Task { await wake.fetcher.perform(reason: isManual ? .manual : .push) { _ in .newData } }
      if isManual {
        try await eventually("it waits") { !wake.clock.sleeping.isEmpty }
        held.release()
        wake.clock.advance(by: 1)
      }
      let outcome = await task.value
      #expect(outcome.ending == (isManual ? .finished : .busy))
      #expect(outcome.result == (isManual ? .newData : .failed))
      if !isManual { #expect(wake.log.entries == ["process \(getpid()) is fetching already"]) }
    }
  }

  @Test("a lock that cannot be had for another reason is a failure")
  func brokenLock() async {
    let wake = Wake(lock: FetchLock(path: "/nonexistent/lock"))
    let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in .newData }
    #expect(outcome.result == .failed)
    #expect(outcome.failure == "cannot lock /nonexistent/lock: No such file or directory")
    #expect(wake.log.entries == ["the fetch has failed: cannot lock /nonexistent/lock: No such file or directory"])
  }
}
