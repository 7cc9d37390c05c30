package import Foundation

extension VersionState {
  /// The items that were changed last.
  package struct RecentChanges: Sendable {
    /// The last change of an item.
    package struct Change: Sendable {
      package var item: UUID
      package var version: Int
      /// By topic, the version of the item's last change in it: leaving it is one.
      package var topics: [String: Int]

      package init(item: UUID, version: Int, topics: [String: Int] = [:]) {
        self.item = item
        self.version = version
        self.topics = topics
      }
    }

    /// How many are remembered at least.
    package static let count = 1000

    /// All changes above it are here.
    package private(set) var floor: Int
    private var changes: [UUID: Change] = [:]

    package init(after version: Int) {
      floor = version
    }

    /// Adds changes in the order of versions; forgets the older half when there are twice as many as needed.
    package mutating func add(_ later: some Sequence<Change>) {
      for var change in later {
        change.topics.merge(changes[change.item]?.topics ?? [:]) { max($0, $1) }
        changes[change.item] = change
      }
      guard changes.count > 2 * Self.count else { return }
      floor = changes.values.map(\.version).sorted()[changes.count - Self.count - 1]
      changes = changes.filter { [floor] in $0.value.version > floor }
    }

    /// Whether nothing has happened to an item after a version; nil where that is not known any more.
    package func isUnchanged(_ item: UUID, since version: Int) -> Bool? {
      if let last = changes[item], last.version > version { return false }
      return version >= floor ? true : nil
    }

    /// What was changed after a version, newest first; nil where not all of it is known any more.
    func after(_ version: Int) -> [Change]? {
      guard version >= floor else { return nil }
      return changes.values.filter { $0.version > version }.sorted { $0.version > $1.version }
    }
  }
}
