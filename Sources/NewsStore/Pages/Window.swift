import Foundation
import Synchronization

/// The newest items of a scope, which suffice for the first pages of its lists.
package struct Window: Sendable {
  /// An item and the fields by which lists filter.
  package struct Entry: Sendable {
    let item: ItemVersion
    /// The language tag, in lower case as PostgreSQL writes it.
    let language: String?
    let author: String?
    let isBreaking: Bool

    package init(
      _ item: ItemVersion, language: String? = nil, author: String? = nil, isBreaking: Bool = false
    ) {
      self.item = item
      self.language = language
      self.author = author
      self.isBreaking = isBreaking
    }
  }

  /// The number of items that are loaded. A window may grow to twice as many, and is loaded again below half of them.
  package static let size = 1000

  /// The maximum number of windows in memory. Each takes up to 200 KB.
  package static let maximumCount = 200

  /// A place among the entries of a window.
  struct Cursor {
    fileprivate var chunk: Int
    fileprivate var offset: Int
  }

  /// The length from which a chunk is split.
  private static let maximumChunk = 64

  /// The items, newest first, in chunks that are not empty. Consecutive windows share all chunks but the changed ones.
  private var chunks: [[Entry]]
  /// The position up to which the window has all items of the scope; nil if it has all of them.
  private(set) var end: ListPosition?

  /// - Parameter entries: The newest items of the scope, newest first: all of them, or at least `size`.
  package init(_ entries: [Entry]) {
    chunks = stride(from: 0, to: entries.count, by: Self.maximumChunk / 2).map {
      Array(entries[$0..<min($0 + Self.maximumChunk / 2, entries.count)])
    }
    end = entries.count < Self.size ? nil : entries.last?.item.position
  }

  /// The window after changes of the scope.
  ///
  /// - Parameters:
  ///   - changed: The ids of all items that were changed in the scope, or have left it.
  ///   - present: Those of them that are in the scope.
  /// - Returns: nil if too few items are left, so that the window must be loaded again.
  func advanced(changed: Set<UUID>, present: [Entry]) -> Window? {
    var window = self
    window.remove(changed)
    for entry in present where end.map({ entry.item.position <= $0 }) ?? true { window.insert(entry) }
    var count = window.chunks.reduce(0) { $0 + $1.count }
    if count > 2 * Self.size {
      while let last = window.chunks.last, count - last.count >= Self.size {
        window.chunks.removeLast()
        count -= last.count
      }
      window.end = window.chunks.last?.last?.item.position
    }
    return window.end != nil && count < Self.size / 2 ? nil : window
  }

  private mutating func remove(_ ids: Set<UUID>) {
    // Nearly all entries stay. A look-up for each would take longer than all else.
    let bits = ids.reduce(UInt64(0)) { $0 | $1.filterBit }
    func isRemoved(_ entry: Entry) -> Bool { bits & entry.item.id.filterBit != 0 && ids.contains(entry.item.id) }
    for index in chunks.indices where chunks[index].contains(where: isRemoved) {
      chunks[index].removeAll(where: isRemoved)
    }
    chunks.removeAll(where: \.isEmpty)
  }

  private mutating func insert(_ entry: Entry) {
    var cursor = cursor(notNewerThan: entry.item.position)
    if cursor.chunk == chunks.count {
      guard let last = chunks.indices.last else {
        chunks = [[entry]]
        return
      }
      cursor = Cursor(chunk: last, offset: chunks[last].count)
    }
    chunks[cursor.chunk].insert(entry, at: cursor.offset)
    let chunk = chunks[cursor.chunk]
    guard chunk.count >= Self.maximumChunk else { return }
    let half = chunk.count / 2
    chunks.replaceSubrange(cursor.chunk...cursor.chunk, with: [Array(chunk[..<half]), Array(chunk[half...])])
  }

  /// The item with an id.
  func item(_ id: UUID) -> ItemVersion? { chunks.lazy.joined().first { $0.item.id == id }?.item }

  /// The place of the newest entry.
  var start: Cursor { Cursor(chunk: 0, offset: 0) }

  /// Returns the place of the first entry that is not newer than a position.
  func cursor(notNewerThan position: ListPosition) -> Cursor {
    let chunk = Self.index(in: chunks) { $0[$0.count - 1].item.position < position }
    guard chunk < chunks.count else { return Cursor(chunk: chunk, offset: 0) }
    return Cursor(chunk: chunk, offset: Self.index(in: chunks[chunk]) { $0.item.position < position })
  }

  /// Returns the entry at a place; nil at the end.
  func entry(at cursor: Cursor) -> Entry? {
    cursor.chunk < chunks.count ? chunks[cursor.chunk][cursor.offset] : nil
  }

  /// Moves to the next entry, or to the end.
  func advance(_ cursor: inout Cursor) {
    cursor.offset += 1
    if cursor.offset == chunks[cursor.chunk].count { cursor = Cursor(chunk: cursor.chunk + 1, offset: 0) }
  }

  /// Returns the index of the first element that is not newer, by binary search.
  private static func index<Element>(in elements: [Element], isNewer: (Element) -> Bool) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if isNewer(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The scopes whose windows are in use, which determines what is evicted.
package final class WindowUses: Sendable {
  private struct State {
    /// The scopes whose windows have been read since the last eviction.
    var used: Set<String> = []
    /// The scopes that were asked for while no window could be added.
    var requested = RecentKeys()
  }

  private let state = Mutex(State())

  package init() {}

  /// Records that the windows of scopes were read.
  func note(_ names: [String]) { state.withLock { $0.used.formUnion(names) } }

  /// Whether windows are worth an eviction: their scopes were asked for before. A client that asks for many scopes once
  /// evicts nothing.
  func isRepeated(_ names: [String]) -> Bool {
    state.withLock { state in
      // All are remembered, also after the first that is new.
      names.map { state.requested.insert($0) }.allSatisfy(\.self)
    }
  }

  /// Chooses windows to evict: those that have not been read since the last eviction. That of the feed stays.
  ///
  /// - Parameter count: The number of windows to evict. The result is shorter if too many are in use.
  func unused(among names: some Collection<String>, count: Int) -> Set<String> {
    guard count > 0 else { return [] }
    return state.withLock { state in
      defer { state.used = [] }
      return Set(names.filter { !$0.isEmpty && !state.used.contains($0) }.prefix(count))
    }
  }
}
