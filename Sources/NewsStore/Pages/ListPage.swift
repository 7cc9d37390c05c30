import DequeModule
public import Foundation
public import News
import PostgresClient

/// A page of published items and the data for its validators. It has no contents, which `NewsStore.fragments` returns.
public struct ListPage: Sendable {
  /// The items, newest first.
  public let items: [ItemVersion]
  /// The position after which the next page begins; nil on the last page.
  public let next: Keyset?
  /// The position before which the previous page ends; nil on the first page.
  public let previous: Keyset?
  /// The current token of the scope, from the same snapshot as the items.
  public let token: SyncToken
  /// The time of the last change of the page, including the existence of a next page. It is nil for searches, because
  /// an item that no longer matches leaves no trace.
  public let modified: Date?
  /// The time of the read.
  public let read: DatabaseInstant
  /// The epoch and version of the database snapshot.
  public let feedVersion: FeedVersion

  /// Cuts a page.
  ///
  /// - Parameters:
  ///   - found: The first items after the beginning of the page, newest first: `query.limit` + 1 of them, or all. With
  ///     `query.before`, the last items before the end of the page, oldest first.
  ///   - scope: The state of the scope in the same snapshot.
  init(_ query: ItemQuery, found: [ItemVersion], in scope: ScopeSnapshot) {
    let count = PageBudget.count(found, limit: query.limit) { $0.maximumBytes(html: query.includesHTML) }
    let isBackwards = query.before != nil
    items = isBackwards ? found.prefix(count).reversed() : Array(found.prefix(count))
    let (first, last) = (items.first.map { Keyset($0) }, items.last.map { Keyset($0) })
    let isCut = count < found.count
    next = isBackwards || isCut ? last : nil
    previous = isBackwards ? (isCut ? first : nil) : (query.after == nil ? nil : first)
    token = scope.token
    // The first item beyond the page decides whether there is a next one.
    let latest = found.prefix(count + 1).lazy.map(\.updated).max()
    let updated = latest.map { max(scope.shiftedAt, Date(milliseconds: $0)) }
    modified = query.search == nil ? updated ?? scope.shiftedAt : nil
    read = scope.read
    feedVersion = scope.feedVersion
  }
}

extension Date {
  /// Creates a date from milliseconds since 1970.
  init(milliseconds: Int) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

extension Keyset {
  /// Creates the position of an item.
  init(_ item: ItemVersion) {
    self.init(date: Date(milliseconds: item.date), id: item.id)
  }
}

extension FeedSnapshot {
  /// Whether the windows of a scope are missing, but may be loaded: there is room for them, or it was asked for before.
  func lacksWindows(of scope: Scope) -> Bool {
    let missing = scope.names.filter { windows[$0] == nil }
    guard !missing.isEmpty else { return false }
    return windows.count + missing.count <= Window.maximumCount || windowUses.isRepeated(missing)
  }

  /// Returns a published item from memory; nil if it is not among the newest of the feed.
  public func item(_ id: UUID) -> CurrentItem? {
    windows[""]?.item(id).map { CurrentItem(item: $0, read: read, feedVersion: feedVersion) }
  }

  /// Returns a page of a list from memory; nil if the windows of its scope do not have all of it.
  public func page(_ query: ItemQuery) -> ListPage? {
    guard query.search == nil, let scope = try? scope(query.scope) else { return nil }
    var windows: [Window] = []
    for name in query.scope.names {
      guard let window = self.windows[name] else { return nil }
      windows.append(window)
    }
    windowUses.note(query.scope.names)
    var reader = WindowReader(windows, query)
    var found: [ItemVersion] = []
    if let before = query.before {
      guard let last = reader.last(query.limit + 1, before: before) else { return nil }
      return ListPage(query, found: last, in: scope)
    }
    found.reserveCapacity(query.limit + 1)
    while found.count <= query.limit, let item = reader.next() { found.append(item) }
    guard found.count > query.limit || reader.isComplete else { return nil }
    return ListPage(query, found: found, in: scope)
  }
}

/// Reads the items of several windows that match a query, newest first and each once.
private struct WindowReader {
  private let windows: [Window]
  private let filter: ListFilter
  private var cursors: [Window.Cursor]
  private var last: ListPosition?
  /// The position up to which all windows have all items; nil if they have all.
  private let end: ListPosition?
  /// Whether there are no further items, neither here nor in the database.
  private(set) var isComplete = false

  init(_ windows: [Window], _ query: ItemQuery) {
    self.windows = windows
    filter = ListFilter(query)
    end = windows.lazy.compactMap(\.end).min()
    let start = filter.start
    cursors = windows.map { window in start.map { window.cursor(notNewerThan: $0) } ?? window.start }
  }

  mutating func next() -> ItemVersion? {
    while let entry = nextEntry() {
      if let end, end < entry.item.position { break }
      if filter.isBefore(entry.item) {
        isComplete = true
        return nil
      }
      if filter.matches(entry) { return entry.item }
    }
    // Items beyond the windows may match, unless all of them are too old.
    isComplete = end.map { filter.excludes(olderThan: $0) } ?? true
    return nil
  }

  /// Returns the last items before a position, oldest first; nil if the windows do not reach it.
  mutating func last(_ count: Int, before keyset: Keyset) -> [ItemVersion]? {
    let position = ListPosition(keyset)
    var found: Deque<ItemVersion> = []
    while let item = next() {
      guard item.position < position else { return found.reversed() }
      if found.count == count { found.removeFirst() }
      found.append(item)
    }
    return isComplete ? found.reversed() : nil
  }

  /// The next entry of all windows, each item once.
  private mutating func nextEntry() -> Window.Entry? {
    while true {
      var newest: (window: Int, entry: Window.Entry)?
      for index in windows.indices {
        guard let entry = windows[index].entry(at: cursors[index]) else { continue }
        if newest.map({ entry.item.position < $0.entry.item.position }) ?? true { newest = (index, entry) }
      }
      guard let (index, entry) = newest else { return nil }
      windows[index].advance(&cursors[index])
      guard entry.item.position != last else { continue }
      last = entry.item.position
      return entry
    }
  }
}

/// The filters of a list, for entries in memory. They match as the SQL conditions do (`NewsStore.conditions`).
private struct ListFilter {
  private let after: ListPosition?
  private let from: Int?
  private let to: Int?
  private let language: String?
  private let author: String?
  private let isBreaking: Bool?

  init(_ query: ItemQuery) {
    after = query.after.map { ListPosition($0) }
    from = query.from.map(RFC3339.milliseconds)
    to = query.to.map(RFC3339.milliseconds)
    language = query.language?.lowercased()
    author = query.author
    isBreaking = query.isBreaking
  }

  /// A position that all newer items precede; nil to begin with the newest item.
  var start: ListPosition? {
    // The earliest id of the millisecond before.
    let end = to.map { ListPosition(date: $0 - 1, id: .last) }
    return [after, end].compactMap(\.self).max()
  }

  /// Whether the item, and all that follow it, are too old.
  func isBefore(_ item: ItemVersion) -> Bool { from.map { item.date < $0 } ?? false }

  /// Whether all items after a position are too old.
  func excludes(olderThan position: ListPosition) -> Bool { from.map { position.date < $0 } ?? false }

  func matches(_ entry: Window.Entry) -> Bool {
    if let after, entry.item.position <= after { return false }
    if let author, !isEqual(entry.author, author) { return false }
    if let isBreaking, entry.isBreaking != isBreaking { return false }
    guard let language else { return true }
    guard let tag = entry.language?.utf8, tag.starts(with: language.utf8) else { return false }
    return tag.dropFirst(language.utf8.count).first.map { $0 == UInt8(ascii: "-") } ?? true
  }

  /// Compares bytes, as PostgreSQL does. `String` also equates canonically equivalent texts.
  private func isEqual(_ one: String?, _ other: String) -> Bool { one?.utf8.elementsEqual(other.utf8) ?? false }
}

extension ListPosition {
  init(_ keyset: Keyset) {
    self.init(date: RFC3339.milliseconds(of: keyset.date), id: keyset.id)
  }
}

extension UUID {
  /// The id that sorts first in lists.
  fileprivate static let last = UUID(
    uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
}

/// The size limit of a JSON page, 1 MiB. A page is cut by the sizes in the log, which are upper bounds. All replicas
/// therefore cut a page alike, whatever each has in memory.
enum PageBudget {
  /// The limit in bytes: 1 MiB less the JSON around the items.
  static let bytes = 1_048_576 - 1024

  /// Returns the number of leading entries that a page can have.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of entries.
  ///   - size: The maximum size of an entry in bytes. The first one always fits, because writes limit a single item.
  static func count<Entry>(_ entries: some Collection<Entry>, limit: Int, size: (Entry) -> Int) -> Int {
    var (count, total) = (0, 0)
    for entry in entries.prefix(limit) {
      total += size(entry)
      guard count == 0 || total <= bytes else { break }
      count += 1
    }
    return count
  }
}
