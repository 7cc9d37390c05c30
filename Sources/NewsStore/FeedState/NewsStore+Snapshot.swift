public import News
import PostgresClient
import Synchronization

extension NewsStore {
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

  /// The poll interval of a reader that waits for an `at` token.
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
  /// no connection of the pool. At most `WaitLimits.readers` callers wait at a time.
  ///
  /// - Parameters:
  ///   - at: A token of any scope.
  ///   - scope: The scope of the request. Errors about tokens carry its current token.
  ///   - since: A token of the scope whose later changes are requested.
  /// - Throws: `StoreError.notReachedYet` after `WaitLimits.duration`, or at once if too many readers wait;
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
    defer { waits.wrappingSubtract(1, ordering: .relaxed) }
    guard waits.wrappingAdd(1, ordering: .relaxed).newValue <= waitLimits.readers else {
      throw StoreError.notReachedYet(at)
    }
    let end = ContinuousClock.now + waitLimits.duration
    // Memory may lack the version or the epoch, so the first query begins after the call. Later queries are shared.
    var age = Duration.zero
    while true {
      let snapshot = try await stateCache.state(notOlderThan: age, waitingAtMost: waitLimits.duration)
      if try snapshot.scope(scope, at: at).hasReached(at) { return snapshot }
      let rest = end - .now
      guard rest > .zero else { throw StoreError.notReachedYet(at) }
      try await Task.sleep(for: min(rest, Self.waitStep))
      age = Self.waitStep / 2
    }
  }

  /// Returns the current state with the windows of a scope. It may lack them if too many others are in memory.
  ///
  /// - Throws: The errors of the query.
  package func snapshot(withWindowsOf scope: Scope) async throws -> FeedSnapshot {
    try await stateCache.loadWindows(scope.names)
  }

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
