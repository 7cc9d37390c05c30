package import Logging
package import PostgresClient
import Synchronization

/// The access layer for news in PostgreSQL. It returns values of `News` and has no knowledge of HTTP.
///
/// The operations are in one extension file per resource, such as `NewsStore+Items.swift`. Errors are `StoreError`.
/// Internal faults and other database errors keep their own types and are for the log only.
public final class NewsStore: Sendable {
  let database: Database
  /// The pool of one connection for state queries, which readers and writers cannot occupy.
  let stateDatabase: Database
  /// The pool of one connection for the schedule.
  let scheduleDatabase: Database
  /// The pool for the outbox and for pushes, so that deliveries and readers do not wait for each other's connections.
  let deliveryDatabase: Database
  /// The names of all time zones; nil before the first check of a registration.
  let timeZones = Mutex<Set<String>?>(nil)
  /// The number of devices, with those that this process has added or removed since it was read.
  let deviceCount = Mutex<DeviceCount?>(nil)
  let deliveries = Mutex(StoreDeliveries())
  let scheduleCounts = Mutex(ScheduleCounts())
  let pollCounts = Mutex(StorePolls())
  /// The requests to and from WebSub hubs.
  public let hubActivity = HubActivity()
  /// The requests to webhooks.
  public let webhookActivity = WebhookActivity()
  let replica: ReadReplica?
  let epochGuard: EpochGuard
  let schema: SchemaGuard
  let writeHealth: WriteHealth
  package let stateCache: FeedStateCache
  let listener: PostgresListener
  /// The maximum time for which responses come from memory while the database does not answer. It counts from the first
  /// unanswered query.
  public let staleLimit: Duration
  /// The value of `pollInterval` in seconds; 0 before it is known.
  let interval = Atomic<Int>(0)
  let keyLookups: SecretLookups<String, StoredKey>
  let strangers: StrangerQueries
  let keyUses = KeyUses()
  /// The writes of items, which share transactions.
  let itemWrites: GroupQueue<ItemWrite, WrittenItem>
  let writeContext: WriteGroup.Context
  let runningRequests: RunningRequests
  /// The number of items that were written by imports.
  let importedEntries = Atomic(0)
  /// The JSON of items in memory.
  package let fragments: Fragments
  let waitLimits: WaitLimits
  /// The key with which the passwords of feeds are stored; nil if none can be.
  let passwordKey: FeedPasswordKey?
  /// The versions of `at` tokens that readers wait for.
  let versionWaits = Mutex<[FeedVersion: SharedTask<Result<FeedSnapshot, any Error>>]>([:])
  let logger: Logger

  /// Creates a store. Connections are opened on demand.
  ///
  /// Each new connection confirms the epoch before its first query. After a restore, after a promotion or in a clone it
  /// begins a new epoch.
  ///
  /// - Parameters:
  ///   - connection: The database. Connections without the required schema (`Migration.required`) are refused.
  ///   - standby: One or more standbys of the database, for reads that are not in memory; nil for none.
  ///   - pool: The maximum number of connections and the limits of the wait for one. Three more connections are opened:
  ///     one to listen, one for state queries, and one for the schedule; a process that delivers opens four further ones.
  ///   - staleLimit: The maximum time for which responses come from memory while the database does not answer; zero
  ///     disables them.
  ///   - fragmentBudget: The approximate memory for the JSON of items, in bytes; 0 to keep none.
  ///   - requiresDurability: Whether to refuse connections whose settings may lose an acknowledged write in a crash.
  ///   - waitLimits: The limits of waits for `at` tokens.
  ///   - keyLifetime: The time for which a key is remembered, while `follow()` hears of revocations.
  ///   - logger: Receives reports of connections gained and lost.
  package init(
    connection: PostgresConfiguration, standby: PostgresConfiguration? = nil,
    pool: PostgresPoolConfiguration = PostgresPoolConfiguration(), staleLimit: Duration = .seconds(60),
    fragmentBudget: Int = 32 << 20, requiresDurability: Bool = false, waits waitLimits: WaitLimits = WaitLimits(),
    keyLifetime: Duration = .seconds(1), passwordKey: FeedPasswordKey? = nil, logger: Logger
  ) {
    self.waitLimits = waitLimits
    self.passwordKey = passwordKey
    let (epochGuard, schema, writeHealth) = (EpochGuard(), SchemaGuard(), WriteHealth(logger: logger))
    (self.epochGuard, self.schema, self.writeHealth) = (epochGuard, schema, writeHealth)
    self.logger = logger
    let prepare: @Sendable (PostgresConnection) async throws -> Void = { connection in
      if requiresDurability { try await connection.requireDurability() }
      try await schema.confirm(through: connection)
      try await epochGuard.confirm(through: connection, logger: logger)
      writeHealth.recordConnection()
    }
    func makeDatabase(connections: Int? = nil) -> Database {
      var pool = pool
      pool.size = connections ?? pool.size
      let leased = PostgresPool(configuration: connection, pool: pool, logger: logger, onConnect: prepare)
      return Database(pool: leased, writes: writeHealth)
    }
    let database = makeDatabase()
    self.database = database
    keyLookups = SecretLookups(lifetime: keyLifetime, unchangedTime: \.unchangedTime) { ids in
      try await database.keys(ids)
    }
    strangers = StrangerQueries(database, pool)
    let stateDatabase = makeDatabase(connections: 1)
    self.stateDatabase = stateDatabase
    scheduleDatabase = makeDatabase(connections: 1)
    deliveryDatabase = makeDatabase(connections: Self.deliveryConnections)
    replica = standby.map { ReadReplica(connection: $0, pool: pool, logger: logger) }
    self.staleLimit = staleLimit
    let fragments = Fragments(budget: fragmentBudget)
    self.fragments = fragments
    let stateCache = FeedStateCache { request in
      let answer = try await stateDatabase.state(request, epochGuard: epochGuard, logger: logger)
      if await !fragments.readAhead(answer, from: database) {
        // If the database is gone, the earlier state is better: all that it needs is in memory.
        _ = try await stateDatabase.query("SELECT 1")
      }
      return answer.state
    }
    self.stateCache = stateCache
    writeContext = WriteGroup.Context(
      database: database, resolutionTime: pool.acquireTimeout, lostCommits: LostCommits()
    ) { commit, items in
      guard epochGuard.note(commit) else { return }
      fragments.insert(committed: items, epoch: commit.epoch)
      stateCache.apply(commit)
    }
    itemWrites = .writes(in: writeContext, pool)
    runningRequests = RunningRequests(pool)
    epochGuard.onNewEpoch { epoch in stateCache.enter(epoch) }
    listener = PostgresListener(configuration: connection, logger: logger)
  }

  /// The number of connections for deliveries: one for each provider, and one for the outbox and the fan-out.
  private static let deliveryConnections = 4

  /// Waits for running operations, then closes the connections.
  public func shutdown() async {
    await database.pool.shutdown()
    await stateDatabase.pool.shutdown()
    await scheduleDatabase.pool.shutdown()
    await deliveryDatabase.pool.shutdown()
    await replica?.shutdown()
  }
}
