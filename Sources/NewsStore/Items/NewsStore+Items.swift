public import Foundation
public import News
import PostgresClient

/// A page of published items.
public struct ItemQuery: Sendable, Hashable {
  /// The feed, or topics of which an item has at least one.
  public var scope: Scope
  /// The maximum number of items, 1 or more.
  public var limit: Int
  /// The last item of the previous page; nil for the first page.
  public var after: Keyset?
  /// The first item of the following page; nil for a page that does not end before a known item. The page then consists
  /// of the items directly before it. It excludes `after` and `search`.
  public var before: Keyset?
  /// A language range, which matches itself and all tags that extend it (RFC 4647 section 3.3.1): `en` matches `en-GB`.
  public var language: String?
  /// The exact name of an author.
  public var author: String?
  /// The earliest date, inclusive.
  public var from: Date?
  /// The latest date, exclusive.
  public var to: Date?
  /// Whether the items are breaking news; nil for both.
  public var isBreaking: Bool?
  /// The search terms. With `language`, inflected forms match too.
  public var search: SearchQuery?
  /// Whether `html` is read.
  public var includesHTML: Bool

  /// Creates a query. The default is the first page of the feed.
  public init(
    scope: Scope = .feed, limit: Int = 50, after: Keyset? = nil, before: Keyset? = nil, language: String? = nil,
    author: String? = nil, from: Date? = nil, to: Date? = nil, isBreaking: Bool? = nil, search: SearchQuery? = nil,
    includesHTML: Bool = false
  ) {
    self.scope = scope
    self.limit = limit
    self.after = after
    self.before = before
    self.language = language
    self.author = author
    self.from = from
    self.to = to
    self.isBreaking = isBreaking
    self.search = search
    self.includesHTML = includesHTML
  }
}

/// The position of an item in lists, which are sorted from newest to oldest.
public struct Keyset: Sendable, Hashable {
  /// The date of the item, in whole milliseconds.
  public var date: Date
  /// The id of the item, which orders items of the same date.
  public var id: UUID

  /// Creates the position of an item.
  public init(date: Date, id: UUID) {
    self.date = date
    self.id = id
  }
}

extension NewsStore {
  /// Reads a page of published items, newest first. A page ends early before it would exceed `PageBudget.bytes`, but
  /// has at least one item if there is one.
  ///
  /// - Throws: `StoreError.unknownTopics`, and `searchTooBroad` for a query with `search`.
  public func page(_ query: ItemQuery) async throws -> ListPage {
    let found = try await rows(of: query)
    return ListPage(query, found: try found.rows.map { try ItemVersion(row: $0, at: 1) }, in: found.scope)
  }

  private func rows(of query: ItemQuery) async throws -> ScopedRows {
    guard let search = query.search else {
      return try await read(query.scope, order: Self.order(of: query), Self.pageQuery(query))
    }
    do {
      return try await rows(of: query, finding: search)
    } catch StoreError.statementCancelled {
      throw StoreError.searchTooBroad
    }
  }

  /// The order of the rows `c` of a page.
  static let newestFirst: PostgresQuery = "c.date DESC, c.item DESC"

  /// The order in which the rows of a page are found: nearest to the known item first.
  private static func order(of query: ItemQuery) -> PostgresQuery {
    query.before == nil ? newestFirst : "c.date, c.item"
  }

  /// Scans the log's index by date, once for each topic. It reads no more rows than the page has.
  ///
  /// - Parameter source: The table expression for the rows `c` of the log.
  static func pageQuery(_ query: ItemQuery, from source: PostgresQuery = "change_log AS c") -> PostgresQuery {
    let names = query.scope.names
    // For a single scope the planner gets the value.
    let scope: PostgresQuery = names.count == 1 ? "\(names[0])" : "s.scope"
    let walk: PostgresQuery = """
      SELECT \(query: ItemVersion.columns) FROM \(query: source)
      WHERE c.scope = \(query: scope) AND c.present \(query: conditions(query))
      ORDER BY \(query: order(of: query)) LIMIT \(query.limit + 1)
      """
    guard names.count > 1 else { return walk }
    return """
      SELECT DISTINCT \(query: ItemVersion.columns)
      FROM unnest(\(names)) AS s (scope) CROSS JOIN LATERAL (\(query: walk)) AS c
      ORDER BY \(query: order(of: query)) LIMIT \(query.limit + 1)
      """
  }

  /// The SQL conditions of the filters, for the log or for the table of items.
  static func conditions(_ query: ItemQuery, of table: String = "c", id: String = "c.item") -> PostgresQuery {
    var conditions: PostgresQuery = ""
    func require(_ condition: PostgresQuery) { conditions = "\(query: conditions) AND \(query: condition)" }
    let date: PostgresQuery = "\(unsafeSQL: table).date"
    if let from = query.from { require("\(query: date) >= \(from)") }
    if let to = query.to { require("\(query: date) < \(to)") }
    if let after = query.after { require("(\(query: date), \(unsafeSQL: id)) < (\(after.date), \(after.id))") }
    if let before = query.before { require("(\(query: date), \(unsafeSQL: id)) > (\(before.date), \(before.id))") }
    if let isBreaking = query.isBreaking {
      // As a literal, so that the planner sees that the index of breaking news suffices.
      require("\(unsafeSQL: isBreaking ? "" : "NOT ")\(unsafeSQL: table).breaking")
    }
    if let author = query.author { require("\(unsafeSQL: table).author = \(author)") }
    if let language = query.language?.lowercased() {
      let tag: PostgresQuery = "lower(\(unsafeSQL: table).language)"
      require("(\(query: tag) = \(language) OR starts_with(\(query: tag), \(language + "-")))")
    }
    return conditions
  }

  /// Reads the current version of a published item.
  ///
  /// - Throws: `StoreError.notFound` for an item that was never published, or was withdrawn to a draft; `retracted` for one
  ///   that was retracted or has expired.
  public func item(_ id: UUID) async throws -> CurrentItem {
    let query: PostgresQuery = """
      SELECT \(query: ItemVersion.columns), c.present IS TRUE AS present, coalesce(c.reason, g.reason) AS reason,
        i.retraction_reason, clock_timestamp() AS now,
        \(query: Database.currentEpoch) AS epoch,
        (SELECT s.version FROM scopes AS s WHERE s.scope = '') AS counter
      FROM items AS i LEFT JOIN change_log AS c ON c.item = i.id AND c.scope = ''
        LEFT JOIN gone_items AS g ON g.item = i.id
      WHERE i.id = \(id) AND (c.item IS NOT NULL OR g.item IS NOT NULL)
        AND i.state IN ('published', 'retracted', 'expired')
      """
    let found = await fromReplica([query]) { answers in
      let found = try CurrentItem(answers[0])
      return (found, found.feedVersion)
    }
    if let found { return found }
    return try CurrentItem(try await database.snapshot([query])[0])
  }
}

/// The current version of a published item.
public struct CurrentItem: Sendable {
  /// The version of the item.
  public let item: ItemVersion
  /// The time of the read.
  public let read: DatabaseInstant
  /// The epoch and version of the database snapshot.
  public let feedVersion: FeedVersion

  init(item: ItemVersion, read: DatabaseInstant, feedVersion: FeedVersion) {
    self.item = item
    self.read = read
    self.feedVersion = feedVersion
  }

  /// - Throws: `StoreError.notFound`, `retracted`.
  fileprivate init(_ rows: PostgresRows) throws {
    guard let row = rows.first else { throw StoreError.notFound }
    guard try row.decode("present") else {
      throw StoreError.retracted(
        reason: RemovalReason(rawValue: try row.decode("reason")), detail: try row.decode("retraction_reason"))
    }
    item = try ItemVersion(row: row)
    read = DatabaseInstant(try row.decode("now"))
    feedVersion = FeedVersion(epoch: try row.decode("epoch"), version: try row.decode("counter"))
  }
}
