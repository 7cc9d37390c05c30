import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
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
  private let cache: ViewCache?
  /// The meanings of targets, for requests that are answered before the router.
  private let targets = KnownTargets()
  /// Limits the concurrent reads of the database.
  private let reads: ConcurrencyLimiter
  /// Limits those reads that are costly or serve a single request: searches, further pages, filters, snapshots.
  private let singles: ConcurrencyLimiter
  private let repeats = RepeatDetector()
  private let policies: Policies
  private let metrics: APIMetrics

  /// - Parameters:
  ///   - budget: The approximate memory for views, in bytes; nil for no cache.
  ///   - reads: Limits the reads of the database.
  ///   - singles: The maximum number of concurrent reads that serve a single request.
  init(
    store: NewsStore, budget: Int?, reads: ConcurrencyLimiter, singles: Int, policies: Policies, metrics: APIMetrics
  ) {
    self.store = store
    self.reads = reads
    self.singles = ConcurrencyLimiter(limit: singles, within: reads)
    self.policies = policies
    self.metrics = metrics
    cache = budget.map { budget in
      ViewCache(
        budget: budget, staleLimit: store.staleLimit, isDatabaseUnresponsive: { store.isDatabaseUnresponsive },
        probe: { await store.probe() })
    }
  }

  /// Returns the response with the content of a view, or a 304.
  ///
  /// - Parameters:
  ///   - at: The token of a state that must have been reached.
  ///   - isLongPoll: Whether the client waits for a change.
  /// - Throws: `ProblemError`, 412; the errors of the store.
  func response(
    _ key: ViewKey, at: SyncToken? = nil, isLongPoll: Bool = false, to request: Request
  ) async throws -> Response {
    try await representation(of: key, at: at, isLongPoll: isLongPoll, for: request.uri.string)
      .response(to: request, policy(of: key, isLongPoll), metrics)
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
  private func cached(_ key: ViewKey, in snapshot: FeedSnapshot) -> Representation? {
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

  /// Returns the response that the router would send; nil if it is not in memory.
  func storedResponse(to head: HTTPRequestHead) -> StoredResponse? {
    guard head.method == .GET, head.version == .http1_1, var conditions = Representation.Conditions(head),
      let snapshot = store.cachedSnapshot,
      let target = targets.meaning(of: head.uri, epoch: snapshot.feedVersion.epoch),
      let representation = cached(target.key, in: snapshot)
    else { return nil }
    conditions.isLongPoll = target.isLongPoll
    let policy = policy(of: target.key, target.isLongPoll)
    guard let stored = representation.stored(for: conditions, target: head.uri, policy) else { return nil }
    count(stored, target.key)
    return stored.response
  }

  private func policy(of key: ViewKey, _ isLongPoll: Bool) -> CachePolicy {
    if isLongPoll { return policies.longPoll }
    return key.isFollowed ? policies.polled : policies.other
  }

  private func count(_ stored: Representation.Stored, _ key: ViewKey) {
    let response = stored.response
    metrics.countEarlyResponse()
    metrics.count(route: key.route, method: .get, status: response.status, bytes: response.bytes, duration: .zero)
    if stored.savedByNotModified > 0 { metrics.countNotModified(sparing: stored.savedByNotModified) }
    if stored.savedByCompression > 0 { metrics.countCompression(sparing: stored.savedByCompression) }
  }
}

/// The targets of requests that were answered from memory, with their views.
private final class KnownTargets: Sendable {
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

extension Representation.Conditions {
  /// Reads the conditions of a plain request.
  ///
  /// - Returns: nil for any other request, which is left to the router.
  fileprivate init?(_ head: HTTPRequestHead) {
    var host: String?
    var size = head.uri.utf8.count
    for (name, value) in head.headers {
      size += name.utf8.count + value.utf8.count + 4
      switch name.utf8.count {
      case 4 where name.isField("host"):
        guard host == nil else { return nil }
        host = value
      case 13 where name.isField("if-none-match"):
        guard ifNoneMatch == nil else { return nil }
        ifNoneMatch = value
      case 15 where name.isField("accept-encoding"):
        guard acceptEncoding == nil else { return nil }
        acceptEncoding = value
      case 17 where name.isField("if-modified-since"):
        guard ifModifiedSince == nil else { return nil }
        ifModifiedSince = value
      case 10 where name.isField("connection"):
        guard value.isField("keep-alive") else { return nil }
      case 6 where name.isField("expect"), 7 where name.isField("upgrade"), 8 where name.isField("if-match"),
        14 where name.isField("content-length"), 17 where name.isField("transfer-encoding"),
        19 where name.isField("if-unmodified-since"):
        return nil
      default: break
      }
    }
    guard size <= EdgeChannel.maximumHeaderBytes, let host, HTTPRequestHead.isAuthority(host) else { return nil }
  }
}

extension String {
  /// Whether the text equals a name in lower case, regardless of its own case.
  fileprivate func isField(_ name: StaticString) -> Bool {
    guard utf8.count == name.utf8CodeUnitCount else { return false }
    var place = name.utf8Start
    for byte in utf8 {
      guard byte | (65...90 ~= byte ? 0x20 : 0) == place.pointee else { return false }
      place += 1
    }
    return true
  }
}
