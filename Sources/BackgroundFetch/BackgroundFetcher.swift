import Synchronization

/// Fetches one at a time: within the limits of the background, with one result for each of those who wait.
///
/// A call while a fetch is under way joins it, whatever either was asked for by: its own fetch is not run. The fetch ends
/// for all of them when it returns, or when the first of the wakes that it serves has had its time; the fetch is then
/// cancelled. One that goes on nevertheless is given up: what it returns is logged and dropped, and until it does the
/// next one waits for it, within its own time.
///
/// In the foreground there is no limit, save for that wait. A fetch that is under way when the application comes to the
/// foreground may go on; one that is under way when the application leaves it has 30 s from then.
public final class BackgroundFetcher: Sendable {
  /// Fetches, and says what has come of it. It is cancelled at the end of its time; what it throws is logged and means
  /// `failed`. It has a queue to itself, so that code which blocks holds up nothing else. It must not wait for another
  /// fetch by the same fetcher, as that would be itself.
  public typealias Fetch = @Sendable (FetchBudget) async throws -> FetchResult

  let application: Application
  private let lock: FetchLock?
  let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  let state = Mutex(FetchState())
  private let observation = Mutex<Observation?>(nil)

  /// A fetcher at rest.
  ///
  /// - Parameters:
  ///   - application: Whose state decides about limits, and whose clock measures them. Its suspension waits for fetches.
  ///   - lock: Is held during fetches, if others fetch into the same store. If another process holds it, a manual fetch
  ///     waits for up to 30 s and any other is `busy` at once.
  ///   - log: Is told of errors, of late results and of misuse.
  public init(
    application: Application, lock: FetchLock? = nil, log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.application = application
    self.lock = lock
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
  public func perform(reason: FetchReason, wake: FetchMoment? = nil, fetch: @escaping Fetch) async -> FetchOutcome {
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

  /// Nothing is fetched, and nothing that was given up is still at work.
  package var isIdle: Bool { state.withLock { $0.run == nil && $0.working == nil } }

  /// How many wait for the fetch that is under way.
  package var waitingCallers: Int { state.withLock { $0.run?.callers.count ?? 0 } }

  private func enter(
    _ number: UInt64, reason: FetchReason, wake: FetchMoment?, fetch: @escaping Fetch,
    tell: @escaping @Sendable (FetchOutcome) -> Void
  ) {
    let now = clock.now
    // One that is still to come would give more time.
    let wake = wake.flatMap { now.seconds(since: $0) >= 0 ? $0 : nil } ?? now
    let start = now.uptime - now.seconds(since: wake)
    application.wake(from: start)
    let task = application.backgroundTasks.begin("fetch")
    var caller = FetchState.Caller(number: number, start: start, hasJoined: false) { [application] outcome in
      tell(outcome)
      application.backgroundTasks.end(task)
    }
    let isTooLate = now.uptime - start >= FetchBudget.total.inSeconds && application.currentState != .foreground
    if isTooLate { return self.tell(caller, .failed, .expired) }
    let obsolete = state.withLock { state in
      if state.run == nil {
        let budget = FetchBudget(reason: reason, wake: wake, clock: clock)
        state.run = FetchState.Run(number: number, budget: budget, fetch: fetch, callers: [caller])
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
    tell(caller, .failed, .cancelled)
    if let abandoned { end(abandoned, .failed, .cancelled) }
  }

  /// Runs the fetch if it is its turn. Its limit is there by then.
  private func begin(_ state: inout FetchState) {
    guard let run = state.run, state.working == run.number, run.task == nil else { return }
    state.run?.task = Task(executorPreference: FetchExecutor()) { [number = run.number, budget = run.budget] in
      let (result, ending) = await self.attempt(run.fetch, within: budget)
      self.returned(number, result, ending)
    }
  }

  private func attempt(_ fetch: Fetch, within budget: FetchBudget) async -> (FetchResult, FetchOutcome.Ending) {
    do {
      try Task.checkCancellation()
      guard let lock else { return (try await fetch(budget), .finished) }
      let patience = budget.reason == .manual ? FetchBudget.total : .zero
      guard let held = try await lock.acquire(within: patience, clock: clock) else {
        log("process \(lock.holder.map(String.init) ?? "unknown") is fetching already")
        return (.failed, .busy)
      }
      defer { held.release() }
      return (try await fetch(budget), .finished)
    } catch {
      // What comes of cancellation is no news.
      if !Task.isCancelled { log("the fetch has failed: \(error)") }
      return (.failed, .finished)
    }
  }

  private func returned(_ number: UInt64, _ result: FetchResult, _ ending: FetchOutcome.Ending) {
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
      end(ended, result, ending)
    } else {
      log("a fetch that had been given up has ended: \(result.rawValue)")
    }
  }

  func end(_ run: FetchState.Run, _ result: FetchResult, _ ending: FetchOutcome.Ending) {
    run.budget.close()
    run.timer?.cancel()
    for caller in run.callers { tell(caller, result, ending) }
    // Last, because it runs what the fetch has left to be done on cancellation.
    run.task?.cancel()
  }

  private func tell(_ caller: FetchState.Caller, _ result: FetchResult, _ ending: FetchOutcome.Ending) {
    let duration = Duration.seconds(clock.now.uptime - caller.start)
    caller.tell(FetchOutcome(result: result, ending: ending, hasJoined: caller.hasJoined, duration: duration))
  }
}
