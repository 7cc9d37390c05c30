import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import News
import NewsStore
import Synchronization

/// Answers public reads: repeated ones from memory, before the router, and others from the store.
final class PublicReads: Sendable {
  /// The cache policies of responses.
  struct Policies {
    let other: CachePolicy
    /// The policy of responses that clients poll.
    let polled: CachePolicy
    let longPoll: CachePolicy

    init(_ caching: CachePolicy, _ store: NewsStore, _ shutdownDelay: LongPolls.ShutdownDelay) {
      other = caching
      var polled = caching
      polled.pollInterval = { store.pollInterval }
      self.polled = polled
      longPoll = .longPoll { shutdownDelay.seconds }
    }
  }

  private let sources: ViewSources
  private let cache: ViewCache?
  private let unknownItems = UnknownItems()
  /// The meanings of targets, for requests that are answered before the router.
  private let targets: KnownTargets
  /// Limits the concurrent reads of the database.
  private let reads: ConcurrencyLimiter
  /// Limits those reads that are costly or serve a single client: searches, further pages, snapshots.
  private let singles: ConcurrencyLimiter
  private let policies: Policies
  private let slow: SlowRequests
  private let metrics: APIMetrics

  /// - Parameters:
  ///   - budget: The approximate memory for views, in bytes; nil to answer each request from the database.
  ///   - reads: Limits the reads of the database.
  ///   - singles: The maximum number of concurrent reads that serve a single client.
  ///   - pages: The views of pages for readers; nil if there are no pages.
  ///   - feeds: The publisher of feeds; nil if there are none.
  init(
    store: NewsStore, budget: Int?, reads: ConcurrencyLimiter, singles: Int, policies: Policies, slow: SlowRequests,
    metrics: APIMetrics, pages: PageViews?, feeds: FeedPublisher?
  ) {
    sources = ViewSources(store: store, pages: pages, feeds: feeds)
    targets = KnownTargets(
      PublicRoute.api + (pages == nil ? [] : PublicRoute.pages) + (feeds == nil ? [] : PublicRoute.feeds))
    self.reads = reads
    self.singles = ConcurrencyLimiter(limit: singles, within: reads)
    self.policies = policies
    self.slow = slow
    self.metrics = metrics
    cache = budget.map { budget in
      ViewCache(
        budget: budget, staleLimit: store.staleLimit, isDatabaseUnresponsive: { store.isDatabaseUnresponsive },
        probe: { await store.probe() })
    }
  }

  var store: NewsStore { sources.store }

  /// The publisher of feeds; nil if there are none.
  var feeds: FeedPublisher? { sources.feeds }

  /// The memory of views; nil if there are none.
  var viewUsage: CacheUsage? { cache?.usage }

  /// The reads of the database that run, wait, and were refused so far.
  var loadUsage: (running: Int, waiting: Int, refused: Int) {
    let (all, single) = (reads.usage, singles.usage)
    // A read of a single client first waits for its own limit, then for that of all.
    return (all.running, all.waiting + single.waiting, all.refused + single.refused)
  }

  /// Returns the response to a request with the content of a read, which need not be that of its target: 200 or 304.
  ///
  /// - Throws: `ProblemError`, 412; the errors of the store.
  func response(to request: Request, of read: PublicRead) async throws -> Response {
    try await withCurrent(read) { representation, limiter in
      try await representation.response(to: request, policy(of: read), metrics) {
        try await representation.body(from: store, limiter: limiter)
      }
    }
  }

  /// Loads and keeps the view of a read with its body, so that the requests that wait for it find both in memory.
  func prepare(_ read: PublicRead) async throws {
    try await withCurrent(read, keepsFirst: true) { representation, limiter in
      _ = try await representation.body(from: store, limiter: limiter)
    }
  }

  // MARK: The current view

  /// The maximum number of attempts to read a page whose items change between its two statements.
  private static let maximumAttempts = 10

  /// The result of a look in memory for a view.
  private enum Memory {
    case found(Representation, APIMetrics.ReadSource, in: FeedSnapshot)
    case missing
  }

  /// Runs the body with the current view of a read, again if an item of it has changed before its JSON was read.
  ///
  /// - Parameters:
  ///   - memory: The result of an earlier look in memory; nil if there was none.
  ///   - keepsFirst: Whether the view is kept from this request on, not only from the second one.
  /// - Throws: `StoreError.notFound` for an unknown topic in the path; the errors of the store and of the body.
  private func withCurrent<Result>(
    _ read: PublicRead, _ memory: Memory? = nil, keepsFirst: Bool = false,
    _ body: (Representation, ConcurrencyLimiter) async throws -> Result
  ) async throws -> Result {
    var memory = memory
    do {
      for _ in 0..<Self.maximumAttempts {
        do {
          let (representation, limiter) = try await current(read, memory, keepsFirst: keepsFirst)
          return try await body(representation, limiter)
        } catch is Representation.OutOfDate {
          cache?.remove(read.key)
          // The database has changed since this state.
          await store.probe()
          memory = nil
        }
      }
    } catch StoreError.unknownTopics where read.view.hasTopicInPath {
      throw StoreError.notFound
    } catch let error as StoreError where read.isLongPoll {
      // No cache stores the response to a long poll, so a 410 replaces none.
      var problem = ProblemError(error)
      problem.replacesStored = false
      throw problem
    }
    throw StoreError.unavailable
  }

  /// Returns the current view of a read, and the limiter for what its body still has to read.
  ///
  /// - Throws: The errors of the store and of the view's query; `OutOfDate`.
  private func current(
    _ read: PublicRead, _ memory: Memory?, keepsFirst: Bool
  ) async throws -> (Representation, ConcurrencyLimiter) {
    if case .found(let representation, let source, let snapshot) = memory {
      metrics.countRead(source)
      return (representation, limiter(of: read.view, in: snapshot))
    }
    let snapshot = try await store.snapshot(at: read.at, in: read.view.scope, since: read.view.since)
    let limiter = limiter(of: read.view, in: snapshot)
    if keepsFirst { cache?.note(read.key, in: snapshot) }
    if memory == nil, case .found(let representation, let source, _) = lookUp(read.key, in: snapshot) {
      metrics.countRead(source)
      return (representation, limiter)
    }
    return (try await load(read, in: snapshot, limiter), limiter)
  }

  private func limiter(of view: any PublicView, in snapshot: FeedSnapshot) -> ConcurrencyLimiter {
    view.isUncommon(in: snapshot) ? singles : reads
  }

  /// Looks in memory for the response of a key, or makes it from the state.
  private func lookUp(_ key: ViewKey, in snapshot: FeedSnapshot) -> Memory {
    guard let cache else { return .missing }
    if let view = cache.cachedView(key, in: snapshot) { return .found(view.representation, .view, in: snapshot) }
    guard let view = key.view.inMemory(snapshot, sources) else { return .missing }
    cache.insert(view, for: key, in: snapshot)
    return .found(view.representation, .windows, in: snapshot)
  }

  /// Reads a view that is not in memory.
  ///
  /// - Throws: The errors of the query of the view.
  private func load(
    _ read: PublicRead, in snapshot: FeedSnapshot, _ limiter: ConcurrencyLimiter
  ) async throws -> Representation {
    let view = read.view
    guard let cache else {
      return try await limiter.run { try await view.load(from: sources, in: snapshot) }.representation
    }
    if let id = view.itemID, unknownItems.contains(id, in: snapshot) { throw StoreError.notFound }
    if let scope = view.windowScope, let loaded = try await store.snapshot(after: snapshot, withWindowsOf: scope),
      let found = view.inMemory(loaded, sources)
    {
      cache.insert(found, for: read.key, in: loaded)
      metrics.countRead(.windows)
      return found.representation
    }
    metrics.countRead(.database)
    let loaded = try await cache.view(read.key, in: snapshot, limiter: limiter) { [sources, unknownItems] in
      do {
        return try await view.load(from: sources, in: snapshot)
      } catch StoreError.notFound {
        if let id = view.itemID { unknownItems.insert(id, after: snapshot) }
        throw StoreError.notFound
      }
    }
    // A client that waits for a change, or requires a state, would repeat its request at once.
    if loaded.isStale, read.isLongPoll || read.at != nil { throw StoreError.unavailable }
    return loaded.representation
  }

  private func policy(of read: PublicRead) -> CachePolicy {
    if read.isLongPoll { return policies.longPoll }
    return read.view.isPolled ? policies.polled : policies.other
  }
}

/// Requests that are answered before the router.
extension PublicReads {
  /// Looks in memory for the response that the router would send.
  ///
  /// - Parameter isNew: Whether a long poll is passed on, because it might have to wait.
  /// - Returns: The response, or how it is loaded; nil for a request that is not a valid public read.
  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup? {
    guard cache != nil, let read = targets.read(of: request.target), !(isNew && read.isLongPoll),
      let snapshot = store.cachedSnapshot
    else { return nil }
    let conditions = Representation.Conditions(
      ifNoneMatch: request.ifNoneMatch, ifModifiedSince: request.ifModifiedSince,
      acceptEncoding: request.acceptEncoding, isLongPoll: read.isLongPoll)
    let hasReached = read.at.map { snapshot.hasReached($0) } ?? true
    let memory = hasReached ? lookUp(read.key, in: snapshot) : nil
    if case .found(let representation, let source, _) = memory,
      let stored = representation.stored(for: conditions, policy(of: read), from: store)
    {
      return .response(response(stored, read.view.route, source))
    }
    return .load { [self] head, peer, logger in
      PublicReadLoad { [self] in
        await loadedResponse(to: head, read, memory, conditions, from: peer, logger)
      }
    }
  }

  private func response(
    _ stored: Representation.Stored, _ route: String, _ source: APIMetrics.ReadSource
  ) -> EarlyResponse {
    let instruments = metrics.instruments(route: route, method: .get, status: stored.response.status)
    return EarlyResponse(stored.response) { [metrics] isRepeated in
      metrics.countEarly()
      metrics.countRead(isRepeated ? .view : source)
      instruments.count(bytes: stored.response.bytes, duration: .zero)
      metrics.countSaved(stored.content)
    }
  }

  /// Loads the response to a request.
  ///
  /// - Returns: nil for an unexpected error, which the router reports.
  private func loadedResponse(
    to head: HTTPRequestHead, _ read: PublicRead, _ memory: Memory?, _ conditions: Representation.Conditions,
    from peer: SocketAddress?, _ logger: Logger
  ) async -> StoredResponse? {
    let (began, database) = (ContinuousClock.now, DatabaseTime())
    let response = await DatabaseTime.$current.withValue(database) { await load(read, memory, conditions) }
    guard let response else { return nil }
    let (duration, route) = (.now - began, read.view.route)
    metrics.countEarly(isHeld: true)
    metrics.count(route: route, method: .get, status: response.status, bytes: response.bytes, duration: duration)
    slow.log(duration: duration, database: database, status: response.status, logger) {
      slow.facts(head, route: route, peer: peer, status: response.status)
    }
    return response
  }

  private func load(
    _ read: PublicRead, _ memory: Memory?, _ conditions: Representation.Conditions
  ) async -> StoredResponse? {
    do {
      return try await withCurrent(read, memory) { representation, limiter in
        let stored = try await representation.loaded(for: conditions, policy(of: read)) {
          try await representation.body(from: store, limiter: limiter)
        }
        metrics.countSaved(stored.content)
        return stored.response
      }
    } catch {
      // The router would read once more.
      guard var problem = ProblemError(expected: error) else { return nil }
      let renderer = read.view.isPage ? sources.pages?.renderer : nil
      if renderer == nil { CORS.add(to: &problem.headers) }
      return problem.storedResponse(renderer)
    }
  }
}

/// The wait of a request for its response.
private struct PublicReadLoad: EarlyWait {
  let load: @Sendable () async -> StoredResponse?

  func start(
    on eventLoop: any EventLoop, release: @escaping @Sendable (StoredResponse?) -> Void
  ) -> (@Sendable () -> Void)? {
    let task = Task {
      let response = await load()
      eventLoop.execute { release(response) }
    }
    return { task.cancel() }
  }
}

/// The reads that targets mean, so that a repeated target is not parsed again.
private final class KnownTargets: Sendable {
  /// The maximum number of targets. Clients can make up any number of them, of any length.
  private static let maximumCount = 10_000
  private static let maximumBytes = 512

  private let routes: [PublicRoute]
  private let reads = Mutex<[String: PublicRead]>([:])

  init(_ routes: [PublicRoute]) { self.routes = routes }

  /// Returns the read that a target means; nil for an invalid target, which the router refuses.
  func read(of target: String) -> PublicRead? {
    if let known = reads.withLock({ $0[target] }) { return known }
    guard let read = routes.read(target) else { return nil }
    guard target.utf8.count <= Self.maximumBytes else { return read }
    reads.withLock { reads in
      if reads.count >= Self.maximumCount { reads.removeAll(keepingCapacity: true) }
      reads[target] = read
    }
    return read
  }
}
