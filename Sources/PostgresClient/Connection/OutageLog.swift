package import Logging
import Synchronization

/// Reports that the server cannot be reached, and that it can be again, without a line for each attempt.
///
/// All connections to one server share it: pools and listeners copy it with their configuration.
package final class OutageLog: Sendable {
  private struct Outage {
    var began: ContinuousClock.Instant
    var attempts = 0
  }

  private struct Memory {
    /// nil while connections can be made.
    var outage: Outage?
    /// When the last line about a failure was written; nil before the first.
    var lastLine: ContinuousClock.Instant?
    /// Whether the outage has a line, so that its end has one too.
    var isReported = false
  }

  /// The least time between two lines about failures.
  private static let interval: Duration = .seconds(60)

  private let memory = Mutex(Memory())
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// Takes note of a failed attempt: logs the first one of an outage, and then one a minute.
  package func failed(_ error: any Error, logger: Logger) {
    // Nothing failed: the process stops, or nobody waits any more.
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

  /// Takes note of a connection that was made: logs the end of an outage that was logged.
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
