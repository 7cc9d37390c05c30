import Foundation
import HTTPTransfer
import News

/// Requests the missing changes from the server.
///
/// Nothing takes effect before ``Result`` is applied in one transaction. Only the pages of a snapshot are staged as
/// they arrive, so that the next wake can continue.
struct Synchronization {
  /// The changes to apply.
  enum Result: Sendable {
    case nothing
    /// The pages of a delta. If the window has too few items left, `refill` is the first page again.
    case delta([ChangeList], refill: NewsServer.Page?)
    /// The first page, which replaces everything.
    case page(NewsServer.Page, SyncToken)
    /// The staged snapshot, which replaces everything.
    case snapshot(SyncToken)

    /// Whether only changes since the stored token are applied.
    var isDelta: Bool { if case .delta = self { true } else { false } }
  }

  /// The maximum number of delta pages in a wake. The next wake continues.
  static let maximumPages = 20
  /// The maximum number of changes in a page.
  static let pageSize = 200

  let store: LocalStore
  let server: NewsServer
  let feed: FollowedFeed
  private(set) var cost = NewsServer.Cost()

  init(store: LocalStore, server: NewsServer, feed: FollowedFeed) {
    self.store = store
    self.server = server
    self.feed = feed
  }

  /// Sends requests until there are no more changes or the page limit is reached.
  ///
  /// - Parameter at: A token from a push or an event, which the responses must have reached.
  /// - Throws: `FetchError`, `CancellationError`.
  mutating func run(_ state: SyncState, at: SyncToken? = nil) async throws -> Result {
    guard let token = state.token else { return try await start(state, at: nil) }
    var pages: [ChangeList] = []
    var since = token
    while pages.count < Self.maximumPages {
      switch try await server.changes(changeQuery, since: since, at: at, cost: &cost) {
      case .unchanged:
        return try await delta(pages, state)
      case .expired(let current):
        // The pages before this response belong to a history that is gone.
        return try await start(state, at: current, isResync: true)
      case .changed(let list):
        // This response comes from an outdated cache.
        if list.token.epoch == since.epoch, list.token.version < since.version { return try await delta(pages, state) }
        if !list.changes.isEmpty || list.token != since { pages.append(list) }
        since = list.token
        if !list.more { return try await delta(pages, state) }
      }
    }
    return .delta(pages, refill: nil)
  }

  private var changeQuery: NewsServer.Query { .init(topics: feed.topics, limit: Self.pageSize) }

  /// Ends a delta. If so many items were removed that fewer than half of the window are stored, it fetches the first
  /// page again.
  private mutating func delta(_ pages: [ChangeList], _ state: SyncState) async throws -> Result {
    guard case .window(let limit) = feed.extent, state.oldest != nil, let conditions = state.conditions,
      try store.read({ try ItemTable($0).count() }) < limit / 2
    else { return pages.isEmpty ? .nothing : .delta(pages, refill: nil) }
    let query = NewsServer.Query(topics: feed.topics, limit: limit)
    let token = pages.last?.token ?? state.token
    guard case .changed(let page) = try await server.items(query, at: token, conditions: conditions, cost: &cost),
      let pageToken = page.token, pageToken.epoch == token?.epoch, pageToken.version >= token?.version ?? 0
    else { return pages.isEmpty ? .nothing : .delta(pages, refill: nil) }
    return .delta(pages, refill: page)
  }

  /// Starts from nothing, or again after a token has expired.
  private mutating func start(_ state: SyncState, at: SyncToken?, isResync: Bool = false) async throws -> Result {
    guard case .window(let limit) = feed.extent else {
      return try await snapshot(from: isResync ? nil : state.continuation, at: at)
    }
    let query = NewsServer.Query(topics: feed.topics, limit: limit)
    var outcome = try await server.items(query, at: at, conditions: .init(), cost: &cost)
    // A cache may have sent the 304 of another client. The request is repeated once, never in a loop.
    if case .unchanged = outcome { outcome = try await server.items(query, at: at, conditions: .init(), cost: &cost) }
    switch outcome {
    case .unchanged:
      throw FetchError(.unexpectedResponse, "the server sent 304 for an unconditional request", status: 304)
    case .expired: throw FetchError(.unavailable, "the server refused the token that it has just sent", status: 410)
    case .changed(let page):
      guard let token = page.token else {
        throw FetchError(.unexpectedResponse, "the response has no Sync-Token", status: 200)
      }
      if let at, token.epoch != at.epoch || token.version < at.version {
        throw FetchError(.unavailable, "a cache sent a response that is older than the requested token", status: 200)
      }
      return .page(page, token)
    }
  }

  /// Continues a snapshot, or begins one. Each page is staged with its token.
  private mutating func snapshot(from continuation: SyncToken?, at: SyncToken?) async throws -> Result {
    var since = continuation
    var mayRestart = true
    while true {
      switch try await server.changes(changeQuery, since: since, at: since == nil ? at : nil, cost: &cost) {
      case .unchanged:
        throw FetchError(.unexpectedResponse, "the server sent 304 during a snapshot", status: 304)
      case .expired:
        guard mayRestart, since != nil else {
          throw FetchError(.unavailable, "the server refused the snapshot that it has just begun", status: 410)
        }
        (since, mayRestart) = (nil, false)
      case .changed(let list):
        try checkProgress(of: list, since: since)
        try stage(list, isFirst: since == nil)
        if !list.more { return .snapshot(list.token) }
        since = list.token
      }
    }
  }

  /// Checks that a page of a snapshot ends after the previous one; otherwise the pages would never end.
  ///
  /// - Throws: `FetchError` with `unexpectedResponse`. The next fetch begins the snapshot again, because either page may be
  ///   wrong.
  private func checkProgress(of list: ChangeList, since: SyncToken?) throws {
    guard list.more, let since, list.token.position ?? 0 <= since.position ?? 0 else { return }
    try store.write { db in
      var state = try StateTable(db).sync(feed)
      state.continuation = nil
      try store.save(state, db)
    }
    throw FetchError(.unexpectedResponse, "the snapshot announces more pages, but does not advance", status: 200)
  }

  private func stage(_ list: ChangeList, isFirst: Bool) throws {
    guard list.snapshot == true else {
      throw FetchError(.unexpectedResponse, "the response is not a page of a snapshot", status: 200)
    }
    try store.write { db in
      let staged = ItemTable(db, .staged)
      if isFirst { try staged.removeAll() }
      for change in list.changes {
        switch change {
        case .put(let item): try staged.put(item)
        case .remove(let id, _): try staged.remove(id)
        case .unknown: break
        }
      }
      var state = try StateTable(db).sync(feed)
      state.continuation = list.more ? list.token : nil
      try store.save(state, db)
    }
  }
}
