import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// A condition that never became true, or a response that lacks a required part.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

extension UUID {
  /// Creates the same id for the same number in every run; the ids sort like the numbers.
  init(_ number: Int) {
    var bytes = [UInt8](repeating: 0, count: 16)
    withUnsafeBytes(of: UInt64(number).bigEndian) { bytes.replaceSubrange(8..., with: $0) }
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension Date {
  static let newYear = Date(timeIntervalSince1970: 1_767_225_600)
}

extension PostgresPool {
  /// Returns the first column of the first row.
  func value<Value: PostgresDecodable>(_ query: PostgresQuery, as: Value.Type = Value.self) async throws -> Value {
    guard let row = try await self.query(query).first else { throw Unexpected(description: "there is no row") }
    return try row.decode(0)
  }

  /// Returns the version of the last change of the feed.
  func counter() async throws -> Int {
    try await value("SELECT version FROM scopes WHERE scope = ''")
  }

  /// Ends all other sessions of the database, as a restore does.
  func endOtherSessions() async throws {
    let others: PostgresQuery = """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """
    try await eventually("the sessions have ended") { try await value(others) == 0 }
  }

  /// Creates topics with plain SQL.
  func makeTopics(_ slugs: String...) async throws {
    _ = try await query("INSERT INTO scopes (scope) SELECT unnest(\(slugs))")
    _ = try await query("INSERT INTO topics (slug) SELECT unnest(\(slugs))")
  }

  /// Inserts a draft, which needs no publish.
  func makeDraft(_ id: UUID) async throws {
    _ = try await query("INSERT INTO items (id, state, date, text) VALUES (\(id), 'draft', \(Date.newYear), 'x')")
  }

  /// Inserts and publishes items in one transaction.
  @discardableResult
  func publish(
    _ ids: [UUID], text: String = "x", topics: [String] = [], date: Date = .newYear
  ) async throws -> [Published] {
    try await transaction { transaction in
      _ = try await transaction.query(Self.insertion(ids, text: text, topics: topics, date: date))
      return try await transaction.publish(ids)
    }
  }

  /// Changes and publishes items in one transaction.
  @discardableResult
  func publish(_ ids: [UUID], after change: PostgresQuery) async throws -> [Published] {
    try await transaction { transaction in
      _ = try await transaction.query(change)
      return try await transaction.publish(ids)
    }
  }

  static func insertion(
    _ ids: [UUID], text: String = "x", topics: [String] = [], date: Date = .newYear
  ) -> PostgresQuery {
    """
    INSERT INTO items (id, state, date, text, topics)
    SELECT n.id, 'published', \(date), \(text), \(topics) FROM unnest(\(ids)) AS n (id)
    """
  }

  /// Returns the rows of the log for an item, by scope.
  func log(of item: UUID) async throws -> [LogRow] {
    try await query("SELECT * FROM change_log WHERE item = \(item) ORDER BY scope").map(LogRow.init(row:))
  }

  func scope(_ name: String) async throws -> ScopeRow {
    guard let row = try await query("SELECT * FROM scopes WHERE scope = \(name)").first else {
      throw Unexpected(description: "there is no scope \(name)")
    }
    return try ScopeRow(row: row)
  }
}

extension PostgresTransaction {
  @discardableResult
  func publish(_ ids: [UUID]) async throws -> [Published] {
    try await query("SELECT * FROM publish(\(ids)) ORDER BY version").map(Published.init(row:))
  }
}

/// Runs the body with an empty database and a pool on it.
func withEmptyDatabase(
  _ body: @Sendable (_ url: String, _ sql: PostgresPool) async throws -> Void
) async throws {
  try await withTestDatabase { url in
    let sql = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
    try await withResource(sql, release: { await $0.shutdown() }) { try await body(url, $0) }
  }
}

/// A row that `publish()` returns.
struct Published: Equatable {
  var item: UUID
  var version: Int
  var updated: Date
  var changed: Bool

  init(row: PostgresRow) throws {
    item = try row.decode("item")
    version = try row.decode("version")
    updated = try row.decode("updated")
    changed = try row.decode("changed")
  }
}

struct LogRow: Equatable {
  var scope: String
  var version: Int
  /// The reason of the removal; nil while the item is present.
  var reason: String?
  var updated: Date

  init(row: PostgresRow) throws {
    scope = try row.decode("scope")
    version = try row.decode("version")
    reason = try row.decode("reason")
    updated = try row.decode("updated")
  }

  /// The scope, the version, and the reason if the item has been removed.
  var summary: String { ([scope, String(version)] + (reason.map { [$0] } ?? [])).joined(separator: " ") }
}

struct ScopeRow: Equatable {
  var version: Int
  var changedAt: Date
  var shiftedAt: Date
  var items: Int

  init(row: PostgresRow) throws {
    version = try row.decode("version")
    changedAt = try row.decode("changed_at")
    shiftedAt = try row.decode("shifted_at")
    items = try row.decode("items")
  }
}

/// Returns the payloads that are notified on the feed's channel during the body.
func notifications(
  _ url: String, during body: () async throws -> Void
) async throws -> [String] {
  let connection = PostgresConfiguration.forBusyMachine(url)
  let listener = PostgresListener(configuration: connection, logger: NewsDatabase.logger)
  var events = listener.events(channel: "tidings").makeAsyncIterator()
  guard await events.next() == .listening else { throw Unexpected(description: "the listener has no connection") }
  try await body()
  // The server delivers notifications in the order of commits, so this one is the last.
  let sql = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
  do {
    _ = try await sql.query("SELECT pg_notify('tidings', 'the end')")
    await sql.shutdown()
  } catch {
    await sql.shutdown()
    throw error
  }
  var payloads: [String] = []
  while let event = await events.next() {
    guard case .notification(let payload, _) = event else { throw Unexpected(description: "the listener was cut off") }
    if payload == "the end" { break }
    payloads.append(payload)
  }
  return payloads
}
