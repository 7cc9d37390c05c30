import BackgroundFetch
import Foundation
import Synchronization
import TestKit
import Testing

@Suite("Races of success, expiry and cancellation")
struct FetchRaceTests {
  @Test("each caller gets one result in each of thousands of races, and each side wins some")
  func races() async throws {
    let outcomes = try await run(rounds(10_000))
    #expect(outcomes[.finished, default: 0] > rounds(100))
    #expect(outcomes[.expired, default: 0] > rounds(100))
    #expect(outcomes[.cancelled, default: 0] > rounds(100))
  }

  /// Runs in a process of its own, because other tests open files and start threads too.
  @Test("races leave neither descriptors nor threads open")
  func leaks() async throws {
    await #expect(processExitsWith: .success) {
      func count(_ directory: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(directory)").count
      }
      _ = try await run(1_000)
      let (descriptors, threads) = (try count("fd"), try count("task"))
      _ = try await run(rounds(10_000))
      // The runtime opens a few descriptors on first use, and idle threads of its pool end after some seconds.
      try await eventually("the number of open descriptors is as before") { try count("fd") < descriptors + 5 }
      try await eventually("the number of threads is as before") { try count("task") < threads + 5 }
    }
  }
}

/// One race, with the results that its callers receive.
private final class Round: Sendable {
  let wake = Wake()
  let gate = Gate()
  let results = Journal<FetchResult>()
  let outcomes = Journal<FetchOutcome>()
  let warnings = Journal<Void>()
  let task = Mutex<Task<Void, Never>?>(nil)

  /// Starts one fetch with three callers: one with a completion handler, one in a task, and one that joins.
  func begin(byCallback: Bool) {
    if byCallback {
      let fetch: @Sendable (FetchBudget, FetchCompletion) -> Void = { [gate, warnings] budget, completion in
        budget.onExpiration { warnings.append(()) }
        Task {
          await gate.pass()
          completion(.newData)
          completion(.noData)
        }
      }
      wake.fetcher.perform(reason: .scheduled, fetch: fetch, completion: results.append)
    } else {
      wake.fetcher.perform(reason: .scheduled, fetch: fetch, completion: results.append)
    }
    wake.fetcher.perform(reason: .manual, fetch: fetch, completion: results.append)
    let task = Task { [self] in outcomes.append(await wake.fetcher.perform(reason: .push, fetch: fetch)) }
    self.task.withLock { $0 = task }
  }

  var isOver: Bool { results.entries.count >= 2 && outcomes.entries.count >= 1 && wake.fetcher.isIdle }

  private var fetch: BackgroundFetcher.Fetch {
    { [gate, warnings] budget in
      budget.onExpiration { warnings.append(()) }
      await gate.pass()
      return .newData
    }
  }
}

/// Runs races.
///
/// - Returns: The number of outcomes by ending, for the callers that can be cancelled.
private func run(_ count: Int) async throws -> [FetchOutcome.Ending: Int] {
  var endings: [FetchOutcome.Ending: Int] = [:]
  // In batches of 100, so that finished races are released.
  for first in stride(from: 0, to: count, by: 100) {
    let rounds = (0..<100).map { _ in Round() }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        for (number, round) in rounds.enumerated() { race(round, number: first + number) }
        continuation.resume()
      }
    }
    try await eventually("all races have ended") { rounds.allSatisfy(\.isOver) }
    for round in rounds {
      #expect(round.results.entries.count == 2)
      #expect(round.outcomes.entries.count == 1)
      // The other two callers start fetches of their own if they arrive after the end of the first.
      #expect(round.warnings.entries.count <= 3)
      for outcome in round.outcomes.entries { endings[outcome.ending, default: 0] += 1 }
    }
  }
  return endings
}

/// Makes the fetch return, its time expire, its caller be cancelled and the user open the app, each on its own thread
/// and in varying order.
private func race(_ round: Round, number: Int) {
  round.begin(byCallback: number % 2 == 0)
  var sides: [@Sendable () -> Void] = [
    { round.gate.open() }, { round.wake.clock.advance(by: 30) }, { round.task.withLock(\.self)?.cancel() },
  ]
  if number % 5 == 0 {
    sides.append {
      Task {
        await round.wake.application.enterForeground()
        await round.wake.application.enterBackground()
      }
    }
  }
  // Deterministic delays that shift against each other.
  let spins = [number * 7 % 100, number * 11 % 130, number * 13 % 170, 0]
  DispatchQueue.concurrentPerform(iterations: sides.count) { [sides] index in
    let side = (index + number) % sides.count
    for _ in 0..<spins[side] { sched_yield() }
    sides[side]()
  }
}
