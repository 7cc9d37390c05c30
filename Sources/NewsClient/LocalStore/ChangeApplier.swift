import Foundation
import GRDB
import News

/// Applies a result from the server to the stored items, and determines what has changed.
struct ChangeApplier {
  private let table: ItemTable
  private(set) var state: SyncState
  /// The stored JSON of the touched items before the first change; nil for new items.
  private var originals: [UUID: Data?] = [:]
  /// The ids of the items that a delta has removed, stored or not.
  private var retracted: Set<UUID> = []
  /// The new items, newest first, except items that a resync brings back or that the user has read; known after
  /// ``finish(previous:)``.
  private(set) var news: [NewsItem] = []
  /// The differences of the copy that has replaced everything.
  private var comparison: CopyComparison?
  /// Whether a result with changes was applied.
  private var hasApplied = false

  init(_ db: Database, _ state: SyncState) {
    table = ItemTable(db)
    self.state = state
  }

  /// Applies the result of a fetch.
  ///
  /// - Parameter comparison: The differences of a complete copy.
  mutating func apply(_ result: Synchronization.Result, _ comparison: CopyComparison?) throws {
    switch result {
    case .nothing, .unfinishedCopy: return
    case .delta(let pages, let refill):
      for page in pages { try apply(page) }
      if let refill, let token = refill.token { try replace(with: refill, token: token) }
    case .page(let page, let token): try replace(with: page, token: token)
    case .copy: if let comparison { try replace(with: comparison) }
    }
    hasApplied = true
  }

  /// Applies a page of a delta.
  private mutating func apply(_ list: ChangeList) throws {
    for change in list.changes {
      switch change {
      case .put(let item):
        retracted.remove(item.id)
        try put(item, epochIsSame: state.token?.epoch == list.token.epoch)
      case .remove(let id, _):
        retracted.insert(id)
        try remove(id)
      case .unknown: break
      }
    }
    state.token = list.token
  }

  /// Replaces everything with the newest page.
  ///
  /// - Parameter token: The token of the page; nil if the server has sent none.
  private mutating func replace(with page: NewsServer.Page, token: SyncToken?) throws {
    let oldest = page.isComplete ? nil : page.items.map { SyncState.Keyset($0) }.min()
    state.oldest = oldest
    let newIDs = Set(page.items.map(\.id))
    for item in page.items { try put(item, epochIsSame: false) }
    for stored in try table.newest(nil) where !newIDs.contains(stored.id) {
      // An item that is only too old for the page has not been retracted.
      if let oldest, SyncState.Keyset(stored) < oldest { try table.remove(stored.id) } else { try remove(stored.id) }
    }
    state.conditions = page.conditions
    state.token = token ?? state.token
    state.copy = nil
  }

  /// Replaces everything with the complete copy.
  private mutating func replace(with comparison: CopyComparison) throws {
    try StagingArea(table.db).takePlace()
    try NotificationJournal(table.db).addPast(comparison.changes.removed)
    let copy = comparison.copy
    (state.oldest, state.conditions, state.copy) = (copy.oldest, copy.conditions, nil)
    state.token = copy.token ?? state.token
    self.comparison = comparison
  }

  /// Trims the window, counts the badge, and returns the changes.
  ///
  /// - Parameter previous: The token before the fetch. Its version separates new items from returning ones.
  mutating func finish(previous: SyncToken?) throws -> ItemChanges {
    let changes = try comparison?.changes ?? finishChanges(previous: previous)
    state.newest = [changes.inserted.first.map { SyncState.Keyset($0) }, comparison?.newest, state.newest]
      .compactMap { $0 }.max()
    if hasApplied {
      let marks = ReadMarks(table.db)
      try marks.forgetRemoved()
      state.badge = try marks.badge
    }
    return changes
  }

  /// Trims the window, records the new items, and returns the changes of the touched items.
  private mutating func finishChanges(previous: SyncToken?) throws -> ItemChanges {
    if case .window(let limit) = state.feed.extent, !originals.isEmpty, let oldest = try table.trim(to: limit) {
      state.oldest = oldest
    }
    // The alert of a push may have shown an item that was never stored.
    for id in retracted { try NotificationJournal(table.db).retract(id) }
    var changes = ItemChanges()
    for (id, old) in originals {
      switch (old, try table.json(id)) {
      case (nil, let new?): changes.inserted.append(try NewsJSON.decode(NewsItem.self, from: new))
      case (let old?, let new?) where old != new:
        changes.updated.append(try NewsJSON.decode(NewsItem.self, from: new))
      case (.some, nil): changes.removed.append(id)
      default: break
      }
    }
    changes.inserted.sort { SyncState.Keyset($0) > SyncState.Keyset($1) }
    changes.updated.sort { SyncState.Keyset($0) > SyncState.Keyset($1) }
    changes.removed.sort { $0.uuidString < $1.uuidString }
    // The mark of a read item may be older than the store.
    let marks = ReadMarks(table.db)
    news = try changes.inserted.filter { try isNews($0, since: previous) && !marks.isRead($0.id) }
    try marks.count(news.map(\.id))
    return changes
  }

  /// Whether an item that was not stored is newer than the stored state. A resync brings older items back too.
  private func isNews(_ item: NewsItem, since previous: SyncToken?) -> Bool {
    // Versions compare within one epoch only. Across epochs the date decides.
    if let previous, previous.epoch == state.token?.epoch { return item.version > previous.version }
    return state.newest.map { SyncState.Keyset(item) > $0 } ?? true
  }

  private mutating func put(_ item: NewsItem, epochIsSame: Bool) throws {
    let held = try table.json(item.id)
    let keyset = SyncState.Keyset(item)
    // The item is older than the window. A stored item may have received an older date.
    if let oldest = state.oldest, keyset < oldest {
      if held != nil { try remove(item.id) }
      return
    }
    if let held, try table.isUpToDate(item, held, epochIsSame: epochIsSame) { return }
    recordOriginal(item.id, held)
    try table.put(item)
  }

  private mutating func remove(_ id: UUID) throws {
    guard let held = try table.json(id) else { return }
    recordOriginal(id, held)
    try table.remove(id)
  }

  private mutating func recordOriginal(_ id: UUID, _ held: Data?) {
    if originals[id] == nil { originals.updateValue(held, forKey: id) }
  }
}
