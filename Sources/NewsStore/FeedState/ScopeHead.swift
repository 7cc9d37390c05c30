import Foundation
import News
import PostgresClient

/// Where the history of the feed and of one scope stands, read in one statement.
struct ScopeHead: Sendable {
  let scope: Scope
  let epoch: String
  /// The version of the feed.
  let counter: Int
  /// The version of the last change in the scope.
  let version: Int
  /// Tokens below it have lost changes to a purge.
  let floor: Int
  /// When a page of the scope last changed without any of its items having been updated.
  let shiftedAt: Date
  /// The version up to which tokens of the epochs of `since` and of `at` belong to this history; nil for other epochs.
  var sinceReach: Int?
  var atReach: Int?
  /// From memory, the version of each topic of the scope.
  var topics: [String: Int] = [:]
  /// The database's clock; nil from memory.
  var now: Date?

  /// The moment of the statement's snapshot.
  var moment: Moment { Moment(epoch: epoch, version: counter) }

  /// The token of somebody who has everything.
  var token: SyncToken { SyncToken(epoch: epoch, scope: scope, version: version) }

  /// One row; every part of it comes from the statement's one snapshot.
  static func query(_ scope: Scope, since: SyncToken? = nil) -> PostgresQuery {
    """
    SELECT (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) AS epoch, feed.version AS counter,
      own.version, own.floor, own.shifted_at, own.known, clock_timestamp() AS now, epoch_reach(\(since?.epoch)) AS since_reach
    FROM scopes AS feed CROSS JOIN (
      SELECT max(s.version) AS version, max(s.floor) AS floor, max(s.shifted_at) AS shifted_at,
        coalesce(array_agg(s.scope::text), '{}') AS known
      FROM scopes AS s WHERE s.scope = ANY (\(scope.names))
    ) AS own
    WHERE feed.scope = ''
    """
  }

  /// Whether the changes after a token can be told.
  ///
  /// - Throws: `StoreError.tokenExpired` with the token to start again from.
  func check(since token: SyncToken) throws {
    func expired(_ reason: TokenExpiry) -> StoreError { .tokenExpired(reason: reason, current: self.token) }
    guard token.scope == scope.fingerprint else { throw expired(.scope) }
    guard let sinceReach, token.furthest <= sinceReach, isWithin(token) else { throw expired(.epoch) }
    guard token.furthest <= counter else { throw expired(.ahead) }
    // The continuation of a snapshot is judged by its start: what was removed since then must still be known. The
    // current token never expires, because the floor of a scope is never above its version (a constraint of `scopes`).
    guard token.version >= floor else { throw expired(.expired) }
  }

  /// Whether what is held at a token is something that this history has been. See ``SyncToken/isPartial``.
  func isWithin(_ token: SyncToken) -> Bool { !token.isPartial || token.epoch == epoch }

  /// Whether the state that a token names is part of this history, and has been reached.
  ///
  /// - Throws: `StoreError.tokenExpired` for a token of another history.
  func hasReached(_ token: SyncToken) throws -> Bool {
    guard let atReach, token.furthest <= atReach else {
      throw StoreError.tokenExpired(reason: .epoch, current: self.token)
    }
    return token.furthest <= counter
  }

  /// When the scope, or one of some items in it, last changed.
  func modified(of updates: some Sequence<Date>) -> Date { updates.reduce(shiftedAt, max) }
}

extension ScopeHead {
  /// - Throws: `StoreError.unknownTopics` if the scope has topics that do not exist.
  init(scope: Scope, rows: PostgresRows) throws {
    guard let row = rows.first else { throw StoreFault("the row of the feed is missing") }
    let known = Set(try row.decode("known", as: [String].self))
    let unknown = scope.names.filter { !known.contains($0) }
    guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
    self.init(
      scope: scope, epoch: try row.decode("epoch"), counter: try row.decode("counter"),
      version: try row.decode("version"), floor: try row.decode("floor"), shiftedAt: try row.decode("shifted_at"),
      sinceReach: try row.decode("since_reach"), now: try row.decode("now"))
  }
}

extension SyncToken {
  /// The latest version that whoever holds it has seen.
  var furthest: Int { max(version, position ?? 0) }
}

extension Scope {
  /// The rows of `scopes` and of the log that it is made of.
  var names: [String] { topics.isEmpty ? [""] : topics }
}

extension NewsStore {
  /// The head of a scope, from memory where that is current. What memory would refuse is asked of the database: the
  /// topic, or the version, may be newer.
  ///
  /// - Throws: `StoreError.unknownTopics`; `tokenExpired` where the changes after `since` cannot be told.
  func head(_ scope: Scope, since: SyncToken? = nil) async throws -> ScopeHead {
    func head(_ state: VersionState) throws -> ScopeHead {
      let head = try state.head(scope, since: since)
      if let since { try head.check(since: since) }
      return head
    }
    do {
      return try head(try await present())
    } catch StoreError.unknownTopics, StoreError.tokenExpired {
      return try head(try await keeper.refresh())
    }
  }

  /// Runs a query in one snapshot with the head of a scope, on the standby where that will do.
  ///
  /// - Parameter settings: A statement to come before the query, which sets what holds for it.
  func read(
    _ scope: Scope, since: SyncToken? = nil, settings: PostgresQuery? = nil, _ query: PostgresQuery
  ) async throws -> (head: ScopeHead, rows: PostgresRows) {
    let queries = [ScopeHead.query(scope, since: since), settings, query].compactMap(\.self)
    let found = await fromStandby(queries, since: since) { answers in
      let head = try ScopeHead(scope: scope, rows: answers[0])
      if let since { try head.check(since: since) }
      return ((head: head, rows: answers[answers.count - 1]), head.moment)
    }
    if let found { return found }
    while true {
      let began = ContinuousClock.now
      let answers = try await database.snapshot(queries)
      let head = try ScopeHead(scope: scope, rows: answers[0])
      let isPresent = try await seen.confirm(
        epoch: head.epoch, version: head.counter, readAfter: began, through: database, logger: logger)
      if isPresent { return (head, answers[answers.count - 1]) }
    }
  }
}
