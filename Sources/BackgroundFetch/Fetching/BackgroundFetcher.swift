import Synchronization

/// Fetches one at a time: within the limits of the background, with one result for each of those who wait.
///
/// A call while a fetch is under way joins it, whatever either was asked for by: its own fetch is not run. The fetch ends
/// for all of them when it returns, or when the first of the wakes that it serves has had its time; the fetch is then
/// cancelled. One that goes on nevertheless is given up: what it returns is logged and dropped, and until it does the
/// next one waits for it, within its own time.
///
/// In the foreground a fetch has a timeout instead, which counts from its start, or from the moment at which the
/// application comes to the foreground during the fetch. A fetch that is under way when the application leaves the
/// foreground has 30 s from then, and no more than was left of its timeout.
public final class BackgroundFetcher<Report: FetchReporting>: Sendable {
  /// Fetches, and returns a report. It is cancelled at the end of its time; an error that it throws is logged and means
  /// `failed`. It runs on a queue of its own, so that code which blocks delays nothing else. It must not wait for another
  /// fetch by the same fetcher, as that would deadlock.
  public typealias Fetch = @Sendable (FetchBudget) async throws -> Report

  let application: Application
  let foregroundTimeout: Duration
  private let lock: FetchLock?
  let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  let state = Mutex(FetchState<Report>())
  private let observation = Mutex<Observation?>(nil)

  /// A fetcher at rest.
  ///
  /// - Parameters:
  ///   - application: Whose state decides about limits, and whose clock measures them. Its suspension waits for fetches.
  ///   - lock: Is held during fetches, if others fetch into the same store. If another process holds it, a manual fetch
  ///     waits for up to 30 s and any other is `busy` at once.
  ///   - foregroundTimeout: The longest that a fetch may take in the foreground, everything included.
  ///   - log: Gets errors, late results and misuse.
  public init(
    application: Application, lock: FetchLock? = nil, foregroundTimeout: Duration = .seconds(60),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.application = application
    self.lock = lock
    self.foregroundTimeout = foregroundTimeout
    self.log = log
    clock = application.clock
    let observation = application.changes.add { [weak self] in self?.applicationChanged() }
    self.observation.withLock { $0 = observation }
  }

  /// Fetches, or joins the fetch that is under way.
  ///
  /// The caller's cancellation ends the wait at once. The fetch is cancelled when nobody waits for it.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - wake: From when the 30 s count; now, unless the process has been at work for it before.
  ///   - fetch: What is run, at most once.
  /// - Returns: What has come of it.
  public func perform(
    reason: FetchReason, wake: FetchMoment? = nil, fetch: @escaping Fetch
  ) async -> FetchOutcome<Report> {
    let number = state.withLock { $0.makeNumber() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        enter(number, reason: reason, wake: wake, fetch: fetch) { continuation.resume(returning: $0) }
        // The handler may have come before there was anybody to leave.
        if Task.isCancelled { leave(number) }
      }
    } onCancel: {
      leave(number)
    }
  }

  /// Fetches, or joins the fetch that is under way, without waiting for it.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - wake: From when the 30 s count; now, unless the process has been at work for it before.
  ///   - fetch: What is run, at most once.
  ///   - completion: Gets the result, once, on any thread.
  public func perform(
    reason: FetchReason, wake: FetchMoment? = nil, fetch: @escaping Fetch,
    completion: @escaping @Sendable (FetchResult) -> Void
  ) {
    let once = FetchCompletion(log: log, handler: completion)
    enter(state.withLock { $0.makeNumber() }, reason: reason, wake: wake, fetch: fetch) { once($0.result) }
  }

  /// Nothing is fetched, and nothing that was given up is still at work.
  package var isIdle: Bool { state.withLock { $0.run == nil && $0.working == nil } }

  /// How many wait for the fetch that is under way.
  package var waitingCallers: Int { state.withLock { $0.run?.callers.count ?? 0 } }

  private func enter(
    _ number: UInt64, reason: FetchReason, wake: FetchMoment?, fetch: @escaping Fetch,
    tell: @escaping @Sendable (FetchOutcome<Report>) -> Void
  ) {
    let now = clock.now
    // One that is still to come would give more time.
    let wake = wake.flatMap { now.seconds(since: $0) >= 0 ? $0 : nil } ?? now
    let start = now.uptime - now.seconds(since: wake)
    application.wake(from: start)
    // The timer of the fetch ends this task; a second timer would end it at the same instant.
    let task = application.backgroundTasks.hold("fetch")
    var caller = FetchState<Report>.Caller(number: number, start: start, hasJoined: false) { [application] outcome in
      tell(outcome)
      application.backgroundTasks.end(task)
    }
    let isTooLate = now.uptime - start >= FetchBudget.total.inSeconds && application.currentState != .foreground
    if isTooLate { return self.tell(caller, End(ending: .expired)) }
    let obsolete = state.withLock { state in
      if state.run == nil {
        let budget = FetchBudget(reason: reason, wake: wake, clock: clock)
        state.run = FetchState<Report>.Run(number: number, budget: budget, fetch: fetch, callers: [caller])
        state.takeTurn()
      } else {
        caller.hasJoined = true
        state.run?.callers.append(caller)
      }
      defer { begin(&state) }
      return setLimit(now: now.uptime, wake: start, &state)
    }
    obsolete?.cancel()
  }

  private func leave(_ number: UInt64) {
    guard let (caller, abandoned) = state.withLock({ $0.leave(number) }) else { return }
    tell(caller, End(ending: .cancelled))
    if let abandoned { end(abandoned, End(ending: .cancelled)) }
  }

  /// Runs the fetch if it is its turn. Its limit is there by then.
  private func begin(_ state: inout FetchState<Report>) {
    guard let run = state.run, state.working == run.number, run.task == nil else { return }
    state.run?.task = Task(executorPreference: FetchExecutor()) { [number = run.number, budget = run.budget] in
      self.returned(number, await self.attempt(run.fetch, within: budget))
    }
  }

  /// The end of a run, the same for all of its callers.
  struct End {
    var report: Report?
    var ending: FetchOutcome<Report>.Ending
    var failure: String?
  }

  private func attempt(_ fetch: Fetch, within budget: FetchBudget) async -> End {
    do {
      try Task.checkCancellation()
      guard let lock else { return End(report: try await fetch(budget), ending: .finished) }
      let limit = budget.reason == .manual ? FetchBudget.total : .zero
      guard let held = try await lock.acquire(within: limit, clock: clock) else {
        log("process \(lock.holder.map(String.init) ?? "unknown") is fetching already")
        return End(ending: .busy)
      }
      defer { held.release() }
      return End(report: try await fetch(budget), ending: .finished)
    } catch {
      // An error that follows from cancellation is no news.
      if !Task.isCancelled { log("the fetch has failed: \(error)") }
      return End(ending: .finished, failure: "\(error)")
    }
  }

  private func returned(_ number: UInt64, _ result: End) {
    let now = clock.now.uptime
    let (ended, obsolete) = state.withLock { state in
      state.working = nil
      let ended = state.run?.number == number ? state.run.take() : nil
      state.takeTurn()
      defer { begin(&state) }
      return (ended, setLimit(now: now, &state))
    }
    obsolete?.cancel()
    if let ended {
      end(ended, result)
    } else {
      log("a fetch that had been given up has ended: \((result.report?.result ?? .failed).rawValue)")
    }
  }

  func end(_ run: FetchState<Report>.Run, _ end: End) {
    run.budget.close()
    run.timer?.cancel()
    for caller in run.callers { tell(caller, end) }
    // Last, because it runs what the fetch has left to be done on cancellation.
    run.task?.cancel()
  }

  private func tell(_ caller: FetchState<Report>.Caller, _ end: End) {
    caller.tell(
      FetchOutcome(
        report: end.report, ending: end.ending, failure: end.failure, hasJoined: caller.hasJoined,
        duration: .seconds(clock.now.uptime - caller.start)))
  }
}

extension BackgroundFetcher where Report == FetchResult {
  /// Fetches by callbacks, or joins the fetch that is under way, without waiting for it.
  ///
  /// - Parameters:
  ///   - reason: Why.
  ///   - wake: From when the 30 s count; now, unless the process has been at work for it before.
  ///   - fetch: What is run, at most once. It hands its result to the completion that it is given, or lets go of that if
  ///     it has `failed`. The end of its time is told by `FetchBudget.onExpiration(_:)` only.
  ///   - completion: Gets the result, once, on any thread.
  public func perform(
    reason: FetchReason, wake: FetchMoment? = nil, fetch: @escaping @Sendable (FetchBudget, FetchCompletion) -> Void,
    completion: @escaping @Sendable (FetchResult) -> Void
  ) {
    perform(
      reason: reason, wake: wake,
      fetch: { [log] budget in
        await withCheckedContinuation { continuation in
          fetch(budget, FetchCompletion(log: log) { continuation.resume(returning: $0) })
        }
      }, completion: completion)
  }
}
