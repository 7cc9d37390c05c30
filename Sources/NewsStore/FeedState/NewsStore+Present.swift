import Foundation
import Logging
public import News
import PostgresClient
import Synchronization

extension NewsStore {
  /// How often the database is asked whether there is anything new: while it tells by itself, and while it cannot.
  private static let slowPoll: Duration = .seconds(1)
  private static let fastPoll: Duration = .milliseconds(50)
  /// After so long without an answer nobody waits for one.
  private static let silence: Duration = .seconds(2)
  /// How often the state is looked at while a reader waits for an `at` token.
  private static let waitStep: Duration = .milliseconds(50)

  /// The limits of waits for `at` tokens.
  package struct WaitLimits: Sendable {
    /// How many readers may wait at a time; further ones are refused at once.
    package var readers: Int
    /// How long a token may keep a reader waiting.
    package var duration: Duration

    package init(readers: Int = 1000, duration: Duration = .seconds(1)) {
      self.readers = readers
      self.duration = duration
    }
  }

  /// The number of readers who wait for `at` tokens.
  package var waitingReaders: Int { waits.load(ordering: .relaxed) }

  /// Keeps the state current until the task is cancelled: by NOTIFY, which is a hint, and by asking.
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

  /// Whether a notification, `EPOCH VERSION`, tells of nothing newer than the state.
  private func knows(_ event: PostgresListener.Event) -> Bool {
    guard case .notification(let payload) = event, let state = keeper.latest?.state else { return false }
    let words = payload.split(separator: " ")
    guard words.count == 2, words[0] == state.epoch, let version = Int(words[1]) else { return false }
    return version <= state.version
  }

  /// The states that this process comes to know from now on, where somebody follows; the last of several that come at
  /// once.
  public func states() -> AsyncStream<VersionState> { keeper.states() }

  /// The state in memory, if it may be answered from.
  public var remembered: VersionState? {
    guard keeper.isFollowed, let latest = keeper.latest, isUsable(latest.age, latest.outage) else { return nil }
    return latest.state
  }

  /// Whether memory may be answered from.
  ///
  /// `staleLimit` counts from the first query of the state that the database did not answer, so that 0 refuses as soon
  /// as one fails. The age has a limit of its own for a process that was held up and could not ask.
  private func isUsable(_ age: Duration, _ outage: Duration?) -> Bool {
    (outage ?? .zero) <= staleLimit && age <= staleLimit + Self.slowPoll + StateKeeper.grace
  }

  /// Whether the database has not answered the queries of the state for some time. They have a connection of their own:
  /// a queue of readers or writers of this process is no reason.
  public var isSilent: Bool { keeper.isFollowed && (keeper.latest?.outage ?? .zero) > Self.silence }

  /// Asks the database for the present now, so that it becomes known as early as possible whether it answers.
  public func probe() async { _ = try? await keeper.refresh() }

  /// Whether the database answers, where it has been silent within a second: it may be this process that was held up.
  public func isAnswering() async -> Bool {
    let end = ContinuousClock.now + .seconds(1)
    while isSilent, .now < end { try? await Task.sleep(for: Self.fastPoll) }
    return !isSilent
  }

  /// The state of the present, once an `at` token has been reached in it. A token of any scope will do.
  ///
  /// The wait takes no connection of the pool. At most `WaitLimits.readers` callers wait at a time.
  ///
  /// - Parameter scope: The scope of the current token that is returned in place of one that has expired.
  /// - Throws: `StoreError.notReachedYet` after a second, `tokenExpired` for a token of another history, `unavailable`;
  ///   `unknownTopics` for the scope.
  public func present(at: SyncToken?, in scope: Scope) async throws -> VersionState {
    let present = try await present()
    guard let at else { return present }
    if (try? present.head(scope, at: at).hasReached(at)) == true { return present }
    defer { waits.wrappingSubtract(1, ordering: .relaxed) }
    guard waits.wrappingAdd(1, ordering: .relaxed).newValue <= waitLimits.readers else {
      throw StoreError.notReachedYet(at)
    }
    let end = ContinuousClock.now + waitLimits.duration
    // Memory may lack the version or the epoch: the first look begins after the call. Later ones are shared.
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

  /// Checks whether the changes of a scope after a token are known.
  ///
  /// - Returns: The current token of the scope.
  /// - Throws: `StoreError.unknownTopics`, `tokenExpired`.
  public func check(_ since: SyncToken, for scope: Scope) async throws -> SyncToken {
    try await head(scope, since: since).token
  }

  /// Waits until this process answers from a state with a version that it has just committed.
  ///
  /// - Throws: `StoreError.outcomeUnknown` if that cannot be seen to: whoever is told of a write must not then read an
  ///   answer from before it.
  func acknowledge(_ version: Int) async throws {
    guard keeper.isFollowed else { return }
    do {
      try await keeper.reach(epoch: seen.epoch, version: version)
    } catch {
      throw StoreError.outcomeUnknown
    }
  }

  /// The same for a change of topics, which has no version.
  func acknowledgeTopics() async throws {
    guard keeper.isFollowed else { return }
    do {
      try await keeper.refresh()
    } catch {
      throw StoreError.outcomeUnknown
    }
  }

  /// The state of the present, from memory while somebody follows, else from the database.
  ///
  /// - Throws: `StoreError.unavailable` if the database has not answered for longer than `staleLimit`.
  public func present() async throws -> VersionState {
    guard keeper.isFollowed, let latest = keeper.latest else { return try await keeper.refresh() }
    guard isUsable(latest.age, latest.outage) else { throw StoreError.unavailable }
    return latest.state
  }
}

extension Database {
  /// Reads the state of the present in one snapshot, only what is new of it where an earlier one is known. If this is
  /// not the stretch of history in which the epoch was begun, another one begins.
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
      // A purge raises floors, and nothing else.
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
  /// - Parameters:
  ///   - scopes: Those that may have changed; all where the epoch has.
  ///   - changes: Of the feed, up to one more than are remembered.
  ///   - reach: Empty where the epoch is the same.
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
    // A removal since, purged before it was seen here, is not among the changes; the floor of its scope tells of it.
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
