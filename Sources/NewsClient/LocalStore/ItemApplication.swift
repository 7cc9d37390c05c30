import Foundation
import GRDB
import News

/// Applies a result from the server to the stored items, and determines the difference.
struct ItemApplication {
  private let table: ItemTable
  private(set) var state: SyncState
  /// The stored JSON of the touched items before the first change; nil for new items.
  private var before: [UUID: Data?] = [:]

  init(_ db: Database, _ state: SyncState) {
    table = ItemTable(db)
    self.state = state
  }

  /// Applies the result of a fetch.
  mutating func apply(_ found: Synchronization.Result) throws {
    switch found {
    case .nothing: break
    case .delta(let pages, let refill):
      for page in pages { try apply(page) }
      if let refill, let token = refill.token { try replace(with: refill, token: token) }
    case .page(let page, let token): try replace(with: page, token: token)
    case .snapshot(let token): try replaceWithStaged(token: token)
    }
  }

  /// Applies a page of a delta.
  private mutating func apply(_ list: ChangeList) throws {
    for change in list.changes {
      switch change {
      case .put(let item): try put(item, epochIsSame: state.token?.epoch == list.token.epoch)
      case .remove(let id, _): try remove(id)
      case .unknown: break
      }
    }
    state.token = list.token
  }

  /// Replaces everything with the newest page.
  ///
  /// - Parameter token: The token of the page.
  private mutating func replace(with page: NewsServer.Page, token: SyncToken) throws {
    let oldest = page.isWhole ? nil : page.items.map { SyncState.Place($0) }.min()
    state.floor = oldest
    let kept = Set(page.items.map(\.id))
    for item in page.items { try put(item, epochIsSame: false) }
    for held in try table.newest(nil) where !kept.contains(held.id) {
      // An item that is only too old for the page has not been retracted.
      if let oldest, SyncState.Place(held) < oldest { try table.remove(held.id) } else { try remove(held.id) }
    }
    state.conditions = page.conditions
    state.token = token
  }

  /// Replaces everything with the complete snapshot.
  private mutating func replaceWithStaged(token: SyncToken) throws {
    let staged = ItemTable(table.db, .staged)
    state.floor = nil
    for id in try table.ids() where try staged.json(id) == nil { try remove(id) }
    for id in try staged.ids() {
      guard let item = try staged.item(id) else { continue }
      try put(item, epochIsSame: false)
    }
    try staged.removeAll()
    state.continuation = nil
    state.conditions = nil
    state.token = token
  }

  /// Finishes the application: trims the window, counts the badge, and returns the difference.
  ///
  /// - Parameter held: The token before. Its version separates new items from returning ones.
  mutating func finish(held: SyncToken?) throws -> Difference {
    if case .window(let limit) = state.source.extent, let oldest = try table.trim(to: limit) { state.floor = oldest }
    var difference = Difference()
    for (id, old) in before {
      switch (old, try table.json(id)) {
      case (nil, let new?): difference.inserted.append(try NewsJSON.decode(NewsItem.self, from: new))
      case (let old?, let new?) where old != new:
        difference.updated.append(try NewsJSON.decode(NewsItem.self, from: new))
      case (.some, nil): difference.removed.append(id)
      default: break
      }
    }
    difference.inserted.sort { SyncState.Place($0) > SyncState.Place($1) }
    difference.updated.sort { SyncState.Place($0) > SyncState.Place($1) }
    difference.removed.sort { $0.uuidString < $1.uuidString }
    // A damaged file may contain any number.
    state.badge = min(state.badge, 1 << 32) + difference.inserted.count { isNews($0, since: held) }
    state.newest = (difference.inserted.map { SyncState.Place($0) } + [state.newest].compactMap { $0 }).max()
    return difference
  }

  /// Whether an item that was not stored is newer than the stored state. A resync brings older items back too.
  private func isNews(_ item: NewsItem, since held: SyncToken?) -> Bool {
    guard let held else { return true }
    // Versions compare within one epoch only. Across epochs the date decides.
    if held.epoch == state.token?.epoch { return item.version > held.version }
    return state.newest.map { SyncState.Place(item) > $0 } ?? true
  }

  private mutating func put(_ item: NewsItem, epochIsSame: Bool) throws {
    let held = try table.json(item.id)
    let place = SyncState.Place(item)
    // The item lies before the beginning of the window. A stored item has moved there.
    if let floor = state.floor, place < floor {
      if held != nil { try remove(item.id) }
      return
    }
    if let held, try table.isSettled(item, held, epochIsSame: epochIsSame) { return }
    note(item.id, held)
    try table.put(item)
  }

  private mutating func remove(_ id: UUID) throws {
    guard let held = try table.json(id) else { return }
    note(id, held)
    try table.remove(id)
  }

  private mutating func note(_ id: UUID, _ held: Data?) {
    if before[id] == nil { before.updateValue(held, forKey: id) }
  }
}
