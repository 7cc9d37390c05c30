public import Logging
public import PostgresClient
import Synchronization

/// The access layer for news in PostgreSQL. It returns values of `News` and has no knowledge of HTTP.
///
/// The operations are in one extension file per resource, such as `NewsStore+Items.swift`. Errors are `StoreError`.
/// Internal faults and other database errors keep their own types and are for the log only.
public final class NewsStore: Sendable {
  let database: Database
  /// The pool of one connection for state queries, which readers and writers cannot occupy.
  let stateDatabase: Database
  let standby: Standby?
  let seen: SeenVersion
  let schema: SchemaGuard
  package let keeper: StateKeeper
  let listener: PostgresListener
  /// The maximum time for which responses come from memory while the database does not answer. It counts from the first
  /// unanswered query.
  public let staleLimit: Duration
  /// The value of `pollInterval` in seconds; 0 before it is known.
  let interval = Atomic<Int>(0)
  let keyLookups: KeyLookups<StoredKey>
  let waitLimits: WaitLimits
  /// The number of readers that wait for `at` tokens.
  let waits = Atomic<Int>(0)
  let logger: Logger

  /// Creates a store. Connections are opened on demand.
  ///
  /// Each new connection confirms the epoch before its first query. After a restore, after a promotion or in a clone it
  /// begins a new epoch.
  ///
  /// - Parameters:
  ///   - connection: The database. Connections without the required schema (`Migration.required`) are refused.
  ///   - standby: One or more standbys of the database, for reads that are not in memory; nil for none.
  ///   - pool: The maximum number of connections and the limits of the wait for one. Two more connections are opened:
  ///     one to listen and one for state queries.
  ///   - staleLimit: The maximum time for which responses come from memory while the database does not answer; zero
  ///     disables them.
  ///   - requiresDurability: Whether to refuse connections whose settings may lose an acknowledged write in a crash.
  ///   - logger: Receives reports of connections gained and lost.
  public convenience init(
    connection: PostgresConfiguration, standby: PostgresConfiguration? = nil,
    pool: PostgresPoolConfiguration = PostgresPoolConfiguration(), staleLimit: Duration = .seconds(60),
    requiresDurability: Bool = false, logger: Logger
  ) {
    self.init(
      connection: connection, standby: standby, pool: pool, staleLimit: staleLimit,
      requiresDurability: requiresDurability, waits: WaitLimits(), logger: logger)
  }

  /// - Parameter waits: The limits of waits for `at` tokens.
  package init(
    connection: PostgresConfiguration, standby: PostgresConfiguration? = nil,
    pool: PostgresPoolConfiguration = PostgresPoolConfiguration(), staleLimit: Duration = .seconds(60),
    requiresDurability: Bool = false, waits waitLimits: WaitLimits, logger: Logger
  ) {
    self.waitLimits = waitLimits
    let (seen, schema) = (SeenVersion(), SchemaGuard())
    self.seen = seen
    self.schema = schema
    self.logger = logger
    let prepare: @Sendable (PostgresConnection) async throws -> Void = { connection in
      if requiresDurability { try await connection.requireDurability() }
      try await schema.confirm(through: connection)
      try await seen.confirm(through: connection, logger: logger)
    }
    let database = Database(
      pool: PostgresPool(configuration: connection, pool: pool, logger: logger, onConnect: prepare))
    self.database = database
    keyLookups = KeyLookups { ids in try await database.keys(ids) }
    var single = pool
    single.size = 1
    let stateDatabase = Database(
      pool: PostgresPool(configuration: connection, pool: single, logger: logger, onConnect: prepare))
    self.stateDatabase = stateDatabase
    self.standby = standby.map { Standby(connection: $0, pool: pool, logger: logger) }
    self.staleLimit = staleLimit
    let keeper = StateKeeper { known in try await stateDatabase.state(after: known, seen: seen, logger: logger) }
    self.keeper = keeper
    seen.tellNewEpochs { epoch in keeper.enter(epoch) }
    listener = PostgresListener(configuration: connection, logger: logger)
  }

  /// Waits for running operations, then closes the connections.
  public func shutdown() async {
    await database.pool.shutdown()
    await stateDatabase.pool.shutdown()
    await standby?.shutdown()
  }
}

/// The latest epoch that this process has seen, and the highest version of it.
///
/// A counter below that version means that the database was reset to an earlier state while the process ran.
final class SeenVersion: Sendable {
  /// `since` is the time at which the epoch was first seen.
  private let state = Mutex<(epoch: String, version: Int, since: ContinuousClock.Instant)?>(nil)
  private let observer = Mutex<(@Sendable (_ epoch: String) -> Void)?>(nil)

  /// The latest epoch that this process has seen; nil before the first connection.
  var epoch: String? { state.withLock { $0?.epoch } }

  /// The latest epoch and version that the primary has returned; nil before the first connection.
  var moment: Moment? { state.withLock { $0.map { Moment(epoch: $0.epoch, version: $0.version) } } }

  /// Sets the observer of new epochs. It is called before any data of a new epoch is returned.
  func tellNewEpochs(to observer: @escaping @Sendable (_ epoch: String) -> Void) {
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
