import Synchronization

/// Runs one fetch at a time within the limits of the background, and returns an outcome to each of its callers.
///
/// A call during a fetch joins that fetch, whatever the reasons of both, and does not run its own. The fetch ends for
/// all callers when it returns, or 30 s after the earliest of their wakes. An expired fetch is cancelled. If it
/// continues nevertheless, it is abandoned: its result is logged and dropped. The next fetch waits for it, within its
/// own time.
///
/// In the foreground, a fetch has a timeout instead. It counts from the start of the fetch, or from the moment at which
/// the application enters the foreground during the fetch. A fetch that runs when the application leaves the foreground
/// has 30 s from then, but no more than the rest of its timeout. The counterpart of
/// `UIApplicationDelegate.application(_:performFetchWithCompletionHandler:)`.
///
///     let application = ApplicationLifecycle(launchReason: .fetch)
///     let fetcher = BackgroundFetcher<FetchResult>(application: application)
///     let outcome = await fetcher.perform(reason: .scheduled) { budget in
///       budget.onExpiration { print("5 s left") }
///       return .noData
///     }
///     print(outcome.result)  // noData
public final class BackgroundFetcher<Report: FetchReporting>: Sendable {
  /// The function that fetches and returns a report. It is cancelled at the end of its time.
  ///
  /// An error that it throws means `failed`, and is logged unless the fetch was cancelled. The function runs on a queue
  /// of its own, so that code that blocks delays nothing else. It must not wait for another fetch by the same fetcher,
  /// which would deadlock.
  public typealias Fetch = @Sendable (FetchBudget) async throws -> Report

  let application: ApplicationLifecycle
  let foregroundTimeout: Duration
  private let lock: FetchLock?
  let clock: any FetchClock
  private let log: @Sendable (String) -> Void
  let state = Mutex(FetcherState<Report>())
  private let observation = Mutex<ObservationToken?>(nil)

  /// Creates an idle fetcher.
  ///
  /// - Parameters:
  ///   - application: The application whose state determines the limits and whose clock measures them. Its suspension
  ///     waits for fetches.
  ///   - lock: The lock to hold during fetches, if other fetchers use the same store. If another process holds it, a
  ///     manual fetch waits for up to 30 s, and any other fetch ends at once as `busy`.
  ///   - foregroundTimeout: The timeout of a fetch in the foreground, everything included.
  ///   - log: Receives messages about errors, late results and misuse.
  public init(
    application: ApplicationLifecycle, lock: FetchLock? = nil, foregroundTimeout: Duration = .seconds(60),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.application = application
    self.lock = lock
    self.foregroundTimeout = foregroundTimeout
    self.log = log
    clock = application.clock
    let observation = application.stateChanges.add { [weak self] in self?.applicationStateChanged() }
    self.observation.withLock { $0 = observation }
  }

  /// Runs a fetch, or joins the current one.
  ///
  /// Cancellation of the caller ends its wait at once. The fetch is cancelled when no caller waits for it.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - wake: The moment from which the 30 s count; nil for now. A process that was started for the fetch passes the
  ///     moment of its start.
  ///   - fetch: The function that fetches. It runs at most once.
  /// - Returns: The outcome for this caller.
  public func perform(
    reason: FetchReason, wake: FetchInstant? = nil, fetch: @escaping Fetch
  ) async -> FetchOutcome<Report> {
    let number = state.withLock { $0.makeNumber() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        join(number, reason: reason, wake: wake, fetch: fetch) { continuation.resume(returning: $0) }
        // The cancellation handler may have run before the caller was registered.
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  /// Runs a fetch, or joins the current one, without waiting for it.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - wake: The moment from which the 30 s count; nil for now. A process that was started for the fetch passes the
  ///     moment of its start.
  ///   - fetch: The function that fetches. It runs at most once.
  ///   - completion: Receives the result once, on any thread.
  public func perform(
    reason: FetchReason, wake: FetchInstant? = nil, fetch: @escaping Fetch,
    completion: @escaping @Sendable (FetchResult) -> Void
  ) {
    let once = FetchCompletion(log: log, handler: completion)
    join(state.withLock { $0.makeNumber() }, reason: reason, wake: wake, fetch: fetch) { once($0.result) }
  }

  /// Whether no fetch is running, not even an abandoned one.
  package var isIdle: Bool { state.withLock { $0.run == nil && $0.activeRun == nil } }

  /// The number of callers that wait for the current fetch.
  package var waitingCallers: Int { state.withLock { $0.run?.callers.count ?? 0 } }

  private func join(
    _ number: UInt64, reason: FetchReason, wake: FetchInstant?, fetch: @escaping Fetch,
    completion: @escaping @Sendable (FetchOutcome<Report>) -> Void
  ) {
    let now = clock.now
    // A wake in the future would extend the time.
    let wake = wake.flatMap { now.seconds(since: $0) >= 0 ? $0 : nil } ?? now
    let start = now.uptime - now.seconds(since: wake)
    application.wake(from: start)
    // The timer of the fetch ends this background task. A second timer would fire at the same instant.
    let task = application.backgroundTasks.beginUnlimited("fetch")
    var caller = FetcherState<Report>.Caller(number: number, start: start, hasJoined: false) { [application] outcome in
      completion(outcome)
      application.backgroundTasks.end(task)
    }
    let isTooLate = now.uptime - start >= FetchBudget.total.inSeconds && application.currentState != .foreground
    if isTooLate { return complete(caller, RunEnd(ending: .expired)) }
    let obsolete = state.withLock { state in
      if state.run == nil {
        let budget = FetchBudget(reason: reason, wake: wake, clock: clock)
        state.run = FetcherState<Report>.Run(number: number, budget: budget, fetch: fetch, callers: [caller])
        state.activateRun()
      } else {
        caller.hasJoined = true
        state.run?.callers.append(caller)
      }
      defer { startIfActive(&state) }
      return setLimit(now: now.uptime, wake: start, &state)
    }
    obsolete?.cancel()
  }

  private func cancel(_ number: UInt64) {
    guard let (caller, abandoned) = state.withLock({ $0.removeCaller(number) }) else { return }
    complete(caller, RunEnd(ending: .cancelled))
    if let abandoned { finish(abandoned, RunEnd(ending: .cancelled)) }
  }

  /// Starts the fetch of the run if the run is active. Its limit has been set before.
  private func startIfActive(_ state: inout FetcherState<Report>) {
    guard let run = state.run, state.activeRun == run.number, run.task == nil else { return }
    state.run?.task = Task(executorPreference: FetchExecutor()) { [number = run.number, budget = run.budget] in
      self.fetchReturned(number, await self.attempt(run.fetch, within: budget))
    }
  }

  /// The end of a run, the same for all of its callers.
  struct RunEnd {
    var report: Report?
    var ending: FetchOutcome<Report>.Ending
    var failure: String?
  }

  private func attempt(_ fetch: Fetch, within budget: FetchBudget) async -> RunEnd {
    do {
      try Task.checkCancellation()
      guard let lock else { return RunEnd(report: try await fetch(budget), ending: .finished) }
      let limit = budget.reason == .manual ? FetchBudget.total : .zero
      guard let held = try await lock.acquire(within: limit, clock: clock) else {
        log("process \(lock.holder.map(String.init) ?? "unknown") is already fetching")
        return RunEnd(ending: .busy)
      }
      defer { held.release() }
      return RunEnd(report: try await fetch(budget), ending: .finished)
    } catch {
      // Errors that follow from cancellation are not logged.
      if !Task.isCancelled { log("the fetch has failed: \(error)") }
      return RunEnd(ending: .finished, failure: "\(error)")
    }
  }

  private func fetchReturned(_ number: UInt64, _ result: RunEnd) {
    let now = clock.now.uptime
    let (ended, obsolete) = state.withLock { state in
      state.activeRun = nil
      let ended = state.run?.number == number ? state.run.take() : nil
      state.activateRun()
      defer { startIfActive(&state) }
      return (ended, setLimit(now: now, &state))
    }
    obsolete?.cancel()
    if let ended {
      finish(ended, result)
    } else if let late = result.report?.result, late != .failed {
      log("an abandoned fetch has ended: \(late.rawValue)")
    }
  }

  func finish(_ run: FetcherState<Report>.Run, _ end: RunEnd) {
    run.budget.close()
    run.timer?.cancel()
    for caller in run.callers { complete(caller, end, run: run.number) }
    // Cancellation comes last, because it runs the cancellation handlers of the fetch.
    run.task?.cancel()
  }

  private func complete(_ caller: FetcherState<Report>.Caller, _ end: RunEnd, run: UInt64? = nil) {
    caller.completion(
      FetchOutcome(
        report: end.report, ending: end.ending, failure: end.failure, hasJoined: caller.hasJoined,
        duration: .seconds(clock.now.uptime - caller.start), run: run))
  }
}

extension BackgroundFetcher where Report == FetchResult {
  /// Runs a fetch with callbacks, or joins the current one, without waiting for it.
  ///
  /// - Parameters:
  ///   - reason: The reason of the fetch.
  ///   - wake: The moment from which the 30 s count; nil for now. A process that was started for the fetch passes the
  ///     moment of its start.
  ///   - fetch: The function that fetches. It runs at most once, and passes its result to the given completion. A
  ///     completion that is released without a result means `failed`. Only `FetchBudget.onExpiration(_:)` reports the
  ///     end of its time.
  ///   - completion: Receives the result once, on any thread.
  public func perform(
    reason: FetchReason, wake: FetchInstant? = nil, fetch: @escaping @Sendable (FetchBudget, FetchCompletion) -> Void,
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
