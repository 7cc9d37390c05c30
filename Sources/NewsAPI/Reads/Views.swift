import Foundation
import HTTPConditions
import HTTPTypes
import News
import NewsStore

/// Makes the public answers from the store, and keeps those that are asked for repeatedly. It remembers which target
/// stands for which answer.
struct Views: Sendable {
  let store: NewsStore
  let targets = KnownTargets()
  private let cache: ViewCache?
  /// The maximum number of reads of the database at a time; and of those that are costly or serve one request only:
  /// searches, further pages, filters, snapshots.
  private let reads: ConcurrencyLimiter
  private let singles: ConcurrencyLimiter
  private let repeats = RepeatDetector()

  /// How far back the versions go from which changes are kept.
  private static let recentVersions = 1000

  /// - Parameters:
  ///   - budget: Bytes of memory for answers, about; nil to keep none.
  ///   - reads: Limits the reads of the database.
  ///   - singles: The maximum number of reads that serve one request only.
  init(store: NewsStore, budget: Int?, reads: ConcurrencyLimiter, singles: Int) {
    self.store = store
    self.reads = reads
    self.singles = ConcurrencyLimiter(limit: singles, within: reads)
    cache = budget.map { budget in
      ViewCache(
        budget: budget, staleLimit: store.staleLimit, isSilent: { store.isSilent }, probe: { await store.probe() })
    }
  }

  /// A page of items.
  ///
  /// - Parameter at: The token of a state that must have been reached.
  /// - Throws: What `NewsStore.items` and `NewsStore.present` throw.
  func items(
    _ query: ItemQuery, _ cursor: PageCursor, at: SyncToken?, for target: String
  ) async throws -> Representation {
    let state = try await store.present(at: at, in: query.scope)
    let key = ViewKey.items(query)
    let limiter = key.isCommon ? reads : singles
    return try await kept(key, for: target, in: state, isExact: at == nil, limiter) {
      let page = try await store.items(query)
      var fields: HTTPFields = [.syncToken: page.token.description]
      fields[.link] = page.next.map { "<\(query.target(cursor: cursor.text($0)))>; rel=\"next\"" }
      return View(
        representation: Representation(
          try NewsJSON.encode(ItemList(items: page.items)),
          lastModified: page.modified.map { LastModified($0, now: page.now) }, fields: fields),
        moment: page.moment)
    }
  }

  /// An item.
  ///
  /// - Throws: What `NewsStore.item` and `NewsStore.present` throw.
  func item(_ id: UUID, includesHTML: Bool, at: SyncToken?, for target: String) async throws -> Representation {
    let state = try await store.present(at: at, in: .feed)
    return try await kept(.item(id, html: includesHTML), for: target, in: state, isExact: at == nil, reads) {
      let answer = try await store.item(id, includesHTML: includesHTML)
      return View(
        representation: Representation(
          try NewsJSON.encode(answer.item), lastModified: LastModified(answer.item.updated, now: answer.now)),
        moment: answer.moment)
    }
  }

  /// The changes after a token, or the snapshot.
  ///
  /// - Throws: What `NewsStore.changes` and `NewsStore.present` throw.
  func changes(_ request: ChangeRequest, for target: String) async throws -> Representation {
    let query = request.query
    let state = try await store.present(at: request.at, in: query.scope)
    let make: @Sendable () async throws -> View = {
      let (list, moment) = try await store.delta(query)
      // The tag of a complete answer is the token, so that a client at a token asks with it, whatever answer it has from
      // before. A page that the limit ends may have one token for different content.
      let token = list.token.description
      return View(
        representation: Representation(
          try NewsJSON.encode(list), tag: list.more ? nil : EntityTag(strong: token), fields: [.syncToken: token]),
        moment: moment)
    }
    // Snapshots and old tokens.
    guard let since = query.since, since.position == nil else { return try await single(make) }
    // A token that is no good is refused here.
    let current = try await store.check(since, for: query.scope)
    guard since.version >= current.version - Self.recentVersions else { return try await single(make) }
    // "Nothing new" comes from the state, and waits for no read of the database.
    let limiter = since.version == current.version ? nil : reads
    let key = ViewKey.changes(query.scope, since: since.version, limit: query.limit, html: query.includesHTML)
    return try await kept(
      key, for: target, isLongPoll: request.wait != nil, in: state, isExact: request.at == nil, limiter, make)
  }

  /// The tokens of a scope.
  ///
  /// - Throws: What `NewsStore.state` does.
  func state(_ scope: Scope, for target: String) async throws -> Representation {
    try await kept(.state(scope), for: target, in: try await store.present(), isExact: true, nil) {
      let (state, moment) = try await store.state(scope)
      return View(representation: Representation(try NewsJSON.encode(state)), moment: moment)
    }
  }

  /// All topics.
  func topics(for target: String) async throws -> Representation {
    try await kept(.topics, for: target, in: try await store.present(), isExact: true, reads) {
      let (topics, moment) = try await store.topics()
      return View(
        representation: Representation(try NewsJSON.encode(TopicList(topics: topics.map(\.forReaders)))), moment: moment
      )
    }
  }

  /// One topic.
  ///
  /// - Throws: `StoreError.notFound`.
  func topic(_ slug: String, for target: String) async throws -> Representation {
    try await kept(.topic(slug), for: target, in: try await store.present(), isExact: true, reads) {
      let (topic, moment) = try await store.topic(slug)
      return View(representation: Representation(try NewsJSON.encode(topic.forReaders)), moment: moment)
    }
  }

  /// What is kept under a key and right for a state.
  func kept(_ key: ViewKey, in state: VersionState) -> Representation? { cache?.known(key, in: state)?.representation }

  /// Answers from memory, or makes the answer and keeps it.
  ///
  /// - Parameters:
  ///   - state: The state that the answer must be right for.
  ///   - isExact: Whether the target asks for nothing beyond the key, as with `at`.
  ///   - limiter: Limits the making; nil for answers that need no read of the database.
  private func kept(
    _ key: ViewKey, for target: String, isLongPoll: Bool = false, in state: VersionState, isExact: Bool,
    _ limiter: ConcurrencyLimiter?, _ make: @escaping @Sendable () async throws -> View
  ) async throws -> Representation {
    guard let cache, key.isCommon || cache.known(key, in: state) != nil || repeats.insert(key) else {
      guard let limiter else { return try await make().representation }
      return try await limiter.run(make).representation
    }
    let view = try await cache.view(key, in: state, limiter: limiter, make: make)
    // A client that waits for a change, or asks for a state that has one, would ask again at once.
    if view.isStale, isLongPoll || !isExact { throw StoreError.unavailable }
    if isExact {
      targets.learn(target, KnownTargets.Target(key: key, isLongPoll: isLongPoll, epoch: view.moment.epoch))
    }
    return view.representation
  }

  private func single(_ make: @Sendable () async throws -> View) async throws -> Representation {
    try await singles.run(make).representation
  }
}

extension Topic {
  /// Without what only editors need.
  fileprivate var forReaders: Topic {
    var topic = self
    topic.revision = nil
    return topic
  }
}

extension ItemQuery {
  /// The target of another page of the list. It is relative, hence right whatever the server is called from outside;
  /// `at` has done its work with the first page.
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
  /// RFC 3986 section 2.3.
  fileprivate static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
