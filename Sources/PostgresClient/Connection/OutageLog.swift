package import Logging
import Synchronization

/// Logs the beginning and the end of an outage of the server, or of one of its services, without an entry for each attempt.
///
/// All connections to one server share it: pools and listeners copy it with their configuration.
package final class OutageLog: Sendable {
  private struct Outage {
    var began: ContinuousClock.Instant
    var attempts = 0
  }

  private struct State {
    /// The current outage; nil while attempts succeed.
    var outage: Outage?
    /// The time of the last log entry about a failure; nil before the first.
    var lastEntry: ContinuousClock.Instant?
    /// Whether the outage has been logged, so that its end is logged too.
    var isLogged = false
  }

  /// The messages about the beginning, the duration and the end of an outage.
  package struct Messages: Sendable {
    var level: Logger.Level
    var began: Logger.Message
    var lasts: Logger.Message
    var ended: Logger.Message

    package init(level: Logger.Level, began: Logger.Message, lasts: Logger.Message, ended: Logger.Message) {
      (self.level, self.began, self.lasts, self.ended) = (level, began, lasts, ended)
    }

    /// An outage in which no connection can be made.
    package static let connections = Messages(
      level: .warning, began: "no connection to PostgreSQL", lasts: "still no connection to PostgreSQL",
      ended: "connected to PostgreSQL again")
  }

  /// The minimum time between two log entries about failures.
  private static let minimumInterval: Duration = .seconds(60)

  private let state = Mutex(State())
  private let messages: Messages
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(
    _ messages: Messages = .connections, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.messages = messages
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
      logger.log(level: messages.level, messages.began, metadata: metadata)
    } else {
      metadata["seconds"] = "\((now - entry.outage.began).components.seconds)"
      metadata["attempts"] = "\(entry.outage.attempts)"
      logger.log(level: messages.level, messages.lasts, metadata: metadata)
    }
  }

  /// Records that an attempt has succeeded, and logs the end of an outage that was logged.
  package func recordSuccess(logger: Logger) {
    let now = now()
    let ended = state.withLock { state -> Outage? in
      guard let outage = state.outage.take(), state.isLogged else { return nil }
      state.isLogged = false
      return outage
    }
    guard let ended else { return }
    logger.notice(
      messages.ended,
      metadata: [
        "seconds": "\((now - ended.began).components.seconds)", "attempts": "\(ended.attempts)",
      ])
  }

  private static func text(_ error: any Error) -> String {
    guard let error = error as? PostgresError else { return "\(error)" }
    return [error.explanation, error.advice].compactMap { $0 }.joined(separator: ". ")
  }
}
