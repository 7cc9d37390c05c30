import Foundation
import Logging
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Runs the body with a pool on a new database and shuts the pool down afterwards.
func withPool<Result: Sendable>(
  size: Int = 4,
  configure: @Sendable (inout PostgresConfiguration, inout PostgresPoolConfiguration) -> Void = { _, _ in },
  _ body: @Sendable (PostgresPool) async throws -> Result
) async throws -> Result {
  try await withTestDatabase { url in
    try await withPool(url: url, size: size, configure: configure, body)
  }
}

/// Runs the body with a pool on an existing database and shuts the pool down afterwards.
func withPool<Result: Sendable>(
  url: String, size: Int = 4,
  configure: @Sendable (inout PostgresConfiguration, inout PostgresPoolConfiguration) -> Void = { _, _ in },
  _ body: @Sendable (PostgresPool) async throws -> Result
) async throws -> Result {
  var configuration = PostgresConfiguration(connectionString: url)
  var poolConfiguration = PostgresPoolConfiguration()
  poolConfiguration.size = size
  // The machine may be busy with other tests.
  configuration.statementTimeout = .seconds(60)
  configuration.connectTimeout = .seconds(30)
  poolConfiguration.acquireTimeout = .seconds(60)
  configure(&configuration, &poolConfiguration)
  let pool = PostgresPool(configuration: configuration, pool: poolConfiguration, logger: quiet)
  return try await withResource(pool, release: { await $0.shutdown() }, body)
}

/// Returns the error of a body that must fail with a `PostgresError`.
func failure<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> Result
) async throws -> PostgresError {
  do {
    _ = try await body()
  } catch let error as PostgresError {
    return error
  }
  throw Unexpected("no error was thrown", sourceLocation)
}

struct Unexpected: Error, CustomStringConvertible {
  let description: String

  init(_ text: String, _ location: SourceLocation) {
    description = "\(text) (\(location))"
  }
}

extension PostgresPool {
  /// Returns the first column of the first row.
  func value<Value: PostgresDecodable>(_ query: PostgresQuery, as: Value.Type = Value.self) async throws -> Value {
    let rows = try await self.query(query)
    return try #require(rows.first).decode(0)
  }

  /// Cancels a statement while it runs on the server.
  ///
  /// - Returns: The error that its caller receives.
  func cancelWhileRunning(_ statement: String) async throws -> PostgresError {
    let task = Task { try await query(PostgresQuery(unsafeSQL: statement)) }
    try await eventually("it runs") { try await countRunning(statement) == 1 }
    task.cancel()
    return try await failure { try await task.value }
  }

  /// Returns the number of sessions in the same database that run a statement containing the text.
  func countRunning(_ text: String) async throws -> Int {
    try await value(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE '%' || \(text) || '%' AND pid <> pg_backend_pid()
      """)
  }
}

extension PostgresPool {
  /// Runs the body while a session of the pool holds an advisory lock: `SELECT pg_advisory_xact_lock(1)` waits until
  /// the body ends.
  func withLockHeld<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    try await withConnection { holder in
      _ = try await holder.query("SELECT pg_advisory_lock(1)")
      return try await withResource(holder, release: { _ = try await $0.query("SELECT pg_advisory_unlock(1)") }) { _ in
        try await body()
      }
    }
  }

  /// Returns the number of sessions in the same database that wait for the lock.
  func countWaitingForLock() async throws -> Int {
    try await value(
      """
      SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      """)
  }
}

/// A value that several tasks change.
final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) {
    self.value = Mutex(value)
  }

  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    value.withLock { value in
      var copy = value
      defer { value = copy }
      return body(&copy)
    }
  }
}
