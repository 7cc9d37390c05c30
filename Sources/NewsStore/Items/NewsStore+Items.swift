public import Foundation
public import News
import PostgresClient

/// Which page of published items is wanted.
public struct ItemQuery: Sendable, Hashable {
  /// Items of the feed, or of any of some topics.
  public var scope: Scope
  /// 1 or more.
  public var limit: Int
  /// The last item of the page before; nil for the first page.
  public var after: Keyset?
  /// A language range, which stands for all tags that begin with it (RFC 4647 section 3.3.1): `en` finds `en-GB`.
  public var language: String?
  /// An author, spelled exactly.
  public var author: String?
  /// Inclusive.
  public var from: Date?
  /// Exclusive.
  public var to: Date?
  /// Words to look for; those of `language` are found in their other forms too.
  public var search: SearchQuery?
  /// Whether `html` is read.
  public var includesHTML: Bool

  /// A query; without arguments the first page of the feed.
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

/// The place of an item in the order of lists, newest first.
public struct Keyset: Sendable, Hashable {
  /// In whole milliseconds.
  public var date: Date
  /// Decides between items of the same date.
  public var id: UUID

  /// The place of an item with this date and id.
  public init(date: Date, id: UUID) {
    self.date = date
    self.id = id
  }
}

/// A page of items and what its validators are made of.
public struct ItemPage: Sendable, Equatable {
  /// Newest first.
  public var items: [NewsItem]
  /// Where the next page begins; nil on the last one.
  public var next: Keyset?
  /// The current token of the scope, from the same snapshot as the items.
  public var token: SyncToken
  /// When the page, or whether there is another one after it, last changed; nil for searches, where an item that is no
  /// longer found leaves no trace.
  public var modified: Date?
  /// The database's clock when the page was read.
  public var now: Date
  /// Of the snapshot it was read in.
  public var moment: Moment
}

/// An item and when it was read.
public struct ItemAnswer: Sendable, Equatable {
  /// The item as it is now.
  public var item: NewsItem
  /// The database's clock at the time.
  public var now: Date
  /// Of the snapshot it was read in.
  public var moment: Moment
}

extension NewsStore {
  /// Reads a page of published items, newest first. A page ends early before it would pass
  /// `PageBudget.bytes`, but never without an item if there is one.
  ///
  /// - Throws: `StoreError.unknownTopics`; for `search` also `searchTooBroad`.
  public func items(_ query: ItemQuery) async throws -> ItemPage {
    let (head, rows) = try await rows(of: query)
    let page = try PageBudget.cut(rows, limit: query.limit, NewsItem.init(row:))
    // The first item beyond the page decides whether there is a next one.
    let beyond: Date? = try page.firstBeyond?.decode("updated")
    return ItemPage(
      items: page.elements,
      next: page.isCut ? page.elements.last.map { Keyset(date: $0.date, id: $0.id) } : nil,
      token: head.token,
      modified: query.search == nil
        ? head.modified(of: page.elements.map(\.updated) + [beyond].compactMap(\.self)) : nil,
      now: head.now ?? .distantPast, moment: head.moment)
  }

  private func rows(of query: ItemQuery) async throws -> (head: ScopeHead, rows: PostgresRows) {
    guard let search = query.search else { return try await read(query.scope, Self.pageQuery(query)) }
    do {
      return try await rows(of: query, finding: search)
    } catch StoreError.statementCancelled {
      throw StoreError.searchTooBroad
    }
  }

  /// Walks the log's index by date, once for each topic, and touches no more items than the page has.
  ///
  /// - Parameter source: Where the rows `c` of the log come from.
  static func pageQuery(_ query: ItemQuery, from source: PostgresQuery = "change_log AS c") -> PostgresQuery {
    let names = query.scope.names
    // For a single scope the planner is told which.
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

  /// What the filters say of the log, or of the table of items.
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
  /// - Throws: `StoreError.notFound` for one that was never published, `retracted` for one that no longer is.
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
    let found = await fromStandby([query]) { answers in
      let answer = try Self.itemAnswer(answers[0])
      return (answer, answer.moment)
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
      moment: Moment(epoch: try row.decode("epoch"), version: try row.decode("counter")))
  }
}
