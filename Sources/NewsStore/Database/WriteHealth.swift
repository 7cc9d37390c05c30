package import Logging
package import PostgresClient
import Synchronization

/// Whether the database accepts writes, as the last ones have shown. The log says when this changes.
package final class WriteHealth: Sendable {
  private struct State {
    /// The obstacle of the last write; nil if it had none.
    var obstacle: WriteObstacle?
    /// Whether the server has ended with the obstacle, and no connection was made since.
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let outages: OutageLog
  private let logger: Logger

  package init(logger: Logger) {
    outages = OutageLog(
      .init(
        level: .error, began: "the database accepts no writes", lasts: "the database still accepts no writes",
        ended: "the database accepts writes again"))
    self.logger = logger
  }

  /// The reason for which the database accepts no writes; nil if the last write had none.
  package var obstacle: WriteObstacle? { state.withLock { $0.obstacle } }

  /// The reason for which the database has ended, until it accepts a connection again; nil if it is unknown.
  package var endingObstacle: WriteObstacle? { state.withLock { $0.hasEnded ? $0.obstacle : nil } }

  /// Records the error of a write.
  ///
  /// - Returns: The obstacle; nil if the error is another one.
  @discardableResult
  package func record(_ error: PostgresError) -> WriteObstacle? {
    guard let obstacle = WriteObstacle(error) else { return nil }
    state.withLock { state in
      state.obstacle = obstacle
      state.hasEnded = error.code == .connectionLost || error.code == .commitOutcomeUnknown
    }
    // The log is about the database. Whether the last write was done is for its caller.
    var cause = error
    if cause.code == .commitOutcomeUnknown { cause.code = .connectionLost }
    outages.recordFailure(cause, logger: logger)
    return obstacle
  }

  /// Records a successful write.
  package func recordWrite() {
    state.withLock { $0 = State() }
    outages.recordSuccess(logger: logger)
  }

  /// Records a new connection: the server runs, but may not write.
  package func recordConnection() {
    state.withLock { $0.hasEnded = false }
  }
}

extension NewsStore {
  /// The interval at which the database is asked whether it accepts writes again.
  private static let writeProbeInterval: Duration = .seconds(2)

  /// The reason for which the database accepts no writes, as the last write has shown; nil if it does. Reads may still
  /// work.
  public var writeObstacle: WriteObstacle? { writeHealth.obstacle }

  /// The reason for which the database has ended itself, until a connection is made again; nil if that is unknown.
  public var endingObstacle: WriteObstacle? { writeHealth.endingObstacle }

  /// Asks the database again and again, after it has refused a write, until it accepts one: editors may not write for
  /// hours.
  func keepWriteHealth() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.writeProbeInterval)
      if writeHealth.obstacle != nil { await probeWrites() }
    }
  }

  /// Asks the database whether it accepts writes.
  package func probeWrites() async {
    // Any other error has causes of its own.
    guard (try? await database.withConnection({ try await $0.probeWrites() })) != nil else { return }
    writeHealth.recordWrite()
  }
}
