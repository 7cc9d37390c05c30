import Foundation
import Logging
public import News
import PostgresClient
import Synchronization

extension NewsStore {
  /// The poll intervals with and without notifications from the database.
  private static let slowPoll: Duration = .seconds(1)
  private static let fastPoll: Duration = .milliseconds(50)
  /// The time without a response after which the database counts as silent, and requests no longer wait for it.
  private static let silence: Duration = .seconds(2)
  /// The poll interval of a reader that waits for an `at` token.
  private static let waitStep: Duration = .milliseconds(50)

  /// The limits of waits for `at` tokens.
  package struct WaitLimits: Sendable {
    /// The maximum number of waiting readers. Further ones fail at once.
    package var readers: Int
    /// The maximum wait for a token.
    package var duration: Duration

    package init(readers: Int = 1000, duration: Duration = .seconds(1)) {
      self.readers = readers
      self.duration = duration
    }
  }

  /// The number of readers that wait for `at` tokens.
  package var waitingReaders: Int { waits.load(ordering: .relaxed) }

  /// Keeps the state current until the task is cancelled. NOTIFY is only a hint, so the database is also polled.
  public func follow() async {
    keeper.isFollowed = true
    await withTaskGroup { group in
      group.addTask {
        for await event in self.listener.events(channel: "tidings") {
          self.keeper.isListening = event != .disconnected
          guard event != .disconnected, !self.knows(event) else { continue }
          _ = try? await self.keeper.refresh()
        }
      }
      group.addTask { await self.keepCadence() }
      group.addTask {
        while !Task.isCancelled {
          if !self.keeper.isListening || self.keeper.latest.map({ $0.age >= Self.slowPoll }) ?? true {
            _ = try? await self.keeper.refresh()
          }
          try? await Task.sleep(for: Self.fastPoll)
        }
      }
    }
    keeper.isFollowed = false
  }

  /// Whether a notification, `EPOCH VERSION`, refers to a version that the state already has.
  private func knows(_ event: PostgresListener.Event) -> Bool {
    guard case .notification(let payload) = event, let state = keeper.latest?.state else { return false }
    let words = payload.split(separator: " ")
    guard words.count == 2, words[0] == state.epoch, let version = Int(words[1]) else { return false }
    return version <= state.version
  }

  /// The states that follow, while `follow()` is running. A slow consumer receives only the latest of several.
  public func states() -> AsyncStream<VersionState> { keeper.states() }

  /// The state in memory; nil if it is too old to be used.
  public var remembered: VersionState? {
    guard keeper.isFollowed, let latest = keeper.latest, isUsable(latest.age, latest.outage) else { return nil }
    return latest.state
  }

  /// Whether a state in memory may be used.
  ///
  /// `staleLimit` counts from the first unanswered state query, so that 0 refuses as soon as one fails. The age has a
  /// separate limit for a process that was suspended and could not query.
  private func isUsable(_ age: Duration, _ outage: Duration?) -> Bool {
    (outage ?? .zero) <= staleLimit && age <= staleLimit + Self.slowPoll + StateKeeper.grace
  }

  /// Whether the database has left state queries unanswered for longer than `silence`. They have a connection of their
  /// own, so a queue of readers or writers in this process has no influence.
  public var isSilent: Bool { keeper.isFollowed && (keeper.latest?.outage ?? .zero) > Self.silence }

  /// Reads the state now, which detects early whether the database answers.
  public func probe() async { _ = try? await keeper.refresh() }

  /// Whether the database answers. After silence it waits up to a second, because this process may have been suspended.
  public func isAnswering() async -> Bool {
    let end = ContinuousClock.now + .seconds(1)
    while isSilent, .now < end { try? await Task.sleep(for: Self.fastPoll) }
    return !isSilent
  }

  /// Returns the current state, after it has reached the version of an `at` token of any scope.
  ///
  /// The wait occupies no connection of the pool. At most `WaitLimits.readers` callers wait at a time.
  ///
  /// - Parameter scope: The scope of the current token that the error of an expired token carries.
  /// - Throws: `StoreError.notReachedYet` after `WaitLimits.duration`, or at once if too many readers wait;
  ///   `tokenExpired` for a token of another history; `unavailable`; `unknownTopics` for the scope.
  public func present(at: SyncToken?, in scope: Scope) async throws -> VersionState {
    let present = try await present()
    guard let at else { return present }
    if (try? present.head(scope, at: at).hasReached(at)) == true { return present }
    defer { waits.wrappingSubtract(1, ordering: .relaxed) }
    guard waits.wrappingAdd(1, ordering: .relaxed).newValue <= waitLimits.readers else {
      throw StoreError.notReachedYet(at)
    }
    let end = ContinuousClock.now + waitLimits.duration
    // Memory may lack the version or the epoch, so the first query begins after the call. Later queries are shared.
    var age = Duration.zero
    while true {
      let state = try await keeper.state(notOlderThan: age, waitingAtMost: waitLimits.duration)
      if try state.head(scope, at: at).hasReached(at) { return state }
      let rest = end - .now
      guard rest > .zero else { throw StoreError.notReachedYet(at) }
      try await Task.sleep(for: min(rest, Self.waitStep))
      age = Self.waitStep / 2
    }
  }

  /// Checks whether the changes of a scope after a token are available.
  ///
  /// - Returns: The current token of the scope.
  /// - Throws: `StoreError.unknownTopics`, `tokenExpired`.
  public func check(_ since: SyncToken, for scope: Scope) async throws -> SyncToken {
    try await head(scope, since: since).token
  }

  /// Waits until this process responds from a state that includes a version that it has just committed.
  ///
  /// - Throws: `StoreError.outcomeUnknown` if the state cannot be refreshed. After an acknowledged write a client must
  ///   not receive a response from before it.
  func acknowledge(_ version: Int) async throws {
    guard keeper.isFollowed else { return }
    do {
      try await keeper.reach(epoch: seen.epoch, version: version)
    } catch {
      throw StoreError.outcomeUnknown
    }
  }

  /// Waits in the same way for a change of topics, which has no version.
  ///
  /// - Throws: `StoreError.outcomeUnknown`.
  func acknowledgeTopics() async throws {
    guard keeper.isFollowed else { return }
    do {
      try await keeper.refresh()
    } catch {
      throw StoreError.outcomeUnknown
    }
  }

  /// Returns the current state: from memory while `follow()` is running, otherwise from the database.
  ///
  /// - Throws: `StoreError.unavailable` if the database has not answered for longer than `staleLimit`.
  public func present() async throws -> VersionState {
    guard keeper.isFollowed, let latest = keeper.latest else { return try await keeper.refresh() }
    guard isUsable(latest.age, latest.outage) else { throw StoreError.unavailable }
    return latest.state
  }
}

extension Database {
  /// Reads the current state in one snapshot, or only the changes since a known one. If the database is no longer in
  /// the history in which the epoch began, a new epoch begins.
  func state(after known: VersionState?, seen: SeenVersion, logger: Logger) async throws -> VersionState {
    while true {
      let began = ContinuousClock.now
      let (state, fits) = try await look(after: known)
      if !fits {
        try await withConnection { connection in try await seen.confirm(through: connection, logger: logger) }
      } else if try await seen.confirm(
        epoch: state.epoch, version: state.version, readAfter: began, through: self, logger: logger)
      {
        return state
      }
    }
  }

  private func look(after known: VersionState?) async throws -> (state: VersionState, fits: Bool) {
    let (epoch, version) = (known?.epoch, known?.version ?? -1)
    let answers = try await snapshot([
      """
      SELECT e.id AS epoch, s.version, s.floor, topics_revision() AS topics, epoch_fits() AS fits
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s WHERE s.scope = ''
      """,
      // A purge changes nothing but floors.
      """
      SELECT s.scope, s.version, s.floor, s.shifted_at FROM scopes AS s
      WHERE s.version > \(version)
        OR (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) IS DISTINCT FROM \(epoch)
        OR (SELECT topics_revision()) IS DISTINCT FROM \(known?.moment.topicsRevision)
        OR (SELECT sum(f.floor)::bigint FROM scopes AS f) IS DISTINCT FROM \(known?.floors)
      """,
      """
      SELECT l.item, l.version, t.topics, t.versions
      FROM change_log AS l CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(c.scope::text), '{}') AS topics, coalesce(array_agg(c.version), '{}') AS versions
        FROM change_log AS c WHERE c.item = l.item AND c.scope <> '' AND c.version > \(version)
      ) AS t
      WHERE l.scope = '' AND l.version > \(version)
        AND (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) IS NOT DISTINCT FROM \(epoch)
      ORDER BY l.version LIMIT \(VersionState.RecentChanges.count + 1)
      """,
      """
      SELECT e.id, epoch_reach(e.id) AS reach FROM epochs AS e
      WHERE (SELECT l.id FROM epochs AS l ORDER BY l.number DESC LIMIT 1) IS DISTINCT FROM \(epoch)
      """,
    ])
    guard let head = answers[0].first else { throw StoreFault("the row of the feed is missing") }
    let state = try VersionState(after: known, head: head, scopes: answers[1], changes: answers[2], reach: answers[3])
    return (state, try head.decode("fits"))
  }
}

extension VersionState {
  /// Creates the state from a known one and the rows of a snapshot.
  ///
  /// - Parameters:
  ///   - scopes: The scopes that may have changed; all scopes after a change of epoch.
  ///   - changes: The changes of the feed, at most `RecentChanges.count + 1`.
  ///   - reach: The reach of all epochs; empty if the epoch is unchanged.
  fileprivate init(
    after known: VersionState?, head: PostgresRow, scopes rows: PostgresRows, changes: PostgresRows, reach: PostgresRows
  ) throws {
    let epoch: String = try head.decode("epoch")
    let base = known?.epoch == epoch ? known : nil
    let version: Int = try head.decode("version")
    var scopes = base?.scopes ?? [:]
    for row in rows {
      scopes[try row.decode("scope")] = ScopeState(
        version: try row.decode("version"), floor: try row.decode("floor"), shiftedAt: try row.decode("shifted_at"))
    }
    var recent = base?.recent ?? RecentChanges(after: version)
    // A removal that was purged before it was read here is missing from the changes, but has raised a floor.
    let isPurged = base.map { base in scopes.values.contains { $0.floor > base.version } } ?? false
    if isPurged || changes.count > RecentChanges.count {
      recent = RecentChanges(after: version)
    } else {
      recent.add(try changes.map { try RecentChanges.Change(row: $0) })
    }
    var reached = base?.reach ?? [:]
    for row in reach { reached[try row.decode("id")] = try row.decode("reach", as: Int?.self) }
    self.init(
      moment: Moment(epoch: epoch, version: version, topicsRevision: try head.decode("topics")), scopes: scopes,
      reach: reached, recent: recent)
  }
}

extension VersionState.RecentChanges.Change {
  fileprivate init(row: PostgresRow) throws {
    let topics = try row.decode("topics", as: [String].self)
    let versions = try row.decode("versions", as: [Int].self)
    self.init(
      item: try row.decode("item"), version: try row.decode("version"),
      topics: Dictionary(zip(topics, versions)) { max($0, $1) })
  }
}
