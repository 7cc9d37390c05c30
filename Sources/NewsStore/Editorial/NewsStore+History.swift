public import Foundation
public import News
import PostgresClient

/// A page of the history.
public struct HistoryPage: Sendable {
  /// The writes, newest first.
  public var entries: [HistoryEntry]
  /// The position of each entry, after which another page may begin.
  public var positions: [Int]
  /// The position after which the next page begins; nil on the last page.
  public var next: Int?
  /// Whether this is the last page of an item whose older writes are not stored: they were removed or erased, or were made
  /// before there was a history or in another database.
  public var isIncomplete = false
}

extension NewsStore {
  /// The maximum size of the former values in a page, in bytes. A larger entry has a page of its own.
  private static let historyBudget = 512 << 10

  /// Reads the writes to an item, or to all items, newest first.
  ///
  /// - Parameters:
  ///   - item: The item, in any state; nil for all items.
  ///   - position: The last position of the previous page; nil for the first page.
  ///   - limit: The maximum number of entries, 1 or more. A page ends earlier if its texts are long.
  ///   - access: The access of the reader, who receives the writes to no other items, and of these none that were made
  ///     while the item had other topics.
  ///   - owner: The owner of the comparisons of texts on `ComputePool`.
  /// - Throws: `StoreError.notFound` if there is no such item, or the reader does not see it.
  public func history(
    of item: UUID?, after position: Int? = nil, limit: Int, for access: ItemAccess = .full, owner: String = ""
  ) async throws -> HistoryPage {
    let answers = try await database.snapshot([
      """
      SELECT \(item)::uuid IS NOT NULL
        AND NOT EXISTS (SELECT FROM item_history AS h WHERE h.item = \(item) AND h.revision = 1) AS is_incomplete
      WHERE \(item)::uuid IS NULL OR EXISTS (SELECT FROM items AS i WHERE i.id = \(item) AND \(query: access.condition))
      """,
      Self.historyRows(of: item, after: position, limit, access),
    ])
    if answers[0].isEmpty { throw StoreError.notFound }
    let rows = answers[1]
    let page = Array(try rows.prefix(limit).prefix { try $0.decode("fits") })
    let next: Int? = page.count < rows.count ? try page.last?.decode("number") : nil
    let bytes = try page.reduce(0) { sum, row in
      try sum + (row.decode("changes", as: PostgresJSON?.self)?.data.count ?? 0)
    }
    return HistoryPage(
      entries: try await ComputePool.shared.slices(.editing, for: owner, bytes: bytes, page) {
        try HistoryEntry(row: $0)
      },
      positions: try page.map { try $0.decode("number") }, next: next,
      isIncomplete: next == nil ? try answers[0].first?.decode("is_incomplete") ?? false : false)
  }

  private static func historyRows(
    of item: UUID?, after position: Int?, _ limit: Int, _ access: ItemAccess
  ) -> PostgresQuery {
    var selection: PostgresQuery = item.map { "h.item = \($0)" } ?? "true"
    if access.topics != nil {
      selection = """
        \(query: selection) AND EXISTS (SELECT FROM items AS i WHERE i.id = h.item AND \(query: access.condition))
          AND \(query: Self.condition(access, of: "h.item", at: "h.revision"))
          AND \(query: Self.condition(access, of: "h.item", at: "h.revision - 1"))
        """
    }
    return """
      WITH page AS (
        SELECT h.* FROM item_history AS h
        WHERE \(query: selection) AND h.number < coalesce(\(position), 9223372036854775807)
        ORDER BY h.number DESC LIMIT \(limit + 1)
      ), weighed AS (
        SELECT p.*, sum(octet_length(p.replaced::text)) OVER own <= \(historyBudget) OR row_number() OVER own = 1 AS fits
        FROM page AS p WINDOW own AS (ORDER BY p.number DESC ROWS UNBOUNDED PRECEDING)
      )
      SELECT w.number, w.item, w.revision, date_trunc('milliseconds', w.at) AS at, w.editor, w.state, w.fits,
        CASE WHEN w.fits THEN c.changes END AS changes
      FROM weighed AS w JOIN items AS i ON i.id = w.item CROSS JOIN LATERAL (
        SELECT coalesce(
          json_agg(json_strip_nulls(json_build_object('field', f.name, 'old', w.replaced -> f.name, 'new',
            CASE WHEN n.replaced IS NULL THEN item_field(i, f.name) ELSE n.replaced -> f.name END)) ORDER BY f.number),
          '[]') AS changes
        FROM unnest(w.fields) WITH ORDINALITY AS f (name, number) LEFT JOIN LATERAL (
          \(query: nextChange(of: "w.item", after: "w.revision"))
        ) AS n ON true
        WHERE w.fits
      ) AS c
      ORDER BY w.number DESC
      """
  }

  /// The condition that the topics which an item had at a revision are among those of an access. An item that has kept them
  /// since is as accessible as it is now.
  private static func condition(
    _ access: ItemAccess, of item: PostgresQuery, at revision: PostgresQuery
  ) -> PostgresQuery {
    guard let topics = access.topics?.sorted() else { return "true" }
    return """
      coalesce((
        SELECT ((n.replaced -> 'topics') <@ to_jsonb(\(topics)::text[]) AND n.replaced -> 'topics' <> '[]') IS TRUE
        FROM (VALUES ('topics')) AS f (name) CROSS JOIN LATERAL (
          \(query: nextChange(of: item, after: revision))
        ) AS n), true)
      """
  }

  /// Selects the next write after a revision that changed the field `f.name`. It replaced the value that the field had at
  /// the revision; without such a write, the field has that value still.
  private static func nextChange(of item: PostgresQuery, after revision: PostgresQuery) -> PostgresQuery {
    """
    SELECT x.replaced FROM item_history AS x
    WHERE x.item = \(query: item) AND x.revision > \(query: revision) AND f.name = ANY (x.fields)
    ORDER BY x.revision LIMIT 1
    """
  }

  /// Reads the content that an item had at a revision.
  ///
  /// The state, the schedule and the expiry are those of now: a restoration is a correction of the texts, and neither
  /// publishes nor withdraws.
  ///
  /// - Parameter access: The access of the author. The write of the item checks its present topics.
  /// - Returns: A function that gives the current item its former content. It is to be used in a write of the item.
  /// - Throws: `StoreError.notFound` if the item or the revision does not exist, or had topics that the access lacks;
  ///   `revisionRemoved` if the history of the item begins later.
  public func restoration(
    of id: UUID, to revision: Int, for access: ItemAccess = .full
  ) async throws -> @Sendable (EditorialItem) throws -> ItemContent {
    let answers = try await database.snapshot([
      """
      SELECT \(revision) >= coalesce(
        (SELECT h.revision - 1 FROM item_history AS h WHERE h.item = i.id ORDER BY h.revision LIMIT 1), i.revision)
        AS is_stored
      FROM items AS i WHERE i.id = \(id) AND \(revision) BETWEEN 1 AND i.revision
        AND \(query: Self.condition(access, of: "i.id", at: "\(revision)"))
      """,
      "SELECT \(query: EditorialItem.columns) FROM \(query: EditorialItem.tables) WHERE i.id = \(id)",
      """
      SELECT f.name, n.replaced -> f.name AS value FROM (
        SELECT DISTINCT unnest(h.fields) AS name FROM item_history AS h WHERE h.item = \(id) AND h.revision > \(revision)
      ) AS f CROSS JOIN LATERAL (
        \(query: Self.nextChange(of: "\(id)", after: "\(revision)"))
      ) AS n
      """,
    ])
    guard let isStored: Bool = try answers[0].first?.decode("is_stored"), let row = answers[1].first else {
      throw StoreError.notFound
    }
    guard isStored else { throw StoreError.revisionRemoved }
    let read = try EditorialItem(row: row)
    let values: [(field: String, json: Data?)] = try answers[2].map {
      (try $0.decode("name"), try $0.decode("value", as: PostgresJSON?.self)?.data)
    }
    let former = try await ComputePool.shared.run(.editing, bytes: values.reduce(0) { $0 + ($1.json?.count ?? 0) }) {
      var former = ItemContent(read)
      for (field, json) in values {
        try former.restore(field, try json.map { try NewsJSON.decode(FieldValue.self, from: $0) })
      }
      return former
    }
    return { item in
      // The former content was computed from the writes until then.
      guard item.revision == read.revision else { throw StoreError.preconditionFailed }
      return former
    }
  }
}

extension ItemContent {
  /// Sets a field to a value of the history. The state, the times of the schedule, and fields that only retracted items
  /// have, are left unchanged.
  fileprivate mutating func restore(_ field: String, _ value: FieldValue?) throws {
    var text: String? { if case .text(let text)? = value { text } else { nil } }
    switch (field, value) {
    case ("title", _): title = text
    case ("summary", _): summary = text
    case ("text", .text(let text)?): self.text = text
    case ("html", _): html = text
    case ("language", _): language = text
    case ("url", _): url = text
    case ("author", _): author = text
    case ("date", _): date = text.flatMap(RFC3339.date)
    case ("topics", .texts(let texts)?): topics = texts
    // An empty array has elements of no type.
    case ("topics", .attachments?): topics = []
    case ("attachments", .attachments(let list)?): attachments = list
    case ("attachments", .texts?): attachments = []
    case ("breaking", .flag(let flag)?): breaking = flag
    case ("state", _), ("publishAt", _), ("expireAt", _), ("retractionReason", _), ("erased", _): break
    default: throw StoreFault("the history has an unknown value of \(field)")
    }
  }
}

extension HistoryEntry {
  fileprivate init(row: PostgresRow) throws {
    let changes: [StoredChange] = try row.json("changes")
    self.init(
      item: try row.decode("item"), revision: try row.decode("revision"), at: try row.decode("at"),
      editor: try row.decode("editor", as: String?.self).map(Editor.init(text:)), state: try row.value("state"),
      changes: changes.map { FieldChange(field: $0.field, old: $0.old, new: $0.new) })
  }

  private struct StoredChange: Decodable {
    let field: String
    let old: FieldValue?
    let new: FieldValue?
  }
}

extension Editor {
  /// The author as it is stored: `KIND` or `KIND:NAME`.
  var text: String { name.map { "\(kind):\($0)" } ?? kind }

  init(text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    self.init(kind: parts[0], name: parts.count > 1 ? parts[1] : nil)
  }
}
