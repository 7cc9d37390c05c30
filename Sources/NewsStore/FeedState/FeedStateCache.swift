import News
import Synchronization

/// A cache of the feed's current state. One query at a time advances it, for any number of callers.
package final class FeedStateCache: Sendable {
  private struct Memory {
    var state: FeedSnapshot?
    /// The start of the last successful query, at which the state was current.
    var confirmed: ContinuousClock.Instant?
    /// The start of the first query since then that is unanswered; nil if there is none.
    var unansweredSince: ContinuousClock.Instant?
    /// Whether one of the unanswered queries has failed.
    var hasFailed = false
    /// Whether `NewsStore.follow()` keeps the state current.
    var isFollowed = false
    /// Whether notifications from the database arrive.
    var isListening = false
    /// The running query, and the one that begins after it.
    var running: SharedTask<FeedSnapshot>?
    var next: SharedTask<FeedSnapshot>?
    var observers: [Int: AsyncStream<FeedSnapshot>.Continuation] = [:]
    var observersBegun = 0
    /// The current epoch, which may become known before its state.
    var epoch: String?
    /// The scopes whose windows the next query loads.
    var wanted: Set<String> = []
    /// The commits of this process that the answer of a running query may lack, or whose predecessor is unknown.
    var commits: [OwnCommit] = []

    /// Ends the running query. The one after it, if any, takes its place by itself.
    mutating func endQuery() {
      if next == nil { running = nil }
    }

    /// Forgets the commits that no answer of a query can lack any more.
    mutating func forgetCommits() {
      guard running == nil, let state else { return }
      commits.removeAll { $0.epoch == state.epoch && $0.base < state.version }
    }

    /// The commit after a state.
    func commit(after state: FeedSnapshot) -> OwnCommit? { commits.first { state.precedes($0) } }
  }

  /// The maximum number of commits that are kept.
  private static let maximumCommits = 256

  private let memory = Mutex(Memory())
  /// The number of changes of the state, and of the beginnings and ends of outages.
  let generation = Atomic(0)
  private let load: @Sendable (StateRequest) async throws -> FeedSnapshot
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter load: Reads the current state.
  package init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    load: @escaping @Sendable (StateRequest) async throws -> FeedSnapshot
  ) {
    self.now = now
    self.load = load
  }

  /// The time after which a running query counts as unanswered.
  package static let grace: Duration = .seconds(2)

  /// The latest state, its age, and the length of an outage; nil before the first state.
  ///
  /// `outage` is nil while the database answers. It counts from the start of the first query that has failed or has run
  /// for longer than `grace`.
  package var latest: (state: FeedSnapshot, age: Duration, outage: Duration?)? {
    memory.withLock { memory in
      guard let state = memory.state, let confirmed = memory.confirmed else { return nil }
      let now = now()
      let unanswered = memory.unansweredSince.map { now - $0 }
      return (state, now - confirmed, unanswered.flatMap { memory.hasFailed || $0 > Self.grace ? $0 : nil })
    }
  }

  /// Sets the current epoch. States of other epochs are no longer returned.
  package func enter(_ epoch: String) {
    memory.withLock { memory in
      memory.epoch = epoch
      memory.commits.removeAll { $0.epoch != epoch }
      if memory.state?.epoch != epoch { memory.confirmed = nil }
    }
    advanceGeneration()
  }

  /// Called after a change, so that whoever sees the new number also sees the change.
  private func advanceGeneration() { generation.add(1, ordering: .releasing) }

  package var isFollowed: Bool {
    get { memory.withLock { $0.isFollowed } }
    set {
      memory.withLock { $0.isFollowed = newValue }
      advanceGeneration()
    }
  }

  var isListening: Bool {
    get { memory.withLock { $0.isListening } }
    set { memory.withLock { $0.isListening = newValue } }
  }

  /// Reads the state with a query that begins after this call. The query continues after a cancellation of the caller,
  /// because others may wait for it.
  @discardableResult
  package func refresh() async throws -> FeedSnapshot { try await refreshing().value }

  private func refreshing() -> SharedTask<FeedSnapshot> {
    memory.withLock { memory in
      if let next = memory.next { return next }
      guard let running = memory.running else {
        let first = SharedTask { try await self.query() }
        memory.running = first
        return first
      }
      let next = SharedTask {
        _ = try? await running.value
        // Later callers wait for the query after this one.
        self.memory.withLock { memory in memory.running = memory.next.take() }
        return try await self.query()
      }
      memory.next = next
      return next
    }
  }

  /// Reads the state with the windows of some scopes, unless all others are in use.
  ///
  /// - Throws: The errors of the query.
  func loadWindows(_ names: [String]) async throws -> FeedSnapshot {
    memory.withLock { memory in memory.wanted.formUnion(names) }
    return try await refresh()
  }

  /// The states from now on. The stream buffers only the latest one.
  func states() -> AsyncStream<FeedSnapshot> {
    let (states, observer) = AsyncStream.makeStream(of: FeedSnapshot.self, bufferingPolicy: .bufferingNewest(1))
    let number = memory.withLock { memory in
      memory.observersBegun += 1
      memory.observers[memory.observersBegun] = observer
      return memory.observersBegun
    }
    observer.onTermination = { _ in self.memory.withLock { _ = $0.observers.removeValue(forKey: number) } }
    return states
  }

  /// Returns a state of at most this age, from memory if possible.
  ///
  /// - Parameter limit: The maximum wait for a query, which continues without the caller.
  /// - Throws: `StoreError.unavailable` after the limit, and the errors of the query.
  func state(notOlderThan age: Duration, waitingAtMost limit: Duration) async throws -> FeedSnapshot {
    if let latest, latest.age <= age { return latest.state }
    return try await refreshing().value(waitingAtMost: limit)
  }

  /// Waits until the state has a version that was committed before the call. If it already has, no query runs.
  ///
  /// - Throws: The errors of the query.
  func reach(epoch: String?, version: Int) async throws {
    if let state = latest?.state, state.epoch == epoch, state.version >= version { return }
    try await refresh()
  }

  /// Advances the state by a commit of this process. If other changes come before it, the next query reads both.
  package func apply(_ commit: OwnCommit) {
    let isKept = memory.withLock { memory in
      // Without room, the state stays as it is, because the answer of a running query could not follow it.
      guard memory.isFollowed, memory.epoch ?? commit.epoch == commit.epoch,
        memory.commits.count < Self.maximumCommits
      else { return false }
      memory.commits.append(commit)
      memory.forgetCommits()
      return true
    }
    guard isKept else { return }
    while let (state, commit) = memory.withLock({ memory in
      memory.state.flatMap { state in memory.commit(after: state).map { (state, $0) } }
    }) {
      // Readers do not wait meanwhile.
      let next = state.advanced(by: commit)
      let observers = memory.withLock { memory -> [AsyncStream<FeedSnapshot>.Continuation] in
        // A query, or another commit, may have been faster.
        guard memory.state === state else { return [] }
        memory.state = next
        memory.forgetCommits()
        return Array(memory.observers.values)
      }
      advanceGeneration()
      for observer in observers { observer.yield(next) }
    }
  }

  private func query() async throws -> FeedSnapshot {
    let (request, began) = memory.withLock { memory in
      let began = now()
      memory.unansweredSince = memory.unansweredSince ?? began
      defer { memory.wanted = [] }
      return (StateRequest(after: memory.state, wanting: memory.wanted), began)
    }
    let result: Result<FeedSnapshot, any Error>
    do { result = .success(try await load(request)) } catch { result = .failure(error) }
    var isChanged = true
    defer { if isChanged { advanceGeneration() } }
    guard case .success(var state) = result else {
      memory.withLock { memory in
        memory.endQuery()
        memory.hasFailed = true
      }
      return try result.get()
    }
    var observers: [AsyncStream<FeedSnapshot>.Continuation]?
    while observers == nil {
      // The answer may be older than the commits by which the state has advanced since.
      while let commit = memory.withLock({ $0.commit(after: state) }) { state = state.advanced(by: commit) }
      observers = memory.withLock { [state] memory in
        guard memory.commit(after: state) == nil else { return nil }
        memory.endQuery()
        let isNew = memory.state?.feedVersion != state.feedVersion
        isChanged = memory.hasFailed || isNew || memory.state?.floors != state.floors
        memory.unansweredSince = nil
        memory.hasFailed = false
        memory.state = state
        memory.forgetCommits()
        // A new epoch became known during the query: the next query reads its state.
        memory.confirmed = memory.epoch ?? state.epoch == state.epoch ? began : nil
        return isNew ? Array(memory.observers.values) : []
      }
    }
    for observer in observers ?? [] { observer.yield(state) }
    return state
  }
}
