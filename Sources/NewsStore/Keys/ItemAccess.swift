import PostgresClient

/// The rights of an author over items, as those of a key.
///
///     let access = ItemAccess(mayPublish: false, topics: ["sport"])
///     access.includes(["sport"])              // true
///     access.includes(["politics", "sport"])  // false
public struct ItemAccess: Sendable, Equatable {
  /// Whether the author may publish, and change what readers see or will see.
  public var mayPublish: Bool
  /// The topics to which the author is restricted: the author sees and writes an item if it has topics, and all of them are
  /// among these. With nil, there is no restriction.
  public var topics: Set<String>?

  /// The access to all items.
  public static let full = ItemAccess()

  /// Creates an access; by default that to all items.
  public init(mayPublish: Bool = true, topics: Set<String>? = nil) {
    self.mayPublish = mayPublish
    self.topics = topics
  }

  /// Whether the author sees and may write items with these topics.
  public func includes(_ topics: [String]) -> Bool {
    guard let allowed = self.topics else { return true }
    return !topics.isEmpty && allowed.isSuperset(of: topics)
  }

  /// Checks the topics of an item, before and after a write.
  ///
  /// - Throws: `StoreError.topicsNotAllowed`.
  func check(_ topics: [String]) throws {
    guard let allowed = self.topics, !includes(topics) else { return }
    throw StoreError.topicsNotAllowed(topics.filter { !allowed.contains($0) }, allowed: allowed.sorted())
  }

  /// The condition that an item `i` has topics which `includes(_:)` accepts.
  var condition: PostgresQuery {
    guard let topics else { return "true" }
    // The index `items_by_topics` finds items with one of the topics. `IS TRUE` hides the other condition from it: it would
    // read all other topics of these items, and then the items again.
    let allowed = topics.sorted()
    return "((i.topics <@ \(allowed)) IS TRUE AND i.topics && \(allowed))"
  }
}
