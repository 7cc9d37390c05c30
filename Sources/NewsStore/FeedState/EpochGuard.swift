import Logging
import PostgresClient
import Synchronization

/// The latest epoch that this process has seen, and the highest version of it.
///
/// A counter below that version means that the database was reset to an earlier state while the process ran.
final class EpochGuard: Sendable {
  /// `since` is the time at which the epoch was first seen.
  private let state = Mutex<(epoch: String, version: Int, since: ContinuousClock.Instant)?>(nil)
  private let observer = Mutex<(@Sendable (_ epoch: String) -> Void)?>(nil)

  /// The latest epoch that this process has seen; nil before the first connection.
  var epoch: String? { state.withLock { $0?.epoch } }

  /// The latest epoch and version that the primary has returned; nil before the first connection.
  var feedVersion: FeedVersion? { state.withLock { $0.map { FeedVersion(epoch: $0.epoch, version: $0.version) } } }

  /// Sets the observer of new epochs. It is called before any data of a new epoch is returned.
  func onNewEpoch(_ observer: @escaping @Sendable (_ epoch: String) -> Void) {
    self.observer.withLock { $0 = observer }
  }

  /// Records a version. A lower version of the same epoch has no effect.
  ///
  /// - Parameter began: The time at which the read began.
  /// - Returns: false for a different epoch that was read before the current one became known.
  private func note(epoch: String, version: Int, readAfter began: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == epoch else {
        if let known = state, began < known.since { return false }
        state = (epoch, version, .now)
        // Called under the lock, so that the observer receives epochs in order.
        observer.withLock { $0 }?(epoch)
        return true
      }
      state?.version = max(known.version, version)
      return true
    }
  }

  /// Records the version of a commit of this process.
  ///
  /// - Returns: false for another epoch than the current one.
  func note(_ commit: OwnCommit) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == commit.epoch else { return false }
      state?.version = max(known.version, commit.version)
      return true
    }
  }

  /// Whether the counter of a snapshot is below the highest version seen. The snapshot may merely be older.
  private func isRewound(epoch: String, version: Int) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == epoch else { return false }
      return version < known.version
    }
  }

  /// Compares the epoch and version of a snapshot with those that this process has seen.
  ///
  /// - Parameter began: The time at which the read began.
  /// - Returns: false if the history was rewound during the read and a new epoch has begun. The caller reads again.
  func confirm(
    epoch: String, version: Int, readAfter began: ContinuousClock.Instant, through database: Database, logger: Logger
  ) async throws -> Bool {
    guard isRewound(epoch: epoch, version: version) else {
      return note(epoch: epoch, version: version, readAfter: began)
    }
    // Another reader's snapshot may merely be newer than this one. The current state of the database decides.
    try await database.withConnection { connection in try await self.confirm(through: connection, logger: logger) }
    return !hasLeft(epoch: epoch)
  }

  /// Whether this process has since seen a different epoch.
  private func hasLeft(epoch: String) -> Bool {
    state.withLock { $0.map { $0.epoch != epoch } ?? false }
  }

  /// Checks whether the database still has the history of its epoch, and begins a new epoch if not.
  func confirm(through connection: PostgresConnection, logger: Logger) async throws {
    let known = state.withLock { $0 }
    let began = ContinuousClock.now
    let rows = try await connection.query(
      "SELECT epoch, version FROM confirm_epoch(\(known?.epoch), \(known?.version ?? 0))")
    guard let row = rows.first else { return }
    let epoch: String = try row.decode("epoch")
    if let known, known.epoch != epoch {
      logger.notice("the database has a new epoch", metadata: ["epoch": "\(epoch)", "before": "\(known.epoch)"])
    }
    _ = note(epoch: epoch, version: try row.decode("version"), readAfter: began)
  }
}
