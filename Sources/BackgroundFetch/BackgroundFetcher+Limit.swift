import Synchronization

extension BackgroundFetcher {
  func applicationChanged() {
    let now = clock.now.uptime
    state.withLock { setLimit(now: now, &$0) }?.cancel()
  }

  /// Sets, tightens or removes the limit of the run, as the state of the application and its own are.
  ///
  /// A run that waits for one that was given up is limited in the foreground, too: nobody knows how long that takes.
  ///
  /// - Parameter wake: The uptime of the wake of a caller that has just come.
  /// - Returns: A timer to be cancelled once the lock is released.
  func setLimit(now: Double, wake: Double? = nil, _ state: inout FetchState) -> Task<Void, Never>? {
    guard let run = state.run else { return nil }
    if application.currentState == .foreground, state.working == run.number {
      run.budget.unlimit()
      return state.run?.timer.take()
    }
    guard run.timer == nil || wake != nil, run.budget.limit(from: wake ?? now) else { return nil }
    state.run?.timer = makeTimer(run.number, run.budget)
    return run.timer
  }

  private func makeTimer(_ number: UInt64, _ budget: FetchBudget) -> Task<Void, Never> {
    Task(priority: .high) { [clock] in
      do {
        while let left = budget.timeUntilWarning, left > .zero { try await clock.sleep(for: left) }
        budget.warn()
        while let left = budget.timeRemaining, left > .zero { try await clock.sleep(for: left) }
        expire(number)
      } catch {
        // Cancelled: the fetch has ended, or has another limit or none.
      }
    }
  }

  private func expire(_ number: UInt64) {
    let run = state.withLock { state in
      // The limit may have been lifted since.
      state.run?.number == number && state.run?.budget.timeRemaining == .zero ? state.run.take() : nil
    }
    if let run { end(run, .failed, .expired) }
  }
}
