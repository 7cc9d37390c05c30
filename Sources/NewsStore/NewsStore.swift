public import Logging
public import PostgresClient
import Synchronization

/// Every statement about news. It knows no HTTP, and what it gives out are values of `News`.
///
/// Each public operation is a file of its own, named after its resource. Errors are `StoreError`, save for faults of
/// ours or the database's, which stay what they are and are for the log only.
public final class NewsStore: Sendable {
  let database: Database
  /// One connection for the queries of the state, which no reader or writer can keep busy.
  let stateDatabase: Database
  let standby: Standby?
  let seen: SeenVersion
  let schema: SchemaGuard
  package let keeper: StateKeeper
  let listener: PostgresListener
  /// How long answers are given from memory while the database does not answer, counted from the first query that it
  /// did not answer.
  public let staleLimit: Duration
  /// What `pollInterval` is, 0 before it is known.
  let interval = Atomic<Int>(0)
  let keyLookups: KeyLookups<StoredKey>
  let waitLimits: WaitLimits
  /// How many readers wait for `at` tokens.
  let waits = Atomic<Int>(0)
  let logger: Logger

  /// Makes a store; connections are opened when they are needed. Each of them confirms the epoch before it answers
  /// anything: after a restore, a promotion or in a clone it begins a new one.
  ///
  /// - Parameters:
  ///   - connection: How to reach the database; a connection without the required schema (`Migration.required`) is not
  ///     used.
  ///   - standby: How to reach one or more standbys of it, for reads that are not in memory; nil for none.
  ///   - pool: How many connections to keep, and how long to wait for one. Two more are made: to listen, and for the
  ///     queries of the state.
  ///   - staleLimit: How long answers are given from memory while the database does not answer; zero for not at all.
  ///   - requiresDurability: Whether connections are refused in which an acknowledged write may not survive a crash.
  ///   - logger: Where the pool reports connections gained and lost.
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

  /// Waits for operations under way, then closes the connections.
  public func shutdown() async {
    await database.pool.shutdown()
    await stateDatabase.pool.shutdown()
    await standby?.shutdown()
  }
}

/// The highest version this process has seen of the epoch it has last seen.
///
/// A counter below it means that the database was put back to an earlier state while we ran.
final class SeenVersion: Sendable {
  /// `since` is when the epoch was first seen.
  private let state = Mutex<(epoch: String, version: Int, since: ContinuousClock.Instant)?>(nil)
  private let observer = Mutex<(@Sendable (_ epoch: String) -> Void)?>(nil)

  /// The epoch of the present, as far as this process has seen; nil before the first connection.
  var epoch: String? { state.withLock { $0?.epoch } }

  /// What the primary has shown of the present; nil before the first connection.
  var moment: Moment? { state.withLock { $0.map { Moment(epoch: $0.epoch, version: $0.version) } } }

  /// Calls a closure with each epoch, before anything that was read in it is given out.
  func tellNewEpochs(to observer: @escaping @Sendable (_ epoch: String) -> Void) {
    self.observer.withLock { $0 = observer }
  }

  /// Takes note of a version; an older one of the same epoch changes nothing.
  ///
  /// - Parameter began: When the reading began.
  /// - Returns: false for another epoch than that of the present, read before the present one was known.
  private func note(epoch: String, version: Int, readAfter began: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == epoch else {
        if let known = state, began < known.since { return false }
        state = (epoch, version, .now)
        // In here, so that of two epochs the observer hears of the later one last.
        observer.withLock { $0 }?(epoch)
        return true
      }
      state?.version = max(known.version, version)
      return true
    }
  }

  /// Whether the counter was rewound, as far as one snapshot can tell: it may also be older than what was seen.
  private func isRewound(epoch: String, version: Int) -> Bool {
    state.withLock { state in
      guard let known = state, known.epoch == epoch else { return false }
      return version < known.version
    }
  }

  /// Compares what one snapshot tells with what this process has seen of the epoch.
  ///
  /// - Parameter began: When the reading began.
  /// - Returns: false if the history was rewound under our feet, and a new epoch has now begun: read again.
  func confirm(
    epoch: String, version: Int, readAfter began: ContinuousClock.Instant, through database: Database, logger: Logger
  ) async throws -> Bool {
    guard isRewound(epoch: epoch, version: version) else {
      return note(epoch: epoch, version: version, readAfter: began)
    }
    // Another reader's snapshot may just be younger than this one: the database decides, with a look at the present.
    try await database.withConnection { connection in try await self.confirm(through: connection, logger: logger) }
    return !hasLeft(epoch: epoch)
  }

  /// Whether another epoch has been seen since.
  private func hasLeft(epoch: String) -> Bool {
    state.withLock { $0.map { $0.epoch != epoch } ?? false }
  }

  /// Looks whether the database still has the history of its epoch, and begins a new epoch if it has not.
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
