/// The delay before reconnecting after a stream of events has ended.
///
/// It is the time that the server has set, plus a random backoff whose bound doubles with each failure. Clients that
/// were disconnected together thus reconnect at different times.
package struct ReconnectDelay: Sendable, Equatable {
  /// The maximum of the server's time and of the backoff, in seconds each.
  package static let maximum = 300.0

  /// The last time that the server has set, in seconds: 0...``maximum``.
  private var serverDelay = 1.0
  private var failures = 0

  /// Creates the delay before the first attempt.
  package init() {}

  /// Sets the server's time (`retry`), which the server itself varies between clients.
  package mutating func setServerDelay(milliseconds: Int) {
    serverDelay = min(Double(max(0, milliseconds)) / 1000, Self.maximum)
  }

  /// Resets the backoff after the announced changes were fetched.
  package mutating func reset() { failures = 0 }

  /// Returns the delay before the next attempt, which counts as a failure until ``reset()`` is called.
  ///
  /// - Parameter random: A random number in 0..<1.
  /// - Returns: Seconds, from the server's time to ``maximum`` above it.
  package mutating func next(random: Double) -> Double {
    let bound = min(Double(1 << min(failures, 20)) - 1, Self.maximum)
    failures += 1
    return serverDelay + bound * random
  }
}
