import News
import Synchronization

/// Holds the state of the present, and advances it by one query at a time, however many callers ask.
package final class StateKeeper: Sendable {
  private struct Memory {
    var state: VersionState?
    /// When the last query that succeeded began: the state was true then.
    var confirmed: ContinuousClock.Instant?
    /// When the first query began that has had no answer since the last one that succeeded; nil if there is none.
    var unansweredSince: ContinuousClock.Instant?
    /// Whether one of those queries has failed.
    var hasFailed = false
    /// Whether somebody sees to it that the state is never old.
    var isFollowed = false
    /// Whether the database tells by itself when there is something new.
    var isListening = false
    /// A query that is under way, and the one that will begin after it.
    var running: Task<VersionState, any Error>?
    var next: Task<VersionState, any Error>?
    var observers: [Int: AsyncStream<VersionState>.Continuation] = [:]
    var observersBegun = 0
    /// The epoch of the present, where that is known before its state.
    var epoch: String?
  }

  private let memory = Mutex(Memory())
  private let load: @Sendable (_ known: VersionState?) async throws -> VersionState
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter load: Makes the present state from a known one and what is new since.
  package init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    load: @escaping @Sendable (_ known: VersionState?) async throws -> VersionState
  ) {
    self.now = now
    self.load = load
  }

  /// How long a query may be under way before the database counts as not answering.
  package static let grace: Duration = .seconds(2)

  /// The last state, its age, and how long the database has not answered; nil before the first state.
  ///
  /// `outage` is nil while the database answers. It counts from the beginning of the first query that failed, or that
  /// has been under way for longer than `grace`.
  package var latest: (state: VersionState, age: Duration, outage: Duration?)? {
    memory.withLock { memory in
      guard let state = memory.state, let confirmed = memory.confirmed else { return nil }
      let now = now()
      let unanswered = memory.unansweredSince.map { now - $0 }
      return (state, now - confirmed, unanswered.flatMap { memory.hasFailed || $0 > Self.grace ? $0 : nil })
    }
  }

  /// Takes note of the epoch of the present: a state of another one is not given out any more.
  package func enter(_ epoch: String) {
    memory.withLock { memory in
      memory.epoch = epoch
      if memory.state?.epoch != epoch { memory.confirmed = nil }
    }
  }

  package var isFollowed: Bool {
    get { memory.withLock { $0.isFollowed } }
    set { memory.withLock { $0.isFollowed = newValue } }
  }

  var isListening: Bool {
    get { memory.withLock { $0.isListening } }
    set { memory.withLock { $0.isListening = newValue } }
  }

  /// Reads the state by a query that begins after this call. It goes on if the caller is cancelled: others may wait for
  /// it too.
  @discardableResult
  package func refresh() async throws -> VersionState { try await refreshing().value }

  private func refreshing() -> Task<VersionState, any Error> {
    memory.withLock { memory in
      if let next = memory.next { return next }
      guard let running = memory.running else {
        let first = Task { try await self.query() }
        memory.running = first
        return first
      }
      let next = Task {
        _ = await running.result
        // From here on others wait for the one after this.
        self.memory.withLock { memory in memory.running = memory.next.take() }
        return try await self.query()
      }
      memory.next = next
      return next
    }
  }

  /// The states from now on. Where one comes before the last was looked at, it takes its place.
  func states() -> AsyncStream<VersionState> {
    let (states, observer) = AsyncStream.makeStream(of: VersionState.self, bufferingPolicy: .bufferingNewest(1))
    let number = memory.withLock { memory in
      memory.observersBegun += 1
      memory.observers[memory.observersBegun] = observer
      return memory.observersBegun
    }
    observer.onTermination = { _ in self.memory.withLock { _ = $0.observers.removeValue(forKey: number) } }
    return states
  }

  /// The state as it was at most `age` ago, from memory if possible.
  ///
  /// - Parameter limit: The longest wait for a query, which goes on without the caller.
  /// - Throws: `StoreError.unavailable` after the limit; what a query throws.
  func state(notOlderThan age: Duration, waitingAtMost limit: Duration) async throws -> VersionState {
    if let latest, latest.age <= age { return latest.state }
    return try await refreshing().value(waitingAtMost: limit)
  }

  /// Sees to it that the state has a version that was committed before the call; nothing is asked if it has.
  ///
  /// - Throws: What a query throws.
  func reach(epoch: String?, version: Int) async throws {
    if let state = latest?.state, state.epoch == epoch, state.version >= version { return }
    try await refresh()
  }

  private func query() async throws -> VersionState {
    let (known, began) = memory.withLock { memory in
      let began = now()
      memory.unansweredSince = memory.unansweredSince ?? began
      return (memory.state, began)
    }
    let result: Result<VersionState, any Error>
    do { result = .success(try await load(known)) } catch { result = .failure(error) }
    let (state, observers) = try memory.withLock { memory in
      if memory.next == nil { memory.running = nil }
      if case .failure = result { memory.hasFailed = true }
      let state = try result.get()
      memory.unansweredSince = nil
      memory.hasFailed = false
      memory.state = state
      // Where another epoch has come to be known meanwhile, the next query has its state.
      memory.confirmed = memory.epoch ?? state.epoch == state.epoch ? began : nil
      return (state, memory.observers)
    }
    if state.moment != known?.moment { for observer in observers.values { observer.yield(state) } }
    return state
  }
}
