import Crypto
import Foundation
package import Logging
package import NewsStore
package import PostgresClient
import TestKit

/// Databases with the schema of news.
package enum NewsDatabase {
  /// A logger that prints errors only: the cause of a 500 is logged and not part of the response.
  package static let logger: Logger = {
    var logger = Logger(label: "test", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = .error
    return logger
  }()

  /// The template database with the schema, one per cluster, which is copied for each test. The first process that
  /// needs it creates it under a lock of the cluster; its name contains a digest of the migrations.
  private static let template = Task {
    let digest = Migration.required.map(\.checksum).reduce(into: SHA256()) { $0.update(data: $1) }.finalize()
    let name = "template_" + digest.prefix(8).map { String($0, radix: 16) }.joined()
    let server = PostgresConfiguration.forBusyMachine(try TestCluster.sharedURL)
    try await PostgresConnection.with(configuration: server, logger: logger) { connection in
      _ = try await connection.query("SELECT pg_advisory_lock(hashtext(\(name)))")
      let found = try await connection.query("SELECT 1 FROM pg_database WHERE datname = \(name)")
      guard found.isEmpty else { return }
      let database = try await TestDatabase.create()
      _ = try await Migrator(configuration: .forBusyMachine(database.url), logger: logger).migrate()
      try await connection.execute(script: "ALTER DATABASE \(database.name) RENAME TO \(name)")
    }
    return name
  }

  /// Makes an empty database look like one that a version before 1.0 has migrated.
  ///
  /// - Parameter names: The applied migrations.
  package static func notePrereleaseMigrations(_ names: [String], _ url: String) async throws {
    try await PostgresConnection.with(configuration: .forBusyMachine(url), logger: logger) { connection in
      try await connection.execute(
        script: """
          CREATE TABLE schema_migrations (
            number integer PRIMARY KEY,
            name text NOT NULL,
            checksum bytea NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
          )
          """)
      _ = try await connection.query(
        """
        INSERT INTO schema_migrations (number, name, checksum)
        SELECT n, name, sha256(name::bytea) FROM unnest(\(names)) WITH ORDINALITY AS m (name, n)
        """)
    }
  }

  /// Limits the number of concurrent tests, because their servers and pools must not exhaust the connections.
  private static let gate = Gate(width: 16)

  /// Runs the body with the URL of a new database that has the schema.
  package static func with<Value: Sendable>(
    _ body: @Sendable (_ url: String) async throws -> Value
  ) async throws -> Value {
    await gate.enter()
    return try await withResource(gate, release: { await $0.leave() }) { _ in
      try await withTestDatabase(template: try await template.value, body)
    }
  }

  /// A key for the passwords of feeds.
  package static let passwordKey = "tVhuTnmqFDBNsW6JrLNkHdFFUUHBzzMbDyMuWLYcnkI="

  /// Runs the body with a store over a new database and a separate pool for plain SQL.
  package static func withStore<Value: Sendable>(
    staleLimit: Duration = .seconds(60), waits: NewsStore.WaitLimits = NewsStore.WaitLimits(),
    _ body: @Sendable (_ store: NewsStore, _ sql: PostgresPool) async throws -> Value
  ) async throws -> Value {
    try await with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let store = NewsStore(
        connection: connection, pool: .forBusyMachine, staleLimit: staleLimit, waits: waits,
        passwordKey: FeedPasswordKey(passwordKey), logger: logger)
      let sql = PostgresPool(configuration: connection, pool: .forBusyMachine, logger: logger)
      return try await withResource(store, release: { await $0.shutdown() }) { store in
        try await withResource(sql, release: { await $0.shutdown() }) { try await body(store, $0) }
      }
    }
  }
}

/// A semaphore that admits tasks in the order of their arrival.
private actor Gate {
  private var free: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(width: Int) {
    free = width
  }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  func leave() {
    if waiters.isEmpty {
      free += 1
    } else {
      waiters.removeFirst().resume()
    }
  }
}
