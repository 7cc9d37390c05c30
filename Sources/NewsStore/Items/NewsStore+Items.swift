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
  /// A language range, which matches itself and all tags that extend it (RFC 4647 section 3.3.1): `en` matches `en-GB`.
  public var language: String?
  /// The exact name of an author.
  public var author: String?
  /// The earliest date, inclusive.
  public var from: Date?
  /// The latest date, exclusive.
  public var to: Date?
  /// The search terms. With `language`, inflected forms match too.
  public var search: SearchQuery?
  /// Whether `html` is read.
  public var includesHTML: Bool

  /// Creates a query. The default is the first page of the feed.
  public init(
    scope: Scope = .feed, limit: Int = 50, after: Keyset? = nil, language: String? = nil, author: String? = nil,
    from: Date? = nil, to: Date? = nil, search: SearchQuery? = nil, includesHTML: Bool = false
  ) {
    self.scope = scope
    self.limit = limit
    self.after = after
    self.language = language
    self.author = author
    self.from = from
    self.to = to
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

/// A page of items and the data for its validators.
public struct ItemPage: Sendable, Equatable {
  /// The items, newest first.
  public var items: [NewsItem]
  /// The position after which the next page begins; nil on the last page.
  public var next: Keyset?
  /// The current token of the scope, from the same snapshot as the items.
  public var token: SyncToken
  /// The time of the last change of the page, including the existence of a next page. It is nil for searches, because
  /// an item that no longer matches leaves no trace.
  public var modified: Date?
  /// The time of the database clock at the read.
  public var now: Date
  /// The epoch and version of the database snapshot.
  public var feedVersion: FeedVersion
}

/// An item and the snapshot from which it was read.
public struct ItemAnswer: Sendable, Equatable {
  /// The current item.
  public var item: NewsItem
  /// The time of the database clock at the read.
  public var now: Date
  /// The epoch and version of the database snapshot.
  public var feedVersion: FeedVersion
}

extension NewsStore {
  /// Reads a page of published items, newest first. A page ends early before it would exceed `PageBudget.bytes`, but
  /// has at least one item if there is one.
  ///
  /// - Throws: `StoreError.unknownTopics`, and `searchTooBroad` for a query with `search`.
  public func items(_ query: ItemQuery) async throws -> ItemPage {
    let (scope, rows) = try await rows(of: query)
    let page = try PageBudget.cut(rows, limit: query.limit, NewsItem.init(row:))
    // The first item beyond the page decides whether there is a next one.
    let beyond: Date? = try page.firstBeyond?.decode("updated")
    return ItemPage(
      items: page.elements,
      next: page.isCut ? page.elements.last.map { Keyset(date: $0.date, id: $0.id) } : nil,
      token: scope.token,
      modified: query.search == nil
        ? scope.modified(of: page.elements.map(\.updated) + [beyond].compactMap(\.self)) : nil,
      now: scope.now ?? .distantPast, feedVersion: scope.feedVersion)
  }

  private func rows(of query: ItemQuery) async throws -> (scope: ScopeSnapshot, rows: PostgresRows) {
    guard let search = query.search else { return try await read(query.scope, Self.pageQuery(query)) }
    do {
      return try await rows(of: query, finding: search)
    } catch StoreError.statementCancelled {
      throw StoreError.searchTooBroad
    }
  }

  /// Scans the log's index by date, once for each topic. It reads no more items than the page has.
  ///
  /// - Parameter source: The table expression for the rows `c` of the log.
  static func pageQuery(_ query: ItemQuery, from source: PostgresQuery = "change_log AS c") -> PostgresQuery {
    let names = query.scope.names
    // For a single scope the planner gets the value.
    let scope: PostgresQuery = names.count == 1 ? "\(names[0])" : "s.scope"
    let walk: PostgresQuery = """
      SELECT c.date, c.item, c.version, c.updated FROM \(query: source)
      WHERE c.scope = \(query: scope) AND c.present \(query: conditions(query))
      ORDER BY c.date DESC, c.item DESC LIMIT \(query.limit + 1)
      """
    let page: PostgresQuery =
      names.count == 1
      ? walk
      : """
      SELECT DISTINCT l.date, l.item, l.version, l.updated
      FROM unnest(\(names)) AS s (scope) CROSS JOIN LATERAL (\(query: walk)) AS l
      ORDER BY l.date DESC, l.item DESC LIMIT \(query.limit + 1)
      """
    return PageBudget.items(
      of: page, html: query.includesHTML, direction: "DESC", columns: NewsItem.columns(html: query.includesHTML))
  }

  /// The SQL conditions of the filters, for the log or for the table of items.
  static func conditions(_ query: ItemQuery, of table: String = "c", id: String = "c.item") -> PostgresQuery {
    var conditions: PostgresQuery = ""
    func require(_ condition: PostgresQuery) { conditions = "\(query: conditions) AND \(query: condition)" }
    let date: PostgresQuery = "\(unsafeSQL: table).date"
    if let from = query.from { require("\(query: date) >= \(from)") }
    if let to = query.to { require("\(query: date) < \(to)") }
    if let after = query.after { require("(\(query: date), \(unsafeSQL: id)) < (\(after.date), \(after.id))") }
    if let author = query.author { require("\(unsafeSQL: table).author = \(author)") }
    if let language = query.language?.lowercased() {
      let tag: PostgresQuery = "lower(\(unsafeSQL: table).language)"
      require("(\(query: tag) = \(language) OR starts_with(\(query: tag), \(language + "-")))")
    }
    return conditions
  }

  /// Reads one published item.
  ///
  /// - Throws: `StoreError.notFound` for an item that was never published, `retracted` for one that no longer is.
  public func item(_ id: UUID, includesHTML: Bool = false) async throws -> ItemAnswer {
    let query: PostgresQuery =
      """
      SELECT l.present IS TRUE AS present, coalesce(l.reason, g.reason) AS reason, l.version, l.updated,
        i.retraction_reason, clock_timestamp() AS now,
        (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) AS epoch,
        (SELECT s.version FROM scopes AS s WHERE s.scope = '') AS counter,
        \(query: NewsItem.columns(html: includesHTML))
      FROM items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
        LEFT JOIN gone_items AS g ON g.item = i.id
      WHERE i.id = \(id) AND (l.item IS NOT NULL OR g.item IS NOT NULL)
      """
    let found = await fromReplica([query]) { answers in
      let answer = try Self.itemAnswer(answers[0])
      return (answer, answer.feedVersion)
    }
    if let found { return found }
    return try Self.itemAnswer(try await database.query(query))
  }

  private static func itemAnswer(_ rows: PostgresRows) throws -> ItemAnswer {
    guard let row = rows.first else { throw StoreError.notFound }
    guard try row.decode("present") else {
      throw StoreError.retracted(
        reason: RemovalReason(rawValue: try row.decode("reason")), detail: try row.decode("retraction_reason"))
    }
    return ItemAnswer(
      item: try NewsItem(row: row), now: try row.decode("now"),
      feedVersion: FeedVersion(epoch: try row.decode("epoch"), version: try row.decode("counter")))
  }
}
