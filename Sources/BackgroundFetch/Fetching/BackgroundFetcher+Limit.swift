import Synchronization

extension BackgroundFetcher {
  func applicationStateChanged() {
    let now = clock.now.uptime
    state.withLock { setLimit(now: now, &$0) }?.cancel()
  }

  /// Sets, tightens or replaces the limit of the run according to the states of the application and of the run. The
  /// limit is the budget in the background, and the deadline in the foreground.
  ///
  /// A run that waits for an abandoned one has a budget in the foreground too, because that wait may take any time.
  ///
  /// - Parameter wake: The uptime of the wake of a new caller, in seconds.
  /// - Returns: The obsolete timer, to be cancelled once the lock is released.
  func setLimit(now: Double, wake: Double? = nil, _ state: inout FetcherState<Report>) -> Task<Void, Never>? {
    guard let run = state.run else { return nil }
    if application.currentState == .foreground, state.activeRun == run.number {
      guard run.deadline == nil else { return nil }
      let deadline = now + foregroundTimeout.inSeconds
      run.budget.unlimit(until: deadline)
      state.run?.deadline = deadline
      state.run?.timer = makeTimer(run.number, run.budget)
      return run.timer
    }
    // The budget of a run that was in the foreground ends no later than its deadline.
    let latest = run.deadline.map { $0 - FetchBudget.total.inSeconds } ?? .infinity
    guard run.timer == nil || run.deadline != nil || wake != nil, run.budget.limit(from: min(wake ?? now, latest))
    else { return nil }
    state.run?.deadline = nil
    state.run?.timer = makeTimer(run.number, run.budget)
    return run.timer
  }

  private func makeTimer(_ number: UInt64, _ budget: FetchBudget) -> Task<Void, Never> {
    Task(priority: .high) { [clock] in
      do {
        while let left = budget.timeUntilWarning, left > .zero { try await clock.sleep(for: left) }
        budget.warn()
        while let left = budget.timeLeft, left > .zero { try await clock.sleep(for: left) }
        expire(number)
      } catch {
        // The timer was cancelled, because the fetch has ended or has another limit.
      }
    }
  }

  private func expire(_ number: UInt64) {
    let now = clock.now.uptime
    let run = state.withLock { state in
      // The limit may have been replaced since.
      guard let run = state.run, run.number == number else { return nil as FetcherState<Report>.Run? }
      let isDue = run.deadline.map { $0 <= now } ?? (run.budget.timeRemaining == .zero)
      return isDue ? state.run.take() : nil
    }
    if let run { finish(run, RunEnd(ending: .expired)) }
  }
}
