import Foundation
import HTTPConditions
import HTTPTypes
import News
import NewsStore

/// Makes the public answers of the store, and keeps those that many want. What a target stands for is remembered with
/// them.
struct Views: Sendable {
  let store: NewsStore
  let targets = KnownTargets()
  private let cache: ViewCache?
  /// For what is asked for once: searches, further pages, filters, snapshots.
  private let singles: Turnstile

  /// How far back the versions go from which changes are kept.
  private static let recentVersions = 1000

  /// - Parameters:
  ///   - budget: Bytes of memory, about; nil to make each answer anew.
  ///   - singles: How many answers for one request alone may be in the making at a time.
  init(store: NewsStore, budget: Int?, singles: Int) {
    self.store = store
    self.singles = Turnstile(width: singles)
    cache = budget.map { ViewCache(budget: $0, staleLimit: store.staleLimit, isSilent: { store.isSilent }) }
  }

  /// A page of items.
  ///
  /// - Throws: What `NewsStore.items` does.
  func items(_ query: ItemQuery, _ cursor: PageCursor, for target: String) async throws -> Representation {
    try await kept(ViewKey(query), for: target, at: query.at, in: query.scope) {
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
  /// - Throws: What `NewsStore.item` does.
  func item(_ id: UUID, includesHTML: Bool, at: SyncToken?, for target: String) async throws -> Representation {
    try await kept(.item(id, html: includesHTML), for: target, at: at, in: .feed) {
      let answer = try await store.item(id, includesHTML: includesHTML, at: at)
      return View(
        representation: Representation(
          try NewsJSON.encode(answer.item), lastModified: LastModified(answer.item.updated, now: answer.now)),
        moment: answer.moment)
    }
  }

  /// The changes after a token, or the snapshot.
  ///
  /// - Parameter isLongPoll: Whether the target says to wait for them.
  /// - Throws: What `NewsStore.changes` does.
  func changes(_ query: ChangeQuery, isLongPoll: Bool, for target: String) async throws -> Representation {
    let key = try await key(query)
    return try await kept(key, for: target, isLongPoll: isLongPoll, at: query.at, in: query.scope) {
      let (list, moment) = try await store.delta(query)
      // The tag is the token, so that a client at a token asks with it, whatever it was it last got.
      let token = list.token.description
      return View(
        representation: Representation(
          try NewsJSON.encode(list), tag: EntityTag(strong: token), fields: [.syncToken: token]),
        moment: moment)
    }
  }

  /// nil for snapshots and what is too long ago; a token that is no good is refused here.
  private func key(_ query: ChangeQuery) async throws -> ViewKey? {
    guard let since = query.since, since.position == nil else { return nil }
    let current = try await store.check(since, for: query.scope, at: query.at)
    guard since.version >= current.version - Self.recentVersions else { return nil }
    return .changes(query.scope, since: since.version, limit: query.limit, html: query.includesHTML)
  }

  /// The tokens of a scope.
  ///
  /// - Throws: What `NewsStore.state` does.
  func state(_ scope: Scope, for target: String) async throws -> Representation {
    try await kept(.state(scope), for: target, in: scope) {
      let (state, moment) = try await store.state(scope)
      return View(representation: Representation(try NewsJSON.encode(state)), moment: moment)
    }
  }

  /// All topics.
  func topics(for target: String) async throws -> Representation {
    try await kept(.topics, for: target, in: .feed) {
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
    try await kept(.topic(slug), for: target, in: .feed) {
      let (topic, moment) = try await store.topic(slug)
      return View(representation: Representation(try NewsJSON.encode(topic.forReaders)), moment: moment)
    }
  }

  /// What is kept under a key and right for a state.
  func kept(_ key: ViewKey, in state: VersionState) -> Representation? { cache?.known(key, in: state)?.representation }

  private func kept(
    _ key: ViewKey?, for target: String, isLongPoll: Bool = false, at: SyncToken? = nil, in scope: Scope,
    make: @escaping @Sendable () async throws -> View
  ) async throws -> Representation {
    guard let key else { return try await singles.pass { try await make().representation } }
    guard let cache else { return try await make().representation }
    let state = try await store.present(at: at, in: scope)
    let view = try await cache.view(key, in: state, make: make)
    // Who waits for a change, or asks for what has one, would ask again at once.
    if view.isStale, isLongPoll || at != nil { throw StoreError.unavailable }
    // `at` asks for more than the key says.
    if at == nil {
      targets.learn(target, KnownTargets.Target(key: key, isLongPoll: isLongPoll, epoch: view.moment.epoch))
    }
    return view.representation
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
    return "/v1/items?\((parameters + ["cursor=\(cursor)"]).joined(separator: "&"))"
  }
}

extension CharacterSet {
  /// RFC 3986 section 2.3.
  fileprivate static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
