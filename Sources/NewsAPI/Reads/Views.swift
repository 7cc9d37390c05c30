import Foundation
import HTTPConditions
import HTTPTypes
import News
import NewsStore

/// Loads the public responses from the store, and caches those that are requested repeatedly. It also remembers which
/// target means which view, for `RepeatedReads`.
struct Views: Sendable {
  let store: NewsStore
  let targets = KnownTargets()
  private let cache: ViewCache?
  /// Limits the concurrent reads of the database.
  private let reads: ConcurrencyLimiter
  /// Limits those reads that are costly or serve a single request: searches, further pages, filters, snapshots.
  private let singles: ConcurrencyLimiter
  private let repeats = RepeatDetector()

  /// The number of recent versions from which changes are cached.
  private static let recentVersions = 1000

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

  /// Returns a page of items.
  ///
  /// - Parameter at: The token of a state that must have been reached.
  /// - Throws: The errors of `NewsStore.items` and `NewsStore.snapshot`.
  func items(
    _ query: ItemQuery, _ cursor: PageCursor, at: SyncToken?, for target: String
  ) async throws -> Representation {
    let snapshot = try await store.snapshot(at: at, in: query.scope)
    let key = ViewKey.items(query)
    let limiter = key.isCommon ? reads : singles
    return try await cached(key, for: target, in: snapshot, isExact: at == nil, limiter) {
      let page = try await store.items(query)
      var fields: HTTPFields = [.syncToken: page.token.description]
      fields[.link] = page.next.map { "<\(query.target(cursor: cursor.text($0)))>; rel=\"next\"" }
      return View(
        representation: Representation(
          try NewsJSON.encode(ItemList(items: page.items)),
          lastModified: page.modified.map { LastModified($0, now: page.now) }, fields: fields),
        feedVersion: page.feedVersion)
    }
  }

  /// Returns an item.
  ///
  /// - Throws: The errors of `NewsStore.item` and `NewsStore.snapshot`.
  func item(_ id: UUID, includesHTML: Bool, at: SyncToken?, for target: String) async throws -> Representation {
    let snapshot = try await store.snapshot(at: at, in: .feed)
    return try await cached(.item(id, html: includesHTML), for: target, in: snapshot, isExact: at == nil, reads) {
      let answer = try await store.item(id, includesHTML: includesHTML)
      return View(
        representation: Representation(
          try NewsJSON.encode(answer.item), lastModified: LastModified(answer.item.updated, now: answer.now)),
        feedVersion: answer.feedVersion)
    }
  }

  /// Returns the changes after a token, or the snapshot.
  ///
  /// - Throws: The errors of `NewsStore.changes` and `NewsStore.snapshot`.
  func changes(_ request: ChangeRequest, for target: String) async throws -> Representation {
    let query = request.query
    // The continuation of a snapshot is checked with its rows.
    let since = query.since.flatMap { $0.position == nil ? $0 : nil }
    let snapshot = try await store.snapshot(at: request.at, in: query.scope, since: since)
    let load: @Sendable () async throws -> View = {
      let (list, feedVersion) = try await store.changes(query, in: snapshot)
      // The tag of a complete response is the token, so a client can revalidate with any token that it has. An incomplete
      // page can have the same token with different content.
      let token = list.token.description
      return View(
        representation: Representation(
          try NewsJSON.encode(list), tag: list.more ? nil : EntityTag(strong: token), fields: [.syncToken: token]),
        feedVersion: feedVersion)
    }
    // Snapshots and old tokens.
    guard let since, let current = snapshot.token(of: query.scope),
      since.version >= current.version - Self.recentVersions
    else { return try await single(load) }
    // An empty response comes from the state, without a read of the database.
    let limiter = snapshot.isNewest(since, in: query.scope) ? nil : reads
    let key = ViewKey.changes(query.scope, since: since.version, limit: query.limit, html: query.includesHTML)
    return try await cached(
      key, for: target, isLongPoll: request.wait != nil, in: snapshot, isExact: request.at == nil, limiter, load)
  }

  /// Returns the tokens of a scope.
  ///
  /// - Throws: The errors of `NewsStore.snapshot`.
  func state(_ scope: Scope, for target: String) async throws -> Representation {
    let snapshot = try await store.snapshot(in: scope)
    return try await cached(.state(scope), for: target, in: snapshot, isExact: true, nil) {
      View(
        representation: Representation(try NewsJSON.encode(snapshot.state(of: scope))),
        feedVersion: snapshot.feedVersion)
    }
  }

  /// Returns all topics.
  func topics(for target: String) async throws -> Representation {
    try await cached(.topics, for: target, in: try await store.snapshot(), isExact: true, reads) {
      let (topics, feedVersion) = try await store.topics()
      return View(
        representation: Representation(try NewsJSON.encode(TopicList(topics: topics.map(\.forReaders)))),
        feedVersion: feedVersion
      )
    }
  }

  /// Returns a topic.
  ///
  /// - Throws: `StoreError.notFound`.
  func topic(_ slug: String, for target: String) async throws -> Representation {
    try await cached(.topic(slug), for: target, in: try await store.snapshot(), isExact: true, reads) {
      let (topic, feedVersion) = try await store.topic(slug)
      return View(representation: Representation(try NewsJSON.encode(topic.forReaders)), feedVersion: feedVersion)
    }
  }

  /// Returns the response of a key if it is in memory and current.
  func cached(_ key: ViewKey, in snapshot: FeedSnapshot) -> Representation? {
    cache?.cachedView(key, in: snapshot)?.representation
  }

  /// Returns a response from memory, or loads and caches it.
  ///
  /// - Parameters:
  ///   - snapshot: The state for which the response must be current.
  ///   - isExact: Whether the target has no other requirement than the key; `at` is one.
  ///   - limiter: Limits the loads; nil for responses without a read of the database.
  private func cached(
    _ key: ViewKey, for target: String, isLongPoll: Bool = false, in snapshot: FeedSnapshot, isExact: Bool,
    _ limiter: ConcurrencyLimiter?, _ load: @escaping @Sendable () async throws -> View
  ) async throws -> Representation {
    guard let cache, key.isCommon || cache.cachedView(key, in: snapshot) != nil || repeats.insert(key) else {
      guard let limiter else { return try await load().representation }
      return try await limiter.run(load).representation
    }
    let view = try await cache.view(key, in: snapshot, limiter: limiter, load: load)
    // A client that waits for a change, or requires a state, would repeat its request at once.
    if view.isStale, isLongPoll || !isExact { throw StoreError.unavailable }
    if isExact {
      targets.add(target, KnownTargets.Target(key: key, isLongPoll: isLongPoll, epoch: view.feedVersion.epoch))
    }
    return view.representation
  }

  private func single(_ load: @Sendable () async throws -> View) async throws -> Representation {
    try await singles.run(load).representation
  }
}

extension Topic {
  /// The topic without the fields for editors.
  fileprivate var forReaders: Topic {
    var topic = self
    topic.revision = nil
    return topic
  }
}

extension ItemQuery {
  /// The target of another page of the list. It is relative, so it is valid under any public name of the server. It
  /// omits `at`, which concerns the first page only.
  fileprivate func target(cursor: String) -> String {
    var parameters = ["limit=\(limit)"]
    if !scope.topics.isEmpty { parameters.append("topics=\(scope.topics.joined(separator: ","))") }
    let texts = [
      ("language", language), ("author", author), ("from", from.map(RFC3339.string)), ("to", to.map(RFC3339.string)),
      ("q", search?.text), ("include", includesHTML ? "html" : nil),
    ]
    for case (let name, let text?) in texts {
      parameters.append("\(name)=\(text.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "")")
    }
    return "\(APIPath.items)?\((parameters + ["cursor=\(cursor)"]).joined(separator: "&"))"
  }
}

extension CharacterSet {
  /// The unreserved characters (RFC 3986 section 2.3).
  fileprivate static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
