package import Foundation
import HashTreeCollections

extension FeedSnapshot {
  /// The items with the latest changes.
  package struct RecentChanges: Sendable {
    /// The last change of an item.
    package struct Change: Sendable {
      package var item: UUID
      package var version: Int
      /// The version of the item's last change in each topic, including its removal from the topic.
      package var topics: [String: Int]

      package init(item: UUID, version: Int, topics: [String: Int] = [:]) {
        self.item = item
        self.version = version
        self.topics = topics
      }
    }

    /// The number of changes that remain after an eviction.
    package static let count = 1000

    /// The version after which all changes are included.
    package private(set) var floor: Int
    /// Persistent, because each state has changes of its own, and nearly all of them are shared.
    private var changes: TreeDictionary<UUID, Change> = [:]

    package init(after version: Int) {
      floor = version
    }

    /// Adds changes in version order. Above twice the required number, the older half is evicted.
    package mutating func add(_ later: some Sequence<Change>) {
      for var change in later {
        change.topics.merge(changes[change.item]?.topics ?? [:]) { max($0, $1) }
        changes[change.item] = change
      }
      guard changes.count > 2 * Self.count else { return }
      floor = changes.values.map(\.version).sorted()[changes.count - Self.count - 1]
      changes = changes.filter { [floor] in $0.value.version > floor }
    }

    /// The version of an item's last change; 0 if it is older than all changes here.
    func version(of item: UUID) -> Int { changes[item]?.version ?? 0 }

    /// Whether an item is unchanged since a version; nil if that is no longer known.
    package func isUnchanged(_ item: UUID, since version: Int) -> Bool? {
      if let last = changes[item], last.version > version { return false }
      return version >= floor ? true : nil
    }

    /// The changes after a version, newest first; nil if they are no longer complete.
    func after(_ version: Int) -> [Change]? {
      guard version >= floor else { return nil }
      return changes.values.filter { $0.version > version }.sorted { $0.version > $1.version }
    }
  }
}
