import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport

/// Two servers over one database; every process can be killed. Two PostgreSQL servers alternate as the primary.
actor TortureSystem {
  let ledger = Ledger()
  let writerGate = WriterGate()
  /// An editor's key.
  nonisolated let key: String
  /// A pool for plain SQL on the current primary.
  nonisolated let sql: PostgresPool
  /// Clients of the servers, running or not.
  nonisolated let servers: [TestClient]
  /// Clients for readers: the servers and the proxy in front of them.
  nonisolated let readers: [TestClient]
  /// A client of the caching proxy, if there is one.
  nonisolated let cache: TestClient?

  private var isWriting = true
  /// The number of inspections, in which all followers must match the table.
  private(set) var inspections = 0
  private let followers: Int
  private var following = 0

  private let url: String
  /// The TLS proxy of the first server's database connection, which writes records of 16 KiB.
  private let tls: TLSProxy
  /// The URL of the standby for reads; nil if there is none.
  private let standbyURL: String?
  private var clusters: [TestCluster]
  private var processes: [ChildProcess]
  /// The ports of the servers on loopback.
  nonisolated let ports: [Int]
  private let proxy: Proxy?

  private static let settings = [
    "fsync=off", "full_page_writes=off", "wal_keep_size=1GB", "wal_retrieve_retry_interval=100ms",
    "max_connections=300",
  ]

  /// Runs the body on a system with the schema and the topics, changed by a mutation of the database.
  static func with<Value: Sendable>(
    topics: [String], mutation: Mutation? = nil, followers: Int, withProxy: Bool,
    withStandby: Bool = false, _ body: @Sendable (TortureSystem) async throws -> Value
  ) async throws -> Value {
    let clusters = [try await TestCluster(settings: settings), try await TestCluster.reserve()]
    do {
      let url = try await databaseURL(clusters)
      try await prepare(url, on: clusters[0], topics: topics, mutation: mutation)
      var standbyURL: String?
      if withStandby {
        try await clusters[1].becomeStandby(of: clusters[0])
        standbyURL = try await databaseURL([clusters[1]], role: "any")
      }
      let system = try await TortureSystem(
        clusters, url: url, standbyURL: standbyURL, followers: followers, withProxy: withProxy)
      return try await withResource(system, release: { await $0.end() }, body)
    } catch {
      for cluster in clusters { try? await cluster.remove() }
      throw error
    }
  }

  /// libpq connects to the current primary of the two (PostgreSQL, chapter 34.1.1.3).
  private static func databaseURL(_ clusters: [TestCluster], role: String = "read-write") async throws -> String {
    var hosts: [String] = []
    for cluster in clusters { hosts.append("127.0.0.1:\(try port(of: await cluster.url))") }
    return "postgresql://tidings@\(hosts.joined(separator: ","))/news?target_session_attrs=\(role)"
  }

  /// The primary through the proxy, which is given the primary's port: libpq tries no other host after a TLS failure.
  private static func url(through proxy: TLSProxy) -> String {
    "postgresql://tidings@127.0.0.1:\(proxy.port)/news?target_session_attrs=read-write&sslmode=require"
  }

  private static func port(of url: String) throws -> Int {
    guard let port = URLComponents(string: url)?.port else {
      throw Ledger.Violation(description: "the cluster's URL is malformed")
    }
    return port
  }

  private static func prepare(
    _ url: String, on cluster: TestCluster, topics: [String], mutation: Mutation?
  ) async throws {
    try await TestDatabase.execute("CREATE DATABASE news", at: await cluster.url)
    _ = try await Migrator(
      configuration: PostgresConfiguration(connectionString: url),
      logger: NewsDatabase.logger
    ).migrate()
    for topic in topics {
      try await TestDatabase.execute(
        "INSERT INTO scopes (scope) VALUES ('\(topic)'); INSERT INTO topics (slug) VALUES ('\(topic)')", at: url)
    }
    if let mutation { try await TestDatabase.execute(mutation.statements, at: url) }
  }

  private init(
    _ clusters: [TestCluster], url: String, standbyURL: String?, followers: Int, withProxy: Bool
  ) async throws {
    self.clusters = clusters
    self.url = url
    self.standbyURL = standbyURL
    self.followers = followers
    var pool = PostgresPoolConfiguration()
    pool.size = 16
    sql = PostgresPool(
      configuration: PostgresConfiguration(connectionString: url), pool: pool, logger: NewsDatabase.logger)
    let store = NewsStore(connection: PostgresConfiguration(connectionString: url), logger: NewsDatabase.logger)
    key = try await store.createKey(name: "desk", permissions: [.itemsPublish])
    await store.shutdown()
    tls = try await TLSProxy(serverPort: Self.port(of: await clusters[0].url))
    var running: [RunningServer] = []
    do {
      for url in [Self.url(through: tls), url] { running.append(try await Self.start(url, standbyURL, port: 0)) }
      proxy = withProxy ? try await Proxy(servers: running.map(\.port)) : nil
    } catch {
      for server in running { server.process.send(SIGKILL) }
      await tls.end()
      await sql.shutdown()
      throw error
    }
    processes = running.map(\.process)
    ports = running.map(\.port)
    servers = running.map(\.client)
    cache = proxy?.client
    readers = servers + [cache].compactMap(\.self)
  }

  private func end() async {
    for process in processes {
      process.send(SIGKILL)
      _ = await process.result()
    }
    await proxy?.end()
    await tls.end()
    await sql.shutdown()
    for cluster in clusters { try? await cluster.remove() }
  }

  /// Whether writers are still active.
  ///
  /// - Throws: `CancellationError` once another task has failed. Clients ignore most errors, and would otherwise never
  ///   stop.
  func isRunning() throws -> Bool {
    try Task.checkCancellation()
    return isWriting
  }

  func finishWriting() { isWriting = false }

  /// Holds writers until each follower matches the table. Otherwise a missing change could stay undetected, because a
  /// follower starts again after a restore.
  func inspect() async throws {
    try await writerGate.hold {
      let end = ContinuousClock.now + .seconds(90)
      await self.beginInspection()
      while await !self.isInspected {
        guard ContinuousClock.now < end else {
          throw Ledger.Violation(description: "not all followers reached the current version")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  private func beginInspection() {
    inspections += 1
    following = 0
  }

  private var isInspected: Bool { following == followers }

  /// Reports that one more follower matches the table.
  func follow() { following += 1 }

  /// Returns the published items of a scope with the version of the feed, once the database responds.
  func published(in topics: [String]) async throws -> (rows: [PostgresRow], version: Int) {
    var rows: [PostgresRow] = []
    try await retry("the database answers") {
      rows = Array(
        try await self.sql.query(
          """
          SELECT s.version, i.id, i.text, i.title, i.topics, i.date
          FROM scopes s
          LEFT JOIN items i ON i.state = 'published' AND (i.topics && \(topics) OR \(topics.isEmpty))
          WHERE s.scope = ''
          """))
    }
    guard let version: Int = try rows.first?.decode("version") else {
      throw Ledger.Violation(description: "the feed has no version")
    }
    return (try rows.filter { try $0.decode("id", as: UUID?.self) != nil }, version)
  }

  private static func start(_ url: String, _ standbyURL: String?, port: Int) async throws -> RunningServer {
    var environment = ChildProcess.environment(databaseURL: url)
    environment["DATABASE_READ_URL"] = standbyURL
    let process = try ChildProcess(["serve", "--port", "\(port)"], environment: environment)
    let server = try await RunningServer(process)
    Task {
      // The client receives only a generic message for a server error, so the log line is printed.
      for await line in process.errorLines where line.contains(#""level":"error""#) { print("a server: \(line)") }
    }
    return server
  }
}

// MARK: Faults

extension TortureSystem {
  /// Ends a server and starts it again on the same port.
  func restartServer(_ index: Int, by signal: Int32) async throws {
    processes[index].send(signal)
    let result = await processes[index].result()
    guard signal == SIGKILL || result.status == 0 else {
      throw Ledger.Violation(description: "a server ended with \(result.status): \(result.errors)")
    }
    // The server does not start without a database.
    try await retry("a server starts") {
      let url = index == 0 ? Self.url(through: self.tls) : self.url
      self.processes[index] = try await Self.start(url, self.standbyURL, port: self.ports[index]).process
    }
  }

  /// Suspends a server, as a busy machine would.
  func pauseServer(_ index: Int, for duration: Duration) async throws {
    processes[index].send(SIGSTOP)
    try await Task.sleep(for: duration)
    processes[index].send(SIGCONT)
  }

  func killDatabase() async throws {
    try await clusters[0].kill()
    try await clusters[0].start()
  }

  func restartDatabase() async throws {
    try await clusters[0].restart()
  }

  /// Purges all removals from the log; does nothing if the database is unreachable.
  func purge() async {
    while let rows = try? await sql.query("SELECT purge_log('0 s') AS forgotten"),
      (try? rows.first?.decode("forgotten", as: Int.self)) ?? 0 > 0
    {}
  }

  /// Pauses replay, so that the standby falls behind.
  func pauseReplay(for duration: Duration) async throws {
    guard let standbyURL else { return }
    try await TestDatabase.execute("SELECT pg_wal_replay_pause()", at: standbyURL)
    try await Task.sleep(for: duration)
    try await TestDatabase.execute("SELECT pg_wal_replay_resume()", at: standbyURL)
  }

  /// Ends all sessions, including those that listen.
  func dropConnections() async throws {
    try await retry("sessions are ended") {
      _ = try await self.sql.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'news' AND pid <> pg_backend_pid()")
    }
  }

  /// Restores the database to an earlier point, after readers have seen later changes.
  func restore(after duration: Duration) async throws {
    let point = "torture"
    let contents = try await writerGate.hold {
      try await self.waitForTransactions()
      try await self.clusters[0].backup()
      try await self.retry("a restore point is made") {
        _ = try await self.sql.query("SELECT pg_create_restore_point(\(point))")
      }
      return await self.ledger.contents
    }
    try await Task.sleep(for: duration)
    try await writerGate.hold {
      try await self.clusters[0].restore(to: point)
      await self.ledger.restore(contents)
    }
  }

  /// Kills the primary and promotes a synchronous standby.
  func failOver(after duration: Duration) async throws {
    try await clusters[1].becomeStandby(of: clusters[0])
    try await retry("the standby is synchronous") {
      _ = try await self.sql.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      _ = try await self.sql.query("SELECT pg_reload_conf()")
    }
    try await retry("the standby follows") {
      let rows = try await self.sql.query("SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')")
      if rows.isEmpty { throw Ledger.Violation(description: "not yet") }
    }
    try await Task.sleep(for: duration)
    try await clusters[0].kill()
    try await clusters[1].promote()
    tls.serverPort = try Self.port(of: await clusters[1].url)
    try await clusters[0].clear()
    clusters.swapAt(0, 1)
  }

  /// Replaces the database with an earlier copy in the same cluster.
  func replaceDatabase(after duration: Duration) async throws {
    let maintenance = await clusters[0].url
    let contents = try await writerGate.hold {
      try await self.waitForTransactions()
      try await self.clusters[0].copyDatabase("news", to: "earlier")
      return await self.ledger.contents
    }
    try await Task.sleep(for: duration)
    try await writerGate.hold {
      try await TestDatabase.execute("ALTER DATABASE news ALLOW_CONNECTIONS false", at: maintenance)
      try await TestDatabase.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'news'", at: maintenance)
      try await TestDatabase.execute("DROP DATABASE news WITH (FORCE)", at: maintenance)
      try await TestDatabase.execute("ALTER DATABASE earlier RENAME TO news", at: maintenance)
      await self.ledger.restore(contents)
    }
  }

  /// Replaces the database with an earlier copy in another cluster.
  func moveDatabase(after duration: Duration) async throws {
    let contents = try await writerGate.hold {
      try await self.waitForTransactions()
      try await self.clusters[1].start(settings: Self.settings)
      try await self.clusters[0].copyDatabase("news", to: "news", in: self.clusters[1])
      // While two databases exist, no client may find the wrong one.
      try await self.clusters[1].stop()
      return await self.ledger.contents
    }
    try await Task.sleep(for: duration)
    try await writerGate.hold {
      try await self.clusters[0].clear()
      try await self.clusters[1].start()
      self.tls.serverPort = try Self.port(of: await self.clusters[1].url)
      await self.ledger.restore(contents)
    }
    clusters.swapAt(0, 1)
  }

  /// Waits for interrupted transactions, which may still be running.
  private func waitForTransactions() async throws {
    try await retry("all transactions end") {
      let rows = try await self.sql.query(
        """
        SELECT 1 FROM pg_stat_activity
        WHERE datname = 'news' AND state <> 'idle' AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
        """)
      if !rows.isEmpty { throw Ledger.Violation(description: "not yet") }
    }
  }

  func retry(_ what: String, _ body: () async throws -> Void) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        return try await body()
      } catch {
        guard ContinuousClock.now < end else { throw Ledger.Violation(description: "never: \(what): \(error)") }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
