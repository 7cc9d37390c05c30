public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// Reads an item in any state.
  ///
  /// - Throws: `StoreError.notFound`.
  public func editorialItem(_ id: UUID) async throws -> EditorialItem {
    guard let row = try await database.query("\(query: Self.selection(id))").first else { throw StoreError.notFound }
    return try EditorialItem(row: row)
  }

  /// Creates an item. The call is idempotent: a repeat with the same content has no effect, so that a retry with the
  /// same id is safe after an unknown outcome.
  ///
  /// - Throws: `StoreError.alreadyExists` if the id is taken by other content; `unknownTopics`; `unknownMedia`;
  ///   `outcomeUnknown`.
  public func create(_ id: UUID, _ content: ItemContent) async throws -> (item: EditorialItem, created: Bool) {
    let insert = try Self.insertion(id, content)
    let written = try await database.transaction { transaction in
      let answers = try await transaction.pipeline([
        Self.unknownTopics(in: content), insert, Self.unknownMedia(in: content, of: id),
      ])
      try Self.refuseUnknownTopics(answers[0])
      guard !answers[1].isEmpty else {
        let existing = try await Self.lockedItem(id, in: transaction)
        guard let existing, ItemContent(existing) == content else { throw StoreError.alreadyExists }
        return (item: existing, created: false)
      }
      try Self.refuseUnknownMedia(answers[2])
      return (item: try await Self.publish(id, in: transaction), created: true)
    }
    try await waitForState(written.item.item.version)
    return written
  }

  /// Writes an item whose new content is computed from the current one. Equal content is not written.
  ///
  /// - Parameters:
  ///   - precondition: The condition on the current item. With `.absent` the item is created.
  ///   - change: Returns the new content for the current item, which is nil if there is none. It runs again after a
  ///     deadlock. An error that it throws cancels the write.
  /// - Throws: `StoreError.retracted`, `preconditionFailed`, `preconditionRequired`, `unknownTopics`, `unknownMedia`,
  ///   `outcomeUnknown`, and the errors of `change`.
  public func write(
    _ id: UUID, if precondition: WritePrecondition, _ change: @Sendable (EditorialItem?) throws -> ItemContent
  ) async throws -> (item: EditorialItem, created: Bool) {
    let written = try await database.transaction { transaction in
      let existing = try await Self.lockedItem(id, in: transaction)
      if let existing { try Self.refuseRetracted(existing) }
      try precondition.check(revision: existing?.revision)
      let content = try change(existing)
      if let existing, ItemContent(existing) == content { return (item: existing, created: false) }
      let writing = try existing == nil ? Self.insertion(id, content) : Self.update(id, content)
      let answers = try await transaction.pipeline([
        Self.unknownTopics(in: content), writing, Self.unknownMedia(in: content, of: id),
      ])
      try Self.refuseUnknownTopics(answers[0])
      // Another writer has created the item since it was read.
      guard !answers[1].isEmpty else { throw StoreError.preconditionFailed }
      try Self.refuseUnknownMedia(answers[2])
      return (item: try await Self.publish(id, in: transaction), created: existing == nil)
    }
    try await waitForState(written.item.item.version)
    return written
  }

  /// Retracts an item for good. Its row is kept.
  ///
  /// - Parameters:
  ///   - reason: The editor's explanation, which readers receive at the item's address.
  ///   - precondition: The condition on the current item; `.exists` retracts any revision.
  /// - Throws: `StoreError.notFound`, `retracted`, `preconditionFailed`, `preconditionRequired`, `outcomeUnknown`.
  public func retract(_ id: UUID, reason: String?, if precondition: WritePrecondition) async throws {
    let rows = try await database.transaction { transaction in
      guard let existing = try await Self.lockedItem(id, in: transaction) else { throw StoreError.notFound }
      try Self.refuseRetracted(existing)
      try precondition.check(revision: existing.revision)
      _ = try await transaction.query(
        "UPDATE items SET state = 'retracted', retraction_reason = \(reason) WHERE id = \(id)")
      return try await transaction.commit(after: "SELECT version FROM publish(ARRAY[\(id)])")
    }
    // The log has no row for a draft that was never published.
    if let version = try rows.first?.decode("version", as: Int.self) { try await waitForState(version) }
  }

  /// Publishes the writes of the transaction, commits, and reads the resulting item, all in one round trip.
  private static func publish(_ id: UUID, in transaction: PostgresTransaction) async throws -> EditorialItem {
    // The snapshot of this statement lacks the new row of the log: version and date come from the call itself.
    let rows = try await transaction.commit(
      after: """
        SELECT \(query: EditorialItem.columns)
        FROM items AS i LEFT JOIN publish(ARRAY[\(id)]) AS l ON l.item = i.id WHERE i.id = \(id)
        """)
    guard let row = rows.first else { throw StoreFault("an item is gone right after it was written") }
    return try EditorialItem(row: row)
  }

  private static func selection(_ id: UUID) -> PostgresQuery {
    """
    SELECT \(query: EditorialItem.columns)
    FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    WHERE i.id = \(id)
    """
  }

  private static func lockedItem(_ id: UUID, in transaction: PostgresTransaction) async throws -> EditorialItem? {
    // Two statements: the first may wait for the item's row, and the log is to be read after that wait.
    let answers = try await transaction.pipeline([
      "SELECT 1 FROM items WHERE id = \(id) FOR NO KEY UPDATE", selection(id),
    ])
    return try answers[1].first.map(EditorialItem.init(row:))
  }

  private static func refuseRetracted(_ item: EditorialItem) throws {
    switch item.state {
    case .retracted: throw StoreError.retracted(reason: .retracted, detail: item.retractionReason)
    case .expired: throw StoreError.retracted(reason: .expired, detail: nil)
    case .draft, .scheduled, .published: return
    }
  }

  private static func unknownTopics(in content: ItemContent) -> PostgresQuery {
    """
    SELECT wanted.slug FROM unnest(\(content.topics)) AS wanted (slug)
    WHERE NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = wanted.slug)
    """
  }

  private static func refuseUnknownTopics(_ rows: PostgresRows) throws {
    let unknown = try rows.map { try $0.decode("slug", as: String.self) }
    guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
  }

  /// Selects the attachments that are unknown files. It runs after the write, from which on the files in use cannot be
  /// deleted.
  private static func unknownMedia(in content: ItemContent, of id: UUID) -> PostgresQuery {
    """
    SELECT wanted.id FROM unnest(\(content.attachments.compactMap(\.mediaID))) AS wanted (id)
    WHERE NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = wanted.id AND u.item = \(id))
    """
  }

  private static func refuseUnknownMedia(_ rows: PostgresRows) throws {
    let unknown = try rows.map { try $0.decode("id", as: UUID.self) }
    guard unknown.isEmpty else { throw StoreError.unknownMedia(unknown) }
  }

  private static func insertion(_ id: UUID, _ content: ItemContent) throws -> PostgresQuery {
    """
    INSERT INTO items (id, \(unsafeSQL: ItemColumn.names)) VALUES (\(id), \(query: try ItemColumn.values(of: content)))
    ON CONFLICT (id) DO NOTHING RETURNING id
    """
  }

  private static func update(_ id: UUID, _ content: ItemContent) throws -> PostgresQuery {
    "UPDATE items SET \(query: try ItemColumn.assignments(of: content)) WHERE id = \(id) RETURNING id"
  }
}
