import Foundation
public import News
import PostgresClient
import Synchronization

extension NewsStore {
  /// The limits of waits for `at` tokens.
  package struct WaitLimits: Sendable {
    /// The maximum number of different versions that readers wait for. A reader of a further one fails at once.
    package var versions: Int
    /// The maximum wait for a token.
    package var duration: Duration

    package init(versions: Int = 1000, duration: Duration = .seconds(1)) {
      self.versions = versions
      self.duration = duration
    }
  }

  /// The number of different versions that readers wait for.
  package var waitedVersions: Int { versionWaits.withLock { $0.count } }

  /// The poll interval of a wait for a version.
  private static let waitStep: Duration = .milliseconds(50)
  /// The time without a response after which requests no longer wait for the database.
  private static let responseTimeout: Duration = .seconds(2)

  /// Returns the current state: from memory while `follow()` is running, otherwise from the database.
  ///
  /// - Throws: `StoreError.unavailable` if the database has not answered for longer than `staleLimit`.
  public func snapshot() async throws -> FeedSnapshot {
    guard stateCache.isFollowed, let latest = stateCache.latest else { return try await stateCache.refresh() }
    guard isUsable(latest.age, latest.outage) else { throw StoreError.unavailable }
    return latest.state
  }

  /// Returns the state from which a request is answered: it has reached the version of `at`, has all topics of the scope,
  /// and accepts `since`. It is resolved once per request and passed to the queries.
  ///
  /// If memory lacks a topic or refuses `since`, the database decides, because it may be newer. A wait for `at` occupies
  /// no connection of the pool, and all that wait for a version share its queries. At most `WaitLimits.versions` versions
  /// are waited for at a time.
  ///
  /// - Parameters:
  ///   - at: A token of any scope.
  ///   - scope: The scope of the request. Errors about tokens carry its current token.
  ///   - since: A token of the scope whose later changes are requested.
  /// - Throws: `StoreError.notReachedYet` after `WaitLimits.duration`, or at once if too many versions are waited for;
  ///   `tokenExpired` for an `at` of another history, and if the changes after `since` are unavailable; `unavailable`;
  ///   `unknownTopics`.
  public func snapshot(at: SyncToken? = nil, in scope: Scope, since: SyncToken? = nil) async throws -> FeedSnapshot {
    let snapshot = try await reached(at, in: scope)
    do {
      try snapshot.check(scope, since: since)
      return snapshot
    } catch StoreError.unknownTopics, StoreError.tokenExpired {
      let refreshed = try await stateCache.refresh()
      try refreshed.check(scope, since: since)
      return refreshed
    }
  }

  private func reached(_ at: SyncToken?, in scope: Scope) async throws -> FeedSnapshot {
    let snapshot = try await snapshot()
    guard let at, (try? snapshot.scope(scope, at: at).hasReached(at)) != true else { return snapshot }
    let end = ContinuousClock.now + waitLimits.duration
    while true {
      let latest = try await wait(for: at, until: end)
      if try latest.scope(scope, at: at).hasReached(at) { return latest }
    }
  }

  /// Waits for the version of a token together with all others that do.
  ///
  /// - Returns: A state that has reached the version, that refuses the token, or in which another reader gave up.
  /// - Throws: `StoreError.notReachedYet` after the end, or if too many versions are waited for; the errors of the query.
  private func wait(for at: SyncToken, until end: ContinuousClock.Instant) async throws -> FeedSnapshot {
    let version = FeedVersion(epoch: at.epoch, version: at.latestVersion)
    let rest = end - .now
    guard rest > .zero else { throw StoreError.notReachedYet(at) }
    let wait = versionWaits.withLock { waits -> SharedTask<Result<FeedSnapshot, any Error>>? in
      if let wait = waits[version] { return wait }
      guard waits.count < waitLimits.versions else { return nil }
      let wait = SharedTask { [self] in
        let result: Result<FeedSnapshot, any Error>
        do { result = .success(try await poll(for: at)) } catch { result = .failure(error) }
        versionWaits.withLock { $0[version] = nil }
        return result
      }
      waits[version] = wait
      return wait
    }
    guard let wait else { throw StoreError.notReachedYet(at) }
    let result: Result<FeedSnapshot, any Error>
    do {
      result = try await wait.value(waitingAtMost: rest)
    } catch is StoreError {
      throw StoreError.notReachedYet(at)
    }
    return try result.get()
  }

  /// Reads the state until it has the version of a token, or refuses the token, for `WaitLimits.duration` at most.
  private func poll(for at: SyncToken) async throws -> FeedSnapshot {
    let end = ContinuousClock.now + waitLimits.duration
    // Memory may lack the version or the epoch, so the first query begins after the call. Later queries are shared.
    var age = Duration.zero
    while true {
      let snapshot = try await stateCache.state(notOlderThan: age, waitingAtMost: waitLimits.duration)
      let hasReached = try? snapshot.scope(.feed, at: at).hasReached(at)
      if hasReached != false || .now >= end { return snapshot }
      try await Task.sleep(for: min(end - .now, Self.waitStep))
      age = Self.waitStep / 2
    }
  }

  /// Returns the current state with the windows of a scope that a known state lacks.
  ///
  /// - Returns: nil if the windows are in memory already, or are not worth the eviction of others.
  /// - Throws: The errors of the query.
  package func snapshot(after known: FeedSnapshot, withWindowsOf scope: Scope) async throws -> FeedSnapshot? {
    known.lacksWindows(of: scope) ? try await stateCache.loadWindows(scope.names) : nil
  }

  /// A number that changes with the state in memory, and when it becomes usable or too old because of an outage.
  public var generation: Int { stateCache.generation.load(ordering: .acquiring) }

  /// The state in memory; nil if it is too old to be used.
  public var cachedSnapshot: FeedSnapshot? {
    guard stateCache.isFollowed, let latest = stateCache.latest, isUsable(latest.age, latest.outage) else { return nil }
    return latest.state
  }

  /// Whether a state in memory may be used.
  ///
  /// `staleLimit` counts from the first unanswered state query, so that 0 refuses as soon as one fails. The age has a
  /// separate limit for a process that was suspended and could not query.
  func isUsable(_ age: Duration, _ outage: Duration?) -> Bool {
    (outage ?? .zero) <= staleLimit && age <= staleLimit + Self.slowPoll + FeedStateCache.grace
  }

  /// Whether the database has left state queries unanswered for longer than `responseTimeout`. They have a connection of
  /// their own, so a queue of readers or writers in this process has no influence.
  public var isDatabaseUnresponsive: Bool {
    stateCache.isFollowed && (stateCache.latest?.outage ?? .zero) > Self.responseTimeout
  }

  /// Reads the state now, which detects early whether the database answers.
  public func probe() async { _ = try? await stateCache.refresh() }

  /// Whether the database answers. If it seems unresponsive, the check waits up to a second, because this process may
  /// have been suspended.
  public func isAnswering() async -> Bool {
    let end = ContinuousClock.now + .seconds(1)
    while isDatabaseUnresponsive, .now < end { try? await Task.sleep(for: Self.waitStep) }
    return !isDatabaseUnresponsive
  }
}

extension NewsStore {
  /// The interval between reads of past changes, and the interval between updates of the poll interval.
  private static let cadenceLookups: Duration = .seconds(300)
  private static let cadenceSteps: Duration = .seconds(30)
  /// The maximum number of past changes to read.
  private static let cadenceChanges = 5000

  /// The recommended poll interval in seconds; nil before it is known, and if `follow()` is not running.
  public var pollInterval: Int? {
    let interval = interval.load(ordering: .relaxed)
    return interval > 0 && stateCache.isFollowed ? interval : nil
  }

  /// Updates the poll interval until the task is cancelled.
  func keepCadence() async {
    var cadence: Cadence?
    var looked = ContinuousClock.now - Self.cadenceLookups
    while !Task.isCancelled {
      if .now - looked >= Self.cadenceLookups, let present = try? await cadenceOfPast() {
        cadence = present
        looked = .now
      }
      if let cadence { interval.store(cadence.interval(at: Date()), ordering: .relaxed) }
      try? await Task.sleep(for: Self.cadenceSteps)
    }
  }

  private func cadenceOfPast() async throws -> Cadence {
    let rows = try await database.query(
      """
      SELECT l.updated, clock_timestamp() AS now FROM change_log AS l WHERE l.scope = ''
      ORDER BY l.version DESC LIMIT \(Self.cadenceChanges)
      """)
    let changes: [Date] = try rows.map { try $0.decode("updated") }
    let now: Date = try rows.first?.decode("now") ?? Date()
    return Cadence(changes: changes, since: changes.min() ?? now, now: now)
  }
}
