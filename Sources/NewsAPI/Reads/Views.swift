import News
import NewsStore
import Synchronization

/// The public responses: from memory if they are there and current, otherwise loaded from the store. It also remembers
/// which target means which view, for requests that are answered before the router.
struct Views: Sendable {
  let store: NewsStore
  let targets = KnownTargets()
  private let cache: ViewCache?
  /// Limits the concurrent reads of the database.
  private let reads: ConcurrencyLimiter
  /// Limits those reads that are costly or serve a single request: searches, further pages, filters, snapshots.
  private let singles: ConcurrencyLimiter
  private let repeats = RepeatDetector()

  /// - Parameters:
  ///   - budget: The approximate memory for views, in bytes; nil for no cache.
  ///   - reads: Limits the reads of the database.
  ///   - singles: The maximum number of concurrent reads that serve a single request.
  init(store: NewsStore, budget: Int?, reads: ConcurrencyLimiter, singles: Int) {
    self.store = store
    self.reads = reads
    self.singles = ConcurrencyLimiter(limit: singles, within: reads)
    cache = budget.map { budget in
      ViewCache(
        budget: budget, staleLimit: store.staleLimit, isDatabaseUnresponsive: { store.isDatabaseUnresponsive },
        probe: { await store.probe() })
    }
  }

  /// Returns the response of a view that is current for a request.
  ///
  /// - Parameters:
  ///   - at: The token of a state that must have been reached.
  ///   - isLongPoll: Whether the client waits for a change.
  ///   - target: The target of the request.
  /// - Throws: The errors of `NewsStore.snapshot` and of the query of the view.
  func representation(
    of key: ViewKey, at: SyncToken? = nil, isLongPoll: Bool = false, for target: String
  ) async throws -> Representation {
    let snapshot = try await store.snapshot(at: at, in: key.scope, since: key.since)
    let handling = key.handling(in: snapshot)
    let limiter = limiter(for: handling)
    let load: @Sendable () async throws -> View = { [store] in try await key.load(from: store, in: snapshot) }
    guard let cache, keeps(key, handling, in: snapshot) else {
      guard let limiter else { return try await load().representation }
      return try await limiter.run(load).representation
    }
    let view = try await cache.view(key, in: snapshot, limiter: limiter, load: load)
    // A client that waits for a change, or requires a state, would repeat its request at once.
    if view.isStale, isLongPoll || at != nil { throw StoreError.unavailable }
    if at == nil {
      targets.add(target, KnownTargets.Target(key: key, isLongPoll: isLongPoll, epoch: view.feedVersion.epoch))
    }
    return view.representation
  }

  /// Returns the response of a key if it is in memory and current.
  func cached(_ key: ViewKey, in snapshot: FeedSnapshot) -> Representation? {
    cache?.cachedView(key, in: snapshot)?.representation
  }

  private func limiter(for handling: ViewKey.Handling) -> ConcurrencyLimiter? {
    switch handling {
    case .computed: nil
    case .common: reads
    case .repeated, .single: singles
    }
  }

  private func keeps(_ key: ViewKey, _ handling: ViewKey.Handling, in snapshot: FeedSnapshot) -> Bool {
    switch handling {
    case .computed, .common: true
    case .repeated: cached(key, in: snapshot) != nil || repeats.insert(key)
    case .single: false
    }
  }
}

/// The targets of requests that were answered from memory, with their views.
final class KnownTargets: Sendable {
  struct Target {
    let key: ViewKey
    /// Whether the target has the parameter `wait`.
    let isLongPoll: Bool
    /// The epoch in which tokens in the target were checked.
    let epoch: String
  }

  /// The maximum number of targets. Clients can make up any number of them, of any length.
  private static let maximumCount = 10_000
  private static let maximumBytes = 512

  private let targets = Mutex<[String: Target]>([:])

  func add(_ target: String, _ meaning: Target) {
    guard target.utf8.count <= Self.maximumBytes else { return }
    targets.withLock { targets in
      if targets.count >= Self.maximumCount { targets.removeAll(keepingCapacity: true) }
      targets[target] = meaning
    }
  }

  /// Returns the meaning of a target; nil for an unknown target, or one of another epoch.
  func meaning(of target: String, epoch: String) -> Target? {
    targets.withLock { targets in
      guard let known = targets[target], known.epoch == epoch else { return nil }
      return known
    }
  }
}
