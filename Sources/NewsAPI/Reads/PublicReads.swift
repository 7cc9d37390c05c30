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

/// Answers public reads from memory, or loads them from the store: those that have been answered from memory before
/// without the router, all others for its handlers.
final class PublicReads: Sendable {
  /// The cache policies of responses.
  struct Policies {
    let other: CachePolicy
    /// The policy of responses that clients poll.
    let polled: CachePolicy
    let longPoll: CachePolicy
  }

  let store: NewsStore
  /// The views of pages for readers; nil if there are no pages.
  private let pages: PageViews?
  /// The publisher of feeds; nil if there are none.
  let feeds: FeedPublisher?
  private let cache: ViewCache?
  private let unknownItems = UnknownItems()
  /// The meanings of targets, for requests that are answered before the router.
  private let targets = KnownTargets()
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
    self.store = store
    self.pages = pages
    self.feeds = feeds
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

  /// The memory of views; nil if there are none.
  var viewUsage: CacheUsage? { cache?.usage }

  /// The reads of the database that run, wait, and were refused so far.
  var loadUsage: (running: Int, waiting: Int, refused: Int) {
    let (all, single) = (reads.usage, singles.usage)
    // A read of a single client first waits for its own limit, then for that of all.
    return (all.running, all.waiting + single.waiting, all.refused + single.refused)
  }

  /// Returns the response to a read: 200 with the content of a view, or 304.
  ///
  /// - Parameter parse: Reads the target of the request.
  /// - Throws: `ProblemError`, 412; the errors of the store and of `parse`.
  func response(to request: Request, _ parse: () throws -> PublicRead) async throws -> Response {
    try await response(to: request, of: try targets.known(request.uri.string) ?? parse())
  }

  /// Returns the response to a request with the content of a read, which need not be that of its target.
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

  /// The maximum number of attempts to read a page whose items change between its two statements.
  private static let maximumAttempts = 10

  /// Runs the body with the current view of a read, again if an item of it has changed before its JSON was read.
  ///
  /// - Parameter keepsFirst: Whether the view is kept from this request on, not only from the second one.
  /// - Throws: `StoreError.notFound` for the feed of an unknown topic; the errors of the store and of the body.
  private func withCurrent<Result>(
    _ read: PublicRead, keepsFirst: Bool = false, _ body: (Representation, ConcurrencyLimiter) async throws -> Result
  ) async throws -> Result {
    do {
      return try await repeating(read, keepsFirst: keepsFirst, body)
    } catch StoreError.unknownTopics where read.key.isFeed {
      throw StoreError.notFound
    }
  }

  private func repeating<Result>(
    _ read: PublicRead, keepsFirst: Bool, _ body: (Representation, ConcurrencyLimiter) async throws -> Result
  ) async throws -> Result {
    for _ in 0..<Self.maximumAttempts {
      let snapshot = try await snapshot(for: read)
      if keepsFirst { cache?.note(read.key, in: snapshot) }
      let limiter = read.key.isUncommon(in: snapshot) ? singles : reads
      do {
        return try await body(try await representation(of: read, in: snapshot, limiter), limiter)
      } catch is Representation.OutOfDate {
        cache?.remove(read.key)
        // The database has changed since this state.
        await store.probe()
      }
    }
    throw StoreError.unavailable
  }

  /// Returns the state from which a read is answered.
  ///
  /// - Throws: `StoreError.notFound` for the page of an unknown topic, which is in the path; the errors of the store.
  private func snapshot(for read: PublicRead) async throws -> FeedSnapshot {
    do {
      return try await store.snapshot(at: read.at, in: read.key.scope, since: read.key.since)
    } catch StoreError.unknownTopics where read.key.isPage {
      throw StoreError.notFound
    }
  }

  /// Returns the view of a read that is current in a state.
  ///
  /// - Throws: The errors of the query of the view.
  private func representation(
    of read: PublicRead, in snapshot: FeedSnapshot, _ limiter: ConcurrencyLimiter
  ) async throws -> Representation {
    let key = read.key
    guard let cache else {
      return try await limiter.run { try await key.load(from: store, in: snapshot, pages, feeds) }.representation
    }
    if let found = inMemory(key, in: snapshot) {
      metrics.countRead(found.source)
      return found.representation
    }
    if let id = key.itemID, unknownItems.contains(id, in: snapshot) { throw StoreError.notFound }
    if let query = key.itemQuery, query.search == nil,
      let loaded = try await store.snapshot(after: snapshot, withWindowsOf: query.scope),
      let view = key.view(in: loaded, pages)
    {
      metrics.countRead(.windows)
      return view.representation
    }
    metrics.countRead(.database)
    let view = try await cache.view(key, in: snapshot, limiter: limiter) { try await self.load(key, in: snapshot) }
    // A client that waits for a change, or requires a state, would repeat its request at once.
    if view.isStale, read.isLongPoll || read.at != nil { throw StoreError.unavailable }
    return view.representation
  }

  private func load(_ key: ViewKey, in snapshot: FeedSnapshot) async throws -> View {
    guard let id = key.itemID else { return try await key.load(from: store, in: snapshot, pages, feeds) }
    do {
      return try await key.load(from: store, in: snapshot, pages, feeds)
    } catch StoreError.notFound {
      unknownItems.insert(id, after: snapshot)
      throw StoreError.notFound
    }
  }

  /// Returns the response of a key if it is in memory, or can be made from the state; nil otherwise.
  private func inMemory(
    _ key: ViewKey, in snapshot: FeedSnapshot
  ) -> (representation: Representation, source: APIMetrics.ReadSource)? {
    guard let cache else { return nil }
    if let view = cache.cachedView(key, in: snapshot) { return (view.representation, .view) }
    guard let view = key.view(in: snapshot, pages) else { return nil }
    cache.insert(view, for: key, in: snapshot)
    return (view.representation, .windows)
  }

  /// Returns the response that the router would send; nil if it is not in memory.
  ///
  /// - Parameter isNew: Whether a long poll is refused, because it might have to wait.
  func storedResponse(to request: PlainRequest, isNew: Bool) -> EarlyResponse? {
    guard let request = readRequest(request), !(isNew && request.read.isLongPoll), let snapshot = store.cachedSnapshot,
      request.read.at.map({ snapshot.hasReached($0) }) ?? true,
      let (representation, source) = inMemory(request.read.key, in: snapshot),
      let stored = representation.stored(for: request.conditions, policy(of: request.read), from: store)
    else { return nil }
    let instruments = metrics.instruments(
      route: request.read.key.route, method: .get, status: stored.response.status)
    return EarlyResponse(stored.response) { [metrics] isRepeated in
      metrics.countEarly()
      metrics.countRead(isRepeated ? .view : source)
      instruments.count(bytes: stored.response.bytes, duration: .zero)
      metrics.countSaved(stored.savedByNotModified, stored.savedByCompression)
    }
  }

  /// Returns the wait for the response to a read that is not in memory; nil to leave the request to the router.
  ///
  /// - Parameter head: The same request as it was decoded.
  func load(
    _ request: PlainRequest, _ head: HTTPRequestHead, from peer: SocketAddress?, _ logger: Logger
  ) -> (any EarlyWait)? {
    guard let request = readRequest(request), store.cachedSnapshot != nil else { return nil }
    return PublicReadLoad(reads: self, head: head, request: request, peer: peer, logger: logger)
  }

  /// Loads the response to a request.
  ///
  /// - Returns: nil for an unexpected error, which the router reports.
  fileprivate func loadedResponse(_ load: PublicReadLoad) async -> StoredResponse? {
    let (began, database) = (ContinuousClock.now, DatabaseTime())
    let response = await DatabaseTime.$current.withValue(database) { await answer(load.request, since: began) }
    if let response {
      slow.log(duration: .now - began, database: database, status: response.status, load.logger) {
        slow.facts(load.head, route: load.request.read.key.route, peer: load.peer, status: response.status)
      }
    }
    return response
  }

  private func answer(_ request: ReadRequest, since began: ContinuousClock.Instant) async -> StoredResponse? {
    do {
      return try await withCurrent(request.read) { representation, limiter in
        let policy = policy(of: request.read)
        var response = representation.stored(for: request.conditions, policy, from: store)
        if response == nil {
          try await representation.prepare(for: request.conditions, policy) {
            try await representation.body(from: store, limiter: limiter)
          }
          response = representation.stored(for: request.conditions, policy, from: store)
        }
        if let response { count(response, request.read.key, after: .now - began) }
        return response?.response
      }
    } catch {
      // The router would read once more.
      guard var problem = ProblemError(expected: error) else { return nil }
      if request.read.isLongPoll { problem.replacesStored = false }
      let renderer = request.read.key.isPage ? pages?.renderer : nil
      if renderer == nil { CORS.add(to: &problem.headers) }
      let response = problem.storedResponse(renderer)
      count(response, request.read.key, after: .now - began)
      return response
    }
  }

  /// A plain request for a public read.
  fileprivate struct ReadRequest: Sendable {
    let read: PublicRead
    let conditions: Representation.Conditions
  }

  private func readRequest(_ request: PlainRequest) -> ReadRequest? {
    guard cache != nil, let read = targets.read(of: request.target), pages != nil || !read.key.isPage,
      feeds != nil || !read.key.isFeed
    else { return nil }
    return ReadRequest(
      read: read,
      conditions: Representation.Conditions(
        ifNoneMatch: request.ifNoneMatch, ifModifiedSince: request.ifModifiedSince,
        acceptEncoding: request.acceptEncoding, isLongPoll: read.isLongPoll))
  }

  private func policy(of read: PublicRead) -> CachePolicy {
    if read.isLongPoll { return policies.longPoll }
    return read.key.isFollowed ? policies.polled : policies.other
  }

  private func count(_ stored: Representation.Stored, _ key: ViewKey, after duration: Duration) {
    count(stored.response, key, after: duration)
    metrics.countSaved(stored.savedByNotModified, stored.savedByCompression)
  }

  private func count(_ response: StoredResponse, _ key: ViewKey, after duration: Duration) {
    metrics.countEarly(isHeld: true)
    metrics.count(route: key.route, method: .get, status: response.status, bytes: response.bytes, duration: duration)
  }
}

/// The wait of a request for its response.
private struct PublicReadLoad: EarlyWait {
  let reads: PublicReads
  let head: HTTPRequestHead
  let request: PublicReads.ReadRequest
  let peer: SocketAddress?
  let logger: Logger

  func start(
    on eventLoop: any EventLoop, release: @escaping @Sendable (StoredResponse?) -> Void
  ) -> (@Sendable () -> Void)? {
    let load = Task {
      let response = await reads.loadedResponse(self)
      eventLoop.execute { release(response) }
    }
    return { load.cancel() }
  }
}

/// The reads that targets mean, so that a repeated target is not parsed again.
private final class KnownTargets: Sendable {
  /// The maximum number of targets. Clients can make up any number of them, of any length.
  private static let maximumCount = 10_000
  private static let maximumBytes = 512

  private let reads = Mutex<[String: PublicRead]>([:])

  /// Returns the read that a target means, if it was parsed before.
  func known(_ target: String) -> PublicRead? { reads.withLock { $0[target] } }

  /// Returns the read that a target means; nil for an invalid target, which the router refuses.
  func read(of target: String) -> PublicRead? {
    if let known = known(target) { return known }
    guard let read = PublicRead(target: target) else { return nil }
    guard target.utf8.count <= Self.maximumBytes else { return read }
    reads.withLock { reads in
      if reads.count >= Self.maximumCount { reads.removeAll(keepingCapacity: true) }
      reads[target] = read
    }
    return read
  }
}
