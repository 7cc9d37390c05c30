import Foundation
import HTTPTransfer
import News

/// Requests the missing changes from the server.
///
/// Nothing takes effect before ``Result`` is applied in one transaction. The pages of a full copy are staged as they
/// arrive, and a copy that the time does not suffice for is continued by the next fetch.
struct Synchronization {
  /// The changes to apply.
  enum Result: Sendable {
    case nothing
    /// The pages of a delta. If the window has too few items left, `refill` is the first page again.
    case delta([ChangeList], refill: NewsServer.Page?)
    /// The first page, which replaces everything. Its token is nil if the server has sent none.
    case page(NewsServer.Page, SyncToken?)
    /// The complete copy in the staging area, which replaces everything.
    case copy(SyncState.Copy)
    /// The copy in the staging area, of which pages are missing.
    case unfinishedCopy(SyncState.Copy)

    /// Whether only changes since the stored token are applied.
    var isDelta: Bool { if case .delta = self { true } else { false } }
  }

  /// The maximum number of delta pages in a wake. The next wake continues.
  static let maximumPages = 20
  /// The maximum number of changes in a page.
  static let pageSize = 200
  /// The time that a fetch keeps for its end when it continues a copy, in seconds.
  private static let reserve = 5.0
  /// The maximum size of a transaction that stages items, in bytes of JSON.
  private static let maximumBatchBytes = 512 << 10

  let local: LocalFeed
  let server: NewsServer
  /// Returns the seconds until the fetch must have ended; nil without a limit.
  var timeLeft: @Sendable () -> Double? = { nil }
  /// Receives the number of items of the copy in the staging area, after each page.
  var reportCopied: @Sendable (Int) -> Void = { _ in }
  private(set) var cost = NewsServer.Cost()
  /// Whether the feed is to be started again, because it has failed for a day.
  private var mayHeal = false
  /// Whether it was started from nothing or again, which happens once in a fetch.
  private var hasStarted = false

  private var store: LocalStore { local.store }
  private var feed: FollowedFeed { local.feed }

  init(_ local: LocalFeed, server: NewsServer) {
    self.local = local
    self.server = server
  }

  /// Sends requests until there are no more changes or the page limit is reached.
  ///
  /// - Parameter at: A token from a push or an event, which the responses must have reached.
  /// - Throws: `FetchError`, `CancellationError`.
  mutating func run(_ state: SyncState, at: SyncToken? = nil) async throws -> Result {
    mayHeal = try store.read { try FailingFeed.isResetDue(feed, at: local.clock.now, $0) }
    do {
      return try await synchronize(state, at: at)
    } catch let error as FetchError where mayHeal && error.mayBeHealed && !hasStarted {
      return try await start(at: nil)
    }
  }

  private mutating func synchronize(_ state: SyncState, at: SyncToken?) async throws -> Result {
    if let copy = state.copy { return try await self.copy(from: copy, at: nil) }
    guard let token = state.token else { return try await start(at: nil) }
    var pages: [ChangeList] = []
    var since = token
    while pages.count < Self.maximumPages {
      switch try await server.changes(changeQuery, since: since, at: at, cost: &cost) {
      case .unchanged:
        return try await delta(pages, state)
      case .expired(let current):
        // The pages before this response belong to a history that is gone.
        return try await start(at: current)
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
  private mutating func start(at: SyncToken?) async throws -> Result {
    hasStarted = true
    if mayHeal { try store.write { try FailingFeed.recordReset(feed, at: local.clock.now, $0) } }
    guard case .window(let limit) = feed.extent else {
      do { return try await copy(from: nil, at: at) } catch let error as FetchError where mayHeal && error.mayBeHealed {
        // The changes, or their tokens, may have another form. Their items are better than none.
        return try await copy(from: nil, at: nil, asItems: true)
      }
    }
    let page = try await page(NewsServer.Query(topics: feed.topics, limit: limit), at: at)
    // After a day of failures, new items without a token are better than none.
    guard page.token != nil || mayHeal else {
      throw FetchError(.unexpectedResponse, "the response has no Sync-Token", status: 200)
    }
    if let at, let token = page.token, token.epoch != at.epoch || token.version < at.version {
      throw FetchError(.unavailable, "a cache sent a response that is older than the requested token", status: 200)
    }
    // The items of another feed may be many, and are replaced like those of a full copy.
    guard try store.read({ try ItemTable($0).count() }) > ItemChanges.maximumItems else {
      return .page(page, page.token)
    }
    return .copy(try stage(page, after: nil, isLast: true))
  }

  /// Fetches a page of items, whatever is stored.
  private mutating func page(
    _ query: NewsServer.Query, cursor: String? = nil, at: SyncToken?
  ) async throws -> NewsServer.Page {
    for _ in 0..<2 {
      switch try await server.items(query, cursor: cursor, at: at, conditions: .init(), cost: &cost) {
      // A cache may have sent the 304 of another client. The request is repeated once, never in a loop.
      case .unchanged: continue
      case .expired: throw FetchError(.unavailable, "the server refused the token that it has just sent", status: 410)
      case .changed(let page): return page
      }
    }
    throw FetchError(.unexpectedResponse, "the server sent 304 for an unconditional request", status: 304)
  }

  /// Continues a full copy, or begins one. Each page is staged with its token.
  ///
  /// - Parameter asItems: Whether a new copy is fetched as pages of items instead of changes.
  private mutating func copy(from copy: SyncState.Copy?, at: SyncToken?, asItems: Bool = false) async throws -> Result {
    var copy = copy
    var mayRestart = true
    var slowest = 0.0
    while true {
      if let copy, copy.isComplete {
        reportCopied(copy.items)
        return .copy(copy)
      }
      if let copy, slowest > 0, let left = timeLeft(), left < Self.reserve + 2 * slowest {
        return .unfinishedCopy(copy)
      }
      let start = local.clock.now.uptime
      let since = copy?.token
      if asItems || copy?.cursor != nil {
        copy = try stage(try await page(changeQuery, cursor: copy?.cursor, at: nil), after: copy, isLast: false)
      } else {
        switch try await server.changes(changeQuery, since: since, at: since == nil ? at : nil, cost: &cost) {
        case .unchanged:
          throw FetchError(.unexpectedResponse, "the server sent 304 during a snapshot", status: 304)
        case .expired:
          guard mayRestart, since != nil else {
            throw FetchError(.unavailable, "the server refused the snapshot that it has just begun", status: 410)
          }
          (copy, mayRestart) = (nil, false)
        case .changed(let list):
          try checkProgress(of: list, since: since)
          copy = try stage(list, after: copy)
        }
      }
      if let copy { reportCopied(copy.items) }
      slowest = max(slowest, local.clock.now.uptime - start)
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
      state.copy = nil
      try store.save(state, db)
    }
    throw FetchError(.unexpectedResponse, "the snapshot announces more pages, but does not advance", status: 200)
  }

  /// Stages a page of a copy.
  ///
  /// - Parameter copy: The copy with the previous pages; nil for the first page.
  private func stage(_ list: ChangeList, after copy: SyncState.Copy?) throws -> SyncState.Copy {
    guard list.snapshot == true else {
      throw FetchError(.unexpectedResponse, "the response is not a page of a snapshot", status: 200)
    }
    let changes = try list.changes.compactMap { change in
      switch change {
      case .put(let item): StagedChange.put(try ItemTable.StoredForm(item))
      case .remove(let id, _): StagedChange.remove(id)
      case .unknown: nil
      }
    }
    let items = changes.count { if case .put = $0 { true } else { false } }
    let new = SyncState.Copy(token: list.token, isComplete: !list.more, items: (copy?.items ?? 0) + items)
    try stage(changes, new, isFirst: copy == nil)
    return new
  }

  /// Stages a page of items.
  ///
  /// - Parameters:
  ///   - copy: The copy with the newer pages; nil for the newest page.
  ///   - isLast: Whether no older pages are wanted.
  /// - Throws: `FetchError` with `unexpectedResponse` if the page is not older than the copy.
  private func stage(
    _ page: NewsServer.Page, after copy: SyncState.Copy?, isLast: Bool
  ) throws -> SyncState.Copy {
    let oldest = page.items.map { SyncState.Keyset($0) }.min()
    let cursor = isLast ? nil : page.cursor
    if cursor != nil {
      guard let oldest, copy?.oldest.map({ oldest < $0 }) ?? true else {
        throw FetchError(.unexpectedResponse, "the list announces more pages, but does not advance", status: 200)
      }
    }
    // Later pages may be newer than the first one, whose token leads to all changes meanwhile.
    var new = SyncState.Copy(
      token: copy.map(\.token) ?? page.token, isComplete: cursor == nil, items: (copy?.items ?? 0) + page.items.count)
    new.conditions = copy == nil ? page.conditions : nil
    new.oldest = page.isComplete ? nil : oldest
    new.cursor = cursor
    try stage(page.items.map { .put(try ItemTable.StoredForm($0)) }, new, isFirst: copy == nil)
    return new
  }

  private enum StagedChange {
    case put(ItemTable.StoredForm)
    case remove(UUID)
  }

  /// Stages changes in small transactions, the last of which stores their token. A page that was staged partly is staged
  /// again.
  private func stage(_ changes: [StagedChange], _ copy: SyncState.Copy, isFirst: Bool) throws {
    if isFirst {
      try store.write { db in
        try StagingArea(db).clear()
        try ReadMarks(db).forgetRemoved()
        var state = try StateTable(db).sync(feed)
        state.copy = nil
        try store.save(state, db)
      }
    }
    var rest = changes[...]
    repeat {
      try Task.checkCancellation()
      try store.write { db in
        let staged = ItemTable(db, .staged)
        var bytes = 0
        while bytes < Self.maximumBatchBytes, let change = rest.popFirst() {
          switch change {
          case .put(let item):
            try staged.put(item)
            bytes += item.json.count
          case .remove(let id): try staged.remove(id)
          }
        }
        guard rest.isEmpty else { return }
        var state = try StateTable(db).sync(feed)
        state.copy = copy
        try store.save(state, db)
      }
    } while !rest.isEmpty
  }
}
