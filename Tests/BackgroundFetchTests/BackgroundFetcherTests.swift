import BackgroundFetch
import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing

@Suite("Fetcher")
struct BackgroundFetcherTests {
  struct Offline: Error {}

  @Test("each form of perform returns each result", arguments: FetchResult.allCases)
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

  @Test("an error of the fetch means failed, and is logged")
  func throwing() async {
    let wake = Wake()
    let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in throw Offline() }
    #expect(outcome.result == .failed)
    #expect(outcome.ending == .finished)
    #expect(outcome.failure == "Offline()")
    #expect(outcome.report == nil)
    #expect(wake.log.entries == ["the fetch has failed: Offline()"])
  }

  @Test("a fetch that calls its completion twice, never or late reports one result to its caller")
  func misuse() async throws {
    let wake = Wake()
    let results = Journal<FetchResult>()
    let twice: @Sendable (FetchBudget, FetchCompletion) -> Void = { _, completion in
      completion(.newData)
      completion(.failed)
    }
    wake.fetcher.perform(reason: .push, fetch: twice, completion: results.append)
    try await eventually("the fetch has ended") { wake.fetcher.isIdle && results.entries == [.newData] }
    #expect(wake.log.entries == ["a completion was called again; the result failed is ignored"])

    wake.fetcher.perform(reason: .push, fetch: { _, _ in }, completion: results.append)
    try await eventually("the fetch has ended") { wake.fetcher.isIdle && results.entries == [.newData, .failed] }
    #expect(wake.log.entries.last == "a completion was released without a result; the fetch counts as failed")

    let kept = Journal<FetchCompletion>()
    wake.fetcher.perform(reason: .push, fetch: { kept.append($1) }, completion: results.append)
    try await eventually("the fetch has started") { !kept.entries.isEmpty }
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    wake.clock.advance(by: 5)
    try await eventually("the fetch has expired") { results.entries == [.newData, .failed, .failed] }
    kept.entries[0](.newData)
    try await eventually("the fetch has ended") { wake.fetcher.isIdle }
    #expect(results.entries.count == 3)
    #expect(wake.log.entries.last == "an abandoned fetch has ended: newData")
  }

  @Test("calls during a fetch join it, whatever their reasons", arguments: FetchReason.allCases)
  func joining(first: FetchReason) async throws {
    let wake = Wake()
    let gate = Gate()
    let begun = try await wake.begin(first, at: gate)
    let results = Journal<FetchResult>()
    for reason in FetchReason.allCases {
      wake.fetcher.perform(
        reason: reason,
        fetch: { _ in
          Issue.record("a second fetch has started")
          return .noData
        }, completion: results.append)
    }
    wake.clock.advance(by: 3)
    gate.open()
    let outcome = await begun.value
    #expect(outcome == FetchOutcome(result: .newData, ending: .finished, hasJoined: false, duration: .seconds(3)))
    let expected = Array(repeating: FetchResult.newData, count: FetchReason.allCases.count)
    try await eventually("all callers have the result") { results.entries == expected }
    try await eventually("the fetcher is idle") { wake.fetcher.isIdle }
    let next = await wake.fetcher.perform(reason: .manual) { _ in .noData }
    #expect(next.result == .noData)
    #expect(!next.hasJoined)
  }

  @Test("a caller that joins an expiring fetch gets the result at the end of that fetch, not 30 s after its own wake")
  func joiningLate() async throws {
    let wake = Wake()
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 20)
    let second = Task { await wake.fetcher.perform(reason: .push) { _ in .newData } }
    try await eventually("the caller has joined") { wake.fetcher.waitingCallers == 2 && wake.clock.sleeping == [5] }
    wake.clock.advance(by: 5)
    try await eventually("the timer sleeps again") { wake.clock.sleeping == [5] }
    wake.clock.advance(by: 5)
    let outcomes = [await first.value, await second.value]
    #expect(outcomes.map(\.ending) == [.expired, .expired])
    #expect(outcomes.map(\.duration) == [.seconds(30), .seconds(10)])
    #expect(outcomes.map(\.hasJoined) == [false, true])
    gate.open()
  }

  @Test("the budget counts from the earliest wake of all callers")
  func joiningEarlierWake() async throws {
    let wake = Wake()
    let moment = wake.clock.now
    wake.clock.advance(by: 15)
    let gate = Gate()
    let first = try await wake.begin(at: gate)
    try await wake.waitForTimer(25)
    let second = Task { await wake.fetcher.perform(reason: .push, wake: moment) { _ in .newData } }
    try await wake.waitForTimer(10)
    wake.clock.advance(by: 10)
    try await wake.waitForTimer(5)
    wake.clock.advance(by: 5)
    let outcomes = [await first.value, await second.value]
    #expect(outcomes.map(\.ending) == [.expired, .expired])
    #expect(outcomes.map(\.duration) == [.seconds(15), .seconds(30)])
    gate.open()
  }

  @Test("a cancelled caller gets failed; the fetch continues for the others and is cancelled with the last one")
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
    try await eventually("the fetch has started") { gate.waiting == 1 }
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
    try await eventually("the fetch has ended") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("a caller that is already cancelled leaves no running fetch")
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
    try await eventually("the fetch has ended") { wake.fetcher.isIdle && wake.clock.sleeping.isEmpty }
  }

  @Test("the next fetch waits for an abandoned one, and never overlaps it", arguments: [false, true])
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
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 10)
    #expect(begun.entries.isEmpty)
    gate.open()
    let outcome = await second.value
    #expect(outcome.result == .noData)
    #expect(begun.entries == [inForeground ? nil : .seconds(20)])
  }

  @Test(
    "a fetch that waits for an endless abandoned one fails after 30 s, in the foreground too", arguments: [false, true])
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
    try await wake.waitForTimer(25)
    wake.clock.advance(by: 25)
    try await wake.waitForTimer(5)
    wake.clock.advance(by: 5)
    let outcome = await second.value
    #expect(outcome.result == .failed)
    #expect(outcome.ending == .expired)
    gate.open()
    try await eventually("the first has ended") { wake.fetcher.isIdle }
  }

  /// Starts as many fetches as there are cores, so that no thread is left for tasks.
  @Test("fetches that keep all cores busy end at 30 s too")
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
    try await eventually("all fetches are running") { begun.entries.count == count }
    for wake in wakes {
      try await wake.waitForTimer(25)
      wake.clock.advance(by: 30)
    }
    try await eventually("all have expired") { results.entries == Array(repeating: .failed, count: count) }
    isOver.set()
    try await eventually("all have ended") { wakes.allSatisfy(\.fetcher.isIdle) }
    #expect(results.entries.count == count)
  }

  @Test("a fetch holds the lock and releases it, whatever its result", arguments: [true, false])
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
      try await eventually("the lock is free") { try lock.acquire() != nil }
    }
  }

  @Test("while another process fetches, a wake is busy at once and a manual refresh waits", arguments: [false, true])
  func otherProcess(isManual: Bool) async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      let held = try #require(try lock.acquire())
      let wake = Wake(launchReason: .user, lock: lock)
      await wake.application.launch()
      let task = Task { await wake.fetcher.perform(reason: isManual ? .manual : .push) { _ in .newData } }
      if isManual {
        try await eventually("the fetch waits") { !wake.clock.sleeping.isEmpty }
        held.release()
        wake.clock.advance(by: 1)
      }
      let outcome = await task.value
      #expect(outcome.ending == (isManual ? .finished : .busy))
      #expect(outcome.result == (isManual ? .newData : .failed))
      if !isManual { #expect(wake.log.entries == ["process \(getpid()) is already fetching"]) }
    }
  }

  @Test("an error of the lock means failed")
  func brokenLock() async {
    let wake = Wake(lock: FetchLock(path: "/nonexistent/lock"))
    let outcome = await wake.fetcher.perform(reason: .scheduled) { _ in .newData }
    #expect(outcome.result == .failed)
    #expect(outcome.failure == "cannot lock /nonexistent/lock: No such file or directory")
    #expect(wake.log.entries == ["the fetch has failed: cannot lock /nonexistent/lock: No such file or directory"])
  }
}
