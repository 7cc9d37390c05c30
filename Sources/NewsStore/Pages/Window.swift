import Foundation

/// The newest items of a scope, which suffice for the first pages of its lists.
package struct Window: Sendable {
  /// An item and the fields by which lists filter.
  package struct Entry: Sendable {
    let item: ItemVersion
    /// The language tag, in lower case as PostgreSQL writes it.
    let language: String?
    let author: String?

    package init(_ item: ItemVersion, language: String? = nil, author: String? = nil) {
      self.item = item
      self.language = language
      self.author = author
    }
  }

  /// The number of items that are loaded. A window may grow to twice as many, and is loaded again below half of them.
  package static let size = 1000

  /// The maximum number of windows in memory. Each takes up to 200 KB.
  package static let maximumCount = 200

  /// The items, newest first.
  private(set) var entries: [Entry]
  /// The position up to which the window has all items of the scope; nil if it has all of them.
  private(set) var end: ListPosition?

  /// - Parameter entries: The newest items of the scope, newest first: all of them, or at least `size`.
  package init(_ entries: [Entry]) {
    self.entries = entries
    end = entries.count < Self.size ? nil : entries.last?.item.position
  }

  /// The window after changes of the scope.
  ///
  /// - Parameters:
  ///   - changed: The ids of all items that were changed in the scope, or have left it.
  ///   - present: Those of them that are in the scope, newest first.
  /// - Returns: nil if too few items are left, so that the window must be loaded again.
  func advanced(changed: Set<UUID>, present: [Entry]) -> Window? {
    var window = self
    // The usual change is that of one item, for which a comparison is faster than a look-up.
    let only = changed.count == 1 ? changed.first : nil
    var merged = entries
    merged.removeAll { entry in
      if let only { entry.item.id == only } else { changed.contains(entry.item.id) }
    }
    let added = present.filter { entry in end.map { entry.item.position <= $0 } ?? true }
    if added.count <= 1 {
      for entry in added { merged.insert(entry, at: Self.index(in: merged, notNewerThan: entry.item.position)) }
    } else {
      merged = Self.merged(merged, added)
    }
    if merged.count > 2 * Self.size {
      merged.removeSubrange(Self.size...)
      window.end = merged.last?.item.position
    }
    if window.end != nil, merged.count < Self.size / 2 { return nil }
    window.entries = merged
    return window
  }

  /// Merges entries in the order of lists.
  private static func merged(_ entries: [Entry], _ added: [Entry]) -> [Entry] {
    var merged: [Entry] = []
    merged.reserveCapacity(entries.count + added.count)
    var rest = added[...]
    for entry in entries {
      while let next = rest.first, next.item.position < entry.item.position {
        merged.append(next)
        rest = rest.dropFirst()
      }
      merged.append(entry)
    }
    merged.append(contentsOf: rest)
    return merged
  }

  /// The index of the first entry that is not newer than a position.
  func index(notNewerThan position: ListPosition) -> Int { Self.index(in: entries, notNewerThan: position) }

  private static func index(in entries: [Entry], notNewerThan position: ListPosition) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].item.position < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
