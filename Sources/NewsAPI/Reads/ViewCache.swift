import NIOCore
package import NewsStore
import Synchronization

/// A response as of one snapshot of the database.
package struct View: Sendable {
  package let representation: Representation
  /// The epoch and version of the snapshot.
  package let feedVersion: FeedVersion
  /// Whether the view is served in place of a newer one, which cannot be loaded.
  package let isStale: Bool

  package init(representation: Representation, feedVersion: FeedVersion, isStale: Bool = false) {
    self.representation = representation
    self.feedVersion = feedVersion
    self.isStale = isStale
  }
}

/// A cache of views. A view is valid until something in it changes, and is loaded once for all concurrent requests. It
/// is kept from its second request since the last change, so that requests without a repetition evict nothing.
///
///     let cache = ViewCache(budget: 64 << 20)
///     let view = try await cache.view(key, in: snapshot, limiter: reads) { try await load() }
package final class ViewCache: Sendable {
  fileprivate struct Entry {
    var view: View
    /// The last version for which the view is known to be current.
    var feedVersion: FeedVersion
    /// The time of the last use.
    var lastUsed: ContinuousClock.Instant
    /// The memory of the view when it was last used, in bytes.
    var cost: Int
  }

  /// A view that is being loaded.
  fileprivate struct PendingLoad {
    let number: Int
    /// The version that the load's snapshot has at least.
    let feedVersion: FeedVersion
    /// The task that requesters wait for: the load, or one that may end before it with a stale view.
    let task: SharedTask<View>
    let load: SharedTask<View>
    var requesters = 0
    /// Whether the view is kept.
    var isKept: Bool
    /// Whether the load has left the queue of its limiter.
    var hasBegun = false
    /// Whether its requesters have received a stale view instead.
    var isAbandoned = false
  }

  fileprivate struct Storage {
    var entries: BudgetedCache<ViewKey, Entry>
    var loads: [ViewKey: PendingLoad] = [:]
    /// The keys that were requested before, each with the last version of its dependency.
    var requested = RecentKeys()
    var lastLoad = 0
  }

  /// A request for a view, since the last change of what it depends on.
  fileprivate struct Request: Hashable {
    let key: ViewKey
    let epoch: String
    let version: Int
  }

  private enum Lookup {
    case cached(View)
    case pending(number: Int, SharedTask<View>)
  }

  /// The maximum wait for a load. It is longer than a queue, a connection, a statement and its cancellation together.
  static let maximumWait: Duration = .seconds(60)
  private static let probeInterval: Duration = .milliseconds(50)

  private let storage: Mutex<Storage>
  private let staleLimit: Duration
  private let isDatabaseUnresponsive: @Sendable () -> Bool
  private let probe: @Sendable () async -> Void
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - budget: The approximate memory for views, in bytes.
  ///   - staleLimit: The time for which an outdated view is served while the database does not respond.
  ///   - isDatabaseUnresponsive: Returns whether the database does not respond.
  ///   - probe: Sends a query to the database, so that it becomes known whether it responds.
  ///   - now: The clock.
  package init(
    budget: Int, staleLimit: Duration = .zero, isDatabaseUnresponsive: @escaping @Sendable () -> Bool = { false },
    probe: @escaping @Sendable () async -> Void = {},
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    storage = Mutex(Storage(entries: BudgetedCache(budget: budget)))
    self.staleLimit = staleLimit
    self.isDatabaseUnresponsive = isDatabaseUnresponsive
    self.probe = probe
    self.now = now
  }

  package var usage: CacheUsage { storage.withLock { $0.entries.usage } }

  /// Returns the view of a key if it is in memory and current; nil otherwise.
  package func cachedView(_ key: ViewKey, in snapshot: FeedSnapshot) -> View? {
    let now = now()
    return storage.withLock { $0.use(key, in: snapshot, now) }
  }

  /// Adds a view that was made from the state in memory, unless this is its first request since the last change.
  package func insert(_ view: View, for key: ViewKey, in snapshot: FeedSnapshot) {
    let now = now()
    storage.withLock { storage in
      if storage.isRepeated(key, in: snapshot) { storage.insert(view, for: key, now) }
    }
  }

  /// Counts a request for a key, so that the next one keeps its view.
  func note(_ key: ViewKey, in snapshot: FeedSnapshot) {
    storage.withLock { _ = $0.isRepeated(key, in: snapshot) }
  }

  /// Removes the view of a key whose content is out of date.
  package func remove(_ key: ViewKey) { storage.withLock { $0.entries.remove(key) } }

  /// Returns the current view of a key: from memory, from a pending load, or loaded now. While the database does not
  /// respond, it can be the previous view, which is marked (`View.isStale`).
  ///
  /// A load continues if the caller is cancelled, unless it is still in the queue of the limiter and has no other
  /// requester. Errors are not cached.
  package func view(
    _ key: ViewKey, in snapshot: FeedSnapshot, limiter: ConcurrencyLimiter? = nil,
    load: @escaping @Sendable () async throws -> View
  ) async throws -> View {
    switch lookUp(key, in: snapshot, limiter, load) {
    case .cached(let view): return view
    case .pending(let number, let task):
      defer { storage.withLock { $0.removeRequester(key, number) }?.cancel() }
      return try await task.value(waitingAtMost: Self.maximumWait)
    }
  }

  private func lookUp(
    _ key: ViewKey, in snapshot: FeedSnapshot, _ limiter: ConcurrencyLimiter?,
    _ load: @escaping @Sendable () async throws -> View
  ) -> Lookup {
    let (now, isUnresponsive) = (now(), isDatabaseUnresponsive())
    return storage.withLock { storage in
      if let view = storage.use(key, in: snapshot, now) { return .cached(view) }
      // A load that began before a change must not answer a request that knows of the change.
      if let pending = storage.loads[key], snapshot.isCurrent(key.view.dependency, since: pending.feedVersion),
        isUnresponsive || !pending.isAbandoned
      {
        storage.loads[key]?.requesters += 1
        storage.loads[key]?.isKept = true
        return .pending(number: pending.number, pending.task)
      }
      storage.lastLoad += 1
      let number = storage.lastLoad
      let load = SharedTask { try await self.run(load, for: key, number, limiter) }
      var task = load
      if let stale = storage.staleView(key, in: snapshot, now, limit: staleLimit) {
        task = SharedTask { try await self.wait(for: load, of: key, number, orServe: stale) }
      }
      storage.loads[key] = PendingLoad(
        number: number, feedVersion: snapshot.feedVersion, task: task, load: load, requesters: 1,
        isKept: storage.isRepeated(key, in: snapshot))
      return .pending(number: number, task)
    }
  }

  private func run(
    _ load: () async throws -> View, for key: ViewKey, _ number: Int, _ limiter: ConcurrencyLimiter?
  ) async throws -> View {
    func begin() async throws -> View {
      storage.withLock { storage in
        if storage.loads[key]?.number == number { storage.loads[key]?.hasBegun = true }
      }
      return try await load()
    }
    let result: Result<View, any Error>
    do {
      if let limiter {
        result = .success(try await limiter.run(begin))
      } else {
        result = .success(try await begin())
      }
    } catch { result = .failure(error) }
    storage.withLock { storage in
      guard let pending = storage.loads[key], pending.number == number else { return }
      storage.loads[key] = nil
      if case .success(let view) = result, pending.isKept { storage.insert(view, for: key, now()) }
    }
    return try result.get()
  }

  /// Waits for a load while the database responds, and returns the stale view otherwise.
  private func wait(
    for load: SharedTask<View>, of key: ViewKey, _ number: Int, orServe stale: View
  ) async throws -> View {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    Task {
      _ = try? await load.value(waitingAtMost: Self.maximumWait)
      end.yield(true)
    }
    let watch = Task {
      if !isDatabaseUnresponsive() {
        try await Task.sleep(for: Self.probeInterval)
        // Without the probe, the state would be checked only once a second.
        Task { await probe() }
      }
      while !isDatabaseUnresponsive() { try await Task.sleep(for: Self.probeInterval) }
      end.yield(false)
    }
    defer { watch.cancel() }
    for await isLoaded in ends {
      guard isLoaded else { break }
      do {
        return try await load.value(waitingAtMost: Self.maximumWait)
      } catch StoreError.unavailable { return stale }
    }
    storage.withLock { storage in
      if storage.loads[key]?.number == number { storage.loads[key]?.isAbandoned = true }
    }
    return stale
  }
}

extension ViewCache.Storage {
  /// Removes a requester that has its view, or waits no longer.
  ///
  /// - Returns: The load, to be cancelled, if it is still in a queue and has no other requester.
  mutating func removeRequester(_ key: ViewKey, _ number: Int) -> SharedTask<View>? {
    guard let pending = loads[key], pending.number == number else { return nil }
    loads[key]?.requesters -= 1
    guard pending.requesters == 1, !pending.hasBegun else { return nil }
    loads[key] = nil
    return pending.load
  }

  /// Returns the view of a key if it is current, and records the use.
  mutating func use(_ key: ViewKey, in snapshot: FeedSnapshot, _ now: ContinuousClock.Instant) -> View? {
    var changedCost: Int?
    defer { if let changedCost { entries.setCost(changedCost, for: key) } }
    return entries.use(key) { entry in
      guard snapshot.isCurrent(key.view.dependency, since: entry.feedVersion) else { return nil }
      entry.lastUsed = now
      // The body is assembled after the view was kept.
      let cost = entry.view.representation.cost
      if entry.cost != cost {
        entry.cost = cost
        changedCost = cost
      }
      // The next check need not go so far back.
      if entry.feedVersion.version < snapshot.feedVersion.version { entry.feedVersion = snapshot.feedVersion }
      return entry.view
    }
  }

  /// Remembers a request.
  ///
  /// - Returns: Whether the key was requested before, since the last change of what it depends on.
  mutating func isRepeated(_ key: ViewKey, in snapshot: FeedSnapshot) -> Bool {
    let version = snapshot.version(of: key.view.dependency)
    return requested.insert(ViewCache.Request(key: key, epoch: snapshot.feedVersion.epoch, version: version))
  }

  /// Returns the outdated view of a key, marked as stale, if it was current within the limit.
  func staleView(_ key: ViewKey, in snapshot: FeedSnapshot, _ now: ContinuousClock.Instant, limit: Duration) -> View? {
    guard key.mayBeStale, let entry = entries.value(of: key), entry.feedVersion.epoch == snapshot.feedVersion.epoch,
      now - entry.lastUsed <= limit
    else {
      return nil
    }
    return View(
      representation: entry.view.representation.stale(for: now - entry.lastUsed), feedVersion: entry.view.feedVersion,
      isStale: true)
  }

  mutating func insert(_ view: View, for key: ViewKey, _ now: ContinuousClock.Instant) {
    // A load with an older snapshot can finish later.
    if let old = entries.value(of: key), old.feedVersion.epoch == view.feedVersion.epoch,
      old.view.feedVersion.version > view.feedVersion.version
    {
      return
    }
    let cost = view.representation.cost
    let entry = ViewCache.Entry(view: view, feedVersion: view.feedVersion, lastUsed: now, cost: cost)
    entries.insert(entry, for: key, cost: cost)
  }
}
