package import Logging
import Synchronization

/// Logs the beginning and the end of an outage of the server, without a line for each attempt.
///
/// All connections to one server share it: pools and listeners copy it with their configuration.
package final class OutageLog: Sendable {
  private struct Outage {
    var began: ContinuousClock.Instant
    var attempts = 0
  }

  private struct Memory {
    /// The current outage; nil while connections can be made.
    var outage: Outage?
    /// The time of the last line about a failure; nil before the first.
    var lastLine: ContinuousClock.Instant?
    /// Whether the outage has been logged, so that its end is logged too.
    var isReported = false
  }

  /// The minimum time between two lines about failures.
  private static let interval: Duration = .seconds(60)

  private let memory = Mutex(Memory())
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// Records a failed attempt and logs it, at most once a minute, even across outages.
  package func failed(_ error: any Error, logger: Logger) {
    // This is no outage: the process is stopping, or the caller has stopped waiting.
    if let code = (error as? PostgresError)?.code, [.cancelled, .shutDown].contains(code) { return }
    if error is CancellationError { return }
    let now = now()
    let line = memory.withLock { memory -> (isFirst: Bool, outage: Outage)? in
      var outage = memory.outage ?? Outage(began: now)
      outage.attempts += 1
      memory.outage = outage
      if let last = memory.lastLine, now - last < Self.interval { return nil }
      defer { (memory.lastLine, memory.isReported) = (now, true) }
      return (!memory.isReported, outage)
    }
    guard let line else { return }
    var metadata: Logger.Metadata = ["error": "\(Self.text(error))"]
    if line.isFirst {
      logger.warning("no connection to PostgreSQL", metadata: metadata)
    } else {
      metadata["seconds"] = "\((now - line.outage.began).components.seconds)"
      metadata["attempts"] = "\(line.outage.attempts)"
      logger.warning("still no connection to PostgreSQL", metadata: metadata)
    }
  }

  /// Records that a connection was made, and logs the end of an outage that was logged.
  package func succeeded(logger: Logger) {
    let now = now()
    let ended = memory.withLock { memory -> Outage? in
      guard let outage = memory.outage.take(), memory.isReported else { return nil }
      memory.isReported = false
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
