import Foundation
import GRDB
import News

/// Brings the stored items to what the server has said, and tells what that has changed.
struct ItemApplication {
  private let table: ItemTable
  private(set) var state: SyncState
  /// What was stored of the items that have been touched, before they were.
  private var before: [UUID: Data?] = [:]

  init(_ db: Database, _ state: SyncState) {
    table = ItemTable(db)
    self.state = state
  }

  /// Applies what a fetch has found.
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

  /// Puts the newest page in the place of everything.
  ///
  /// - Parameter token: What the page is equal to.
  private mutating func replace(with page: NewsServer.Page, token: SyncToken) throws {
    let oldest = page.isWhole ? nil : page.items.map { SyncState.Place($0) }.min()
    state.floor = oldest
    let kept = Set(page.items.map(\.id))
    for item in page.items { try put(item, epochIsSame: false) }
    for held in try table.newest(nil) where !kept.contains(held.id) {
      // What is only too old for the page has not been taken back.
      if let oldest, SyncState.Place(held) < oldest { try table.remove(held.id) } else { try remove(held.id) }
    }
    state.conditions = page.conditions
    state.token = token
  }

  /// Puts a snapshot that is whole in the place of everything.
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

  /// Ends the application: keeps the window, counts the badge and tells the difference.
  ///
  /// - Parameter held: The token before, by whose version what is new is told from what came back.
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
    // A damaged file may have any number.
    state.badge = min(state.badge, 1 << 32) + difference.inserted.count { isNews($0, since: held) }
    state.newest = (difference.inserted.map { SyncState.Place($0) } + [state.newest].compactMap { $0 }).max()
    return difference
  }

  /// Whether an item that was not stored came after what was held; a resync brings others back, too.
  private func isNews(_ item: NewsItem, since held: SyncToken?) -> Bool {
    guard let held else { return true }
    // Versions compare within one history only; across them the date tells.
    if held.epoch == state.token?.epoch { return item.version > held.version }
    return state.newest.map { SyncState.Place(item) > $0 } ?? true
  }

  private mutating func put(_ item: NewsItem, epochIsSame: Bool) throws {
    let held = try table.json(item.id)
    let place = SyncState.Place(item)
    // Before the beginning of the window; one that is held has moved there.
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
