/// The clock of fetches and schedules. Tests and simulations replace ``SystemClock`` by another one.
///
///     let clock: any FetchClock = SystemClock()
///     let start = clock.now
///     try await clock.sleep(for: .milliseconds(20))
///     print(clock.now.seconds(since: start))
public protocol FetchClock: Sendable {
  /// The current time on both clocks, read at once.
  var now: FetchInstant { get }
  /// Waits. Time during which the machine sleeps counts.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(for duration: Duration) async throws
}
