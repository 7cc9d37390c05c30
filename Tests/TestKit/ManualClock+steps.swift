import BackgroundFetch
public import Foundation

extension ManualClock {
  /// Advances to a time of day, from one sleeper to the next. Before each step, the tasks have gone to sleep again.
  ///
  ///     let clock = ManualClock()
  ///     let timer = Task { while !Task.isCancelled { try await clock.sleep(for: .seconds(60)) } }
  ///     try await clock.step(until: clock.now.date + 3600, whenSleeping: 1)
  ///     timer.cancel()
  ///
  /// - Parameters:
  ///   - end: The time of day.
  ///   - count: The number of tasks that sleep while nothing happens.
  ///   - isIdle: Returns whether nothing happens; sleepers alone may be those of a task that works.
  /// - Throws: An error if the tasks do not sleep within 60 s, or an error of the condition.
  public func step(
    until end: Date, whenSleeping count: Int, isIdle: () async throws -> Bool = { true }
  ) async throws {
    while true {
      try await settle(count, isIdle)
      let left = end.timeIntervalSince(now.date)
      if left <= 0 { return }
      advance(by: min(left, sleeping.first ?? left))
    }
  }

  private func settle(_ count: Int, _ isIdle: () async throws -> Bool) async throws {
    // Most steps take less than a millisecond, so the condition is checked without a sleep first.
    for _ in 0..<200 {
      if sleeping.count >= count, try await isIdle() { return }
      await Task.yield()
    }
    try await eventually("\(count) tasks sleep; \(sleeping.count) do") {
      if sleeping.count >= count { return try await isIdle() }
      return false
    }
  }
}
