package import Logging
import Synchronization

/// Logs the beginning and the end of an outage of the server, without an entry for each attempt.
///
/// All connections to one server share it: pools and listeners copy it with their configuration.
package final class OutageLog: Sendable {
  private struct Outage {
    var began: ContinuousClock.Instant
    var attempts = 0
  }

  private struct State {
    /// The current outage; nil while connections can be made.
    var outage: Outage?
    /// The time of the last log entry about a failure; nil before the first.
    var lastEntry: ContinuousClock.Instant?
    /// Whether the outage has been logged, so that its end is logged too.
    var isLogged = false
  }

  /// The minimum time between two log entries about failures.
  private static let minimumInterval: Duration = .seconds(60)

  private let state = Mutex(State())
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// Records a failed attempt and logs it, at most once a minute, even across outages.
  package func recordFailure(_ error: any Error, logger: Logger) {
    // This is no outage: the process is stopping, or the caller has stopped waiting.
    if let code = (error as? PostgresError)?.code, [.cancelled, .shutDown].contains(code) { return }
    if error is CancellationError { return }
    let now = now()
    let entry = state.withLock { state -> (isFirst: Bool, outage: Outage)? in
      var outage = state.outage ?? Outage(began: now)
      outage.attempts += 1
      state.outage = outage
      if let last = state.lastEntry, now - last < Self.minimumInterval { return nil }
      defer { (state.lastEntry, state.isLogged) = (now, true) }
      return (!state.isLogged, outage)
    }
    guard let entry else { return }
    var metadata: Logger.Metadata = ["error": "\(Self.text(error))"]
    if entry.isFirst {
      logger.warning("no connection to PostgreSQL", metadata: metadata)
    } else {
      metadata["seconds"] = "\((now - entry.outage.began).components.seconds)"
      metadata["attempts"] = "\(entry.outage.attempts)"
      logger.warning("still no connection to PostgreSQL", metadata: metadata)
    }
  }

  /// Records that a connection was made, and logs the end of an outage that was logged.
  package func recordSuccess(logger: Logger) {
    let now = now()
    let ended = state.withLock { state -> Outage? in
      guard let outage = state.outage.take(), state.isLogged else { return nil }
      state.isLogged = false
      return outage
    }
    guard let ended else { return }
    logger.notice(
      "connected to PostgreSQL again",
      metadata: [
        "seconds": "\((now - ended.began).components.seconds)", "attempts": "\(ended.attempts)",
      ])
  }

  private static func text(_ error: any Error) -> String {
    guard let error = error as? PostgresError else { return "\(error)" }
    return error.explanation
  }
}
