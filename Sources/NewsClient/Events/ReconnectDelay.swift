/// The delay before reconnecting after a stream of events has ended.
///
/// It is the time that the server has set, plus a random backoff whose bound doubles with each failure. Clients that
/// were disconnected together thus reconnect at different times.
package struct ReconnectDelay: Sendable, Equatable {
  /// The maximum of the server's time and of the backoff, in seconds each.
  package static let most = 300.0

  /// The last time that the server has set, in seconds: 0...``most``.
  private var hint = 1.0
  private var failures = 0

  /// Creates the delay before the first attempt.
  package init() {}

  /// Sets the server's time (`retry`), which the server itself varies between clients.
  package mutating func suggest(milliseconds: Int) {
    hint = min(Double(max(0, milliseconds)) / 1000, Self.most)
  }

  /// Resets the backoff after a connection has brought its changes.
  package mutating func succeed() { failures = 0 }

  /// Returns the delay before the next attempt, which counts as a failure until ``succeed()`` is called.
  ///
  /// - Parameter random: A random number in 0..<1.
  /// - Returns: Seconds, from the server's time to ``most`` above it.
  package mutating func next(random: Double) -> Double {
    let bound = min(Double(1 << min(failures, 20)) - 1, Self.most)
    failures += 1
    return hint + bound * random
  }
}
