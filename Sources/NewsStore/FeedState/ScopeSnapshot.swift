import Foundation
import News
import PostgresClient

/// The current version of the feed and the state of one scope, from one snapshot of the database.
struct ScopeSnapshot: Sendable {
  let scope: Scope
  let epoch: String
  /// The version of the feed.
  let counter: Int
  /// The version of the last change in the scope.
  let version: Int
  /// The purge floor: changes after a token below this version are incomplete.
  let floor: Int
  /// The time at which a page of the scope last changed without an update of any of its items.
  let shiftedAt: Date
  /// The version up to which tokens of the epoch of `since` belong to this history; nil for other epochs.
  var sinceReach: Int?
  /// The same for the epoch of `at`.
  var atReach: Int?
  /// The version of each topic of the scope; empty unless the value comes from memory.
  var topics: [String: Int] = [:]
  /// The time of the read.
  var read: DatabaseInstant

  /// The epoch and version of the statement's snapshot.
  var feedVersion: FeedVersion { FeedVersion(epoch: epoch, version: counter) }

  /// The scope's current token.
  var token: SyncToken { SyncToken(epoch: epoch, scope: scope, version: version) }

  /// Selects the values as one row, from one snapshot.
  fileprivate static func query(_ scope: Scope, since: SyncToken? = nil) -> PostgresQuery {
    """
    SELECT \(query: Database.currentEpoch) AS epoch, feed.version AS counter,
      own.version AS scope_version, own.floor, own.shifted_at, own.known, clock_timestamp() AS now,
      \(query: since.map { "epoch_reach(\($0.epoch))" } ?? "NULL::bigint") AS since_reach
    FROM scopes AS feed CROSS JOIN (
      SELECT max(s.version) AS version, max(s.floor) AS floor, max(s.shifted_at) AS shifted_at,
        coalesce(array_agg(s.scope::text), '{}') AS known
      FROM scopes AS s WHERE s.scope = ANY (\(scope.names))
    ) AS own
    WHERE feed.scope = ''
    """
  }

  /// Checks whether the changes after a token are available.
  ///
  /// - Throws: `StoreError.tokenExpired` with the token to start again from.
  func check(since token: SyncToken) throws {
    func expired(_ reason: TokenExpiry) -> StoreError { .tokenExpired(reason: reason, current: self.token) }
    guard token.scope == scope.fingerprint else { throw expired(.scope) }
    guard let sinceReach, token.latestVersion <= sinceReach, isWithin(token) else { throw expired(.epoch) }
    guard token.latestVersion <= counter else { throw expired(.ahead) }
    // A snapshot's continuation expires by its start version, because all removals since then must be known. The
    // current token never expires: a constraint of `scopes` keeps the floor at or below the version.
    guard token.version >= floor else { throw expired(.expired) }
  }

  /// Whether the content held at a token belongs to this history. See ``SyncToken/isPartial``.
  func isWithin(_ token: SyncToken) -> Bool { !token.isPartial || token.epoch == epoch }

  /// Whether the version of a token belongs to this history and has been reached.
  ///
  /// - Throws: `StoreError.tokenExpired` for a token of another history.
  func hasReached(_ token: SyncToken) throws -> Bool {
    guard let atReach, token.latestVersion <= atReach else {
      throw StoreError.tokenExpired(reason: .epoch, current: self.token)
    }
    return token.latestVersion <= counter
  }

}

extension ScopeSnapshot {
  /// Decodes the row of `query(_:since:)`.
  ///
  /// - Throws: `StoreError.unknownTopics` if the scope has topics that do not exist.
  init(scope: Scope, rows: PostgresRows) throws {
    guard let row = rows.first else { throw StoreFault("the row of the feed is missing") }
    let known = Set(try row.decode("known", as: [String].self))
    let unknown = scope.names.filter { !known.contains($0) }
    guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
    self.init(
      scope: scope, epoch: try row.decode("epoch"), counter: try row.decode("counter"),
      version: try row.decode("scope_version"), floor: try row.decode("floor"),
      shiftedAt: try row.decode("shifted_at"), sinceReach: try row.decode("since_reach"),
      read: DatabaseInstant(try row.decode("now")))
  }
}

extension SyncToken {
  /// The latest version that the holder of the token has seen.
  var latestVersion: Int { max(version, position ?? 0) }
}

extension Scope {
  /// The keys of the scope in `scopes` and in the log.
  var names: [String] { topics.isEmpty ? [""] : topics }
}

/// The rows of a query, and the state of a scope in the same snapshot.
struct ScopedRows: Sendable {
  let scope: ScopeSnapshot
  let rows: [PostgresRow]

  /// - Parameter rows: The rows of the query, each with its `position`. The first one also has the columns of
  ///   `ScopeSnapshot.query`, and stands for an empty result if it has no position.
  fileprivate init(_ scope: Scope, _ rows: PostgresRows) throws {
    self.scope = try ScopeSnapshot(scope: scope, rows: rows)
    self.rows = try rows.first?.decode("position", as: Int?.self) == nil ? [] : Array(rows)
  }
}

extension NewsStore {
  /// Runs a query and reads the state of a scope in one statement, on the standby if possible. The rows begin with their
  /// position.
  ///
  /// - Parameters:
  ///   - settings: A statement that configures the transaction before the query.
  ///   - order: The order of the rows `c` of the query.
  ///   - query: A query for rows of any columns other than those of the scope.
  func read(
    _ scope: Scope, since: SyncToken? = nil, settings: PostgresQuery? = nil, order: PostgresQuery,
    _ query: PostgresQuery
  ) async throws -> ScopedRows {
    // Only the first row has the state: in each of a thousand rows it would take as long as the rows themselves.
    let combined: PostgresQuery = """
      SELECT c.*, s.* FROM (
        SELECT row_number() OVER (ORDER BY \(query: order)) AS position, c.* FROM (\(query: query)) AS c
      ) AS c
        FULL JOIN (SELECT 1::bigint AS first, s.* FROM (\(query: ScopeSnapshot.query(scope, since: since))) AS s) AS s
          ON c.position = s.first
      ORDER BY c.position
      """
    let queries = [settings, combined].compactMap(\.self)
    let answer = await fromReplica(queries, since: since) { answers in
      let found = try ScopedRows(scope, answers[answers.count - 1])
      if let since { try found.scope.check(since: since) }
      return (found, found.scope.feedVersion)
    }
    if let answer { return answer }
    while true {
      let began = ContinuousClock.now
      let answers = try await database.snapshot(queries)
      let found = try ScopedRows(scope, answers[answers.count - 1])
      let isPresent = try await epochGuard.confirm(
        epoch: found.scope.epoch, version: found.scope.counter, readAfter: began, through: database, logger: logger)
      if isPresent { return found }
    }
  }
}
