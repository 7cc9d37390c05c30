import Foundation
import News

/// Asks the server for what is missing. Nothing of it counts before ``Result`` is applied, in one transaction; only pages
/// of a snapshot are put into the staging area as they come, so that the next wake goes on there.
struct Synchronization {
  /// What there is to apply.
  enum Result: Sendable {
    case nothing
    /// Pages of a delta, and the first page again where the window has become thin.
    case delta([ChangeList], refill: NewsServer.Page?)
    /// The first page in the place of everything.
    case page(NewsServer.Page, SyncToken)
    /// The snapshot in the staging area in the place of everything.
    case snapshot(SyncToken)
  }

  /// As many pages of a delta as one wake takes; the next one goes on.
  static let mostPages = 20
  /// Changes in a page.
  static let pageSize = 200

  let store: LocalStore
  let server: NewsServer
  let source: Source
  private(set) var cost = NewsServer.Cost()

  init(store: LocalStore, server: NewsServer, source: Source) {
    self.store = store
    self.server = server
    self.source = source
  }

  /// Asks until there is nothing more.
  ///
  /// - Parameter at: A token that has been told of by a push or an event: no answer from before it is wanted.
  /// - Throws: ``FetchError``, `CancellationError`.
  mutating func run(_ state: SyncState, at: SyncToken? = nil) async throws -> Result {
    guard let token = state.token else { return try await start(state, at: nil) }
    var pages: [ChangeList] = []
    var since = token
    while pages.count < Self.mostPages {
      switch try await server.changes(changeQuery, since: since, at: at, cost: &cost) {
      case .unchanged:
        return try await delta(pages, state)
      case .expired(let current):
        // What came before it is part of a history that is gone.
        return try await start(state, at: current, isResync: true)
      case .changed(let list):
        // A cache that runs behind has answered.
        if list.token.epoch == since.epoch, list.token.version < since.version { return try await delta(pages, state) }
        if !list.changes.isEmpty || list.token != since { pages.append(list) }
        since = list.token
        if !list.more { return try await delta(pages, state) }
      }
    }
    return .delta(pages, refill: nil)
  }

  private var changeQuery: NewsServer.Query { .init(topics: source.topics, limit: Self.pageSize) }

  /// Ends a delta; fetches the first page where so much was taken back that the window is half empty.
  private mutating func delta(_ pages: [ChangeList], _ state: SyncState) async throws -> Result {
    guard case .window(let limit) = source.extent, state.floor != nil, let conditions = state.conditions,
      try store.read({ try ItemTable($0).count() }) < limit / 2
    else { return pages.isEmpty ? .nothing : .delta(pages, refill: nil) }
    let query = NewsServer.Query(topics: source.topics, limit: limit)
    let token = pages.last?.token ?? state.token
    guard case .changed(let page) = try await server.items(query, at: token, conditions: conditions, cost: &cost),
      let reached = page.token, reached.epoch == token?.epoch, reached.version >= token?.version ?? 0
    else { return pages.isEmpty ? .nothing : .delta(pages, refill: nil) }
    return .delta(pages, refill: page)
  }

  /// Begins anew, at once or after a token has expired.
  private mutating func start(_ state: SyncState, at: SyncToken?, isResync: Bool = false) async throws -> Result {
    guard case .window(let limit) = source.extent else {
      return try await snapshot(from: isResync ? nil : state.continuation, at: at)
    }
    let query = NewsServer.Query(topics: source.topics, limit: limit)
    var outcome = try await server.items(query, at: at, conditions: .init(), cost: &cost)
    // Somebody's cache takes this request for another's: once more, then never in a loop.
    if case .unchanged = outcome { outcome = try await server.items(query, at: at, conditions: .init(), cost: &cost) }
    switch outcome {
    case .unchanged: throw FetchError(.notTidings, "304 although nothing is held", status: 304)
    case .expired: throw FetchError(.unavailable, "the token of a 410 has expired at once", status: 410)
    case .changed(let page):
      guard let token = page.token else {
        throw FetchError(.notTidings, "a list without Sync-Token", status: 200)
      }
      if let at, token.epoch != at.epoch || token.version < at.version {
        throw FetchError(.unavailable, "a cache has answered from before the token that was asked for", status: 200)
      }
      return .page(page, token)
    }
  }

  /// Goes on with a snapshot, or begins one; each page is staged with its token.
  private mutating func snapshot(from continuation: SyncToken?, at: SyncToken?) async throws -> Result {
    var since = continuation
    var mayRestart = true
    while true {
      switch try await server.changes(changeQuery, since: since, at: since == nil ? at : nil, cost: &cost) {
      case .unchanged:
        throw FetchError(.notTidings, "304 in the middle of a snapshot", status: 304)
      case .expired:
        guard mayRestart, since != nil else {
          throw FetchError(.unavailable, "the snapshot has expired at once", status: 410)
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

  /// Each page of a snapshot ends behind the one before it; otherwise its pages would never end.
  ///
  /// - Throws: ``FetchError`` with `notTidings`. The next fetch begins the snapshot anew: nothing tells which page is right.
  private func checkProgress(of list: ChangeList, since: SyncToken?) throws {
    guard list.more, let since, list.token.position ?? 0 <= since.position ?? 0 else { return }
    try store.write { db in
      var state = try StateTable(db).sync(source)
      state.continuation = nil
      try store.save(state, db)
    }
    throw FetchError(.notTidings, "there is more, but the snapshot has not moved on", status: 200)
  }

  private func stage(_ list: ChangeList, isFirst: Bool) throws {
    guard list.snapshot == true else { throw FetchError(.notTidings, "no snapshot", status: 200) }
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
      var state = try StateTable(db).sync(source)
      state.continuation = list.more ? list.token : nil
      try store.save(state, db)
    }
  }
}
