public import Logging
public import PostgresClient
import Synchronization

/// Every statement about news. It knows no HTTP, and what it gives out are values of `News`.
///
/// Each public operation is a file of its own, named after its resource. Errors are `StoreError`, save for faults of
/// ours or the database's, which stay what they are and are for the log only.
public final class NewsStore: Sendable {
  let database: Database
  let seen: SeenVersion
  let logger: Logger

  /// Makes a store; connections are opened when they are needed. Each of them confirms the epoch before it answers
  /// anything: after a restore, a promotion or in a clone it begins a new one.
  ///
  /// - Parameters:
  ///   - connection: How to reach the database; its schema must be current (`Migrator`).
  ///   - pool: How many connections to keep, and how long to wait for one.
  ///   - logger: Where the pool reports connections gained and lost.
  public init(
    connection: PostgresConfiguration, pool: PostgresPoolConfiguration = PostgresPoolConfiguration(), logger: Logger
  ) {
    let seen = SeenVersion()
    self.seen = seen
    self.logger = logger
    database = Database(
      pool: PostgresPool(configuration: connection, pool: pool, logger: logger) { connection in
        try await seen.confirm(through: connection, logger: logger)
      })
  }

  /// Waits for operations under way, then closes the connections.
  public func shutdown() async {
    await database.pool.shutdown()
  }

  /// Whether the database answers.
  ///
  /// - Throws: `StoreError.unavailable`.
  public func ping() async throws {
    _ = try await database.query("SELECT 1")
  }

  /// Whether an acknowledged write survives a crash with the database's present settings (PostgreSQL, chapter 30.3
  /// and `fsync` in 20.5).
  ///
  /// - Returns: The setting that stands in the way, nil if there is none.
  public func unsafeDurabilitySetting() async throws -> String? {
    let rows = try await database.query(
      """
      SELECT name || ' = ' || setting AS found FROM pg_settings
      WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name
      """)
    return try rows.first?.decode("found")
  }
}

/// The highest version this process has seen of the epoch it has last seen.
///
/// A counter below it means that the database was put back to an earlier state while we ran.
final class SeenVersion: Sendable {
  private let state = Mutex<(epoch: String, version: Int)?>(nil)

  /// Takes note of a version; an older one of the same epoch changes nothing.
  func note(epoch: String, version: Int) {
    state.withLock { state in
      if let known = state, known.epoch == epoch, known.version >= version { return }
      state = (epoch, version)
    }
  }

  /// Whether the counter was rewound, as far as one snapshot can tell: it may also be older than what was seen.
  func isRewound(epoch: String, version: Int) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == epoch else { return false }
      return version < known.version
    }
  }

  /// Whether another epoch has been seen since.
  func hasLeft(epoch: String) -> Bool {
    state.withLock { $0.map { $0.epoch != epoch } ?? false }
  }

  /// Looks whether the database still has the history of its epoch, and begins a new epoch if it has not.
  func confirm(through connection: PostgresConnection, logger: Logger) async throws {
    let known = state.withLock { $0 }
    let rows = try await connection.query(
      "SELECT epoch, version FROM confirm_epoch(\(known?.epoch), \(known?.version ?? 0))")
    guard let row = rows.first else { return }
    let epoch: String = try row.decode("epoch")
    if let known, known.epoch != epoch {
      logger.notice("the database has a new epoch", metadata: ["epoch": "\(epoch)", "before": "\(known.epoch)"])
    }
    note(epoch: epoch, version: try row.decode("version"))
  }
}
