import Foundation
import GRDB
import HTTPTransfer
import News

extension ItemTable {
  /// Returns the items that a query selects, newest first.
  ///
  /// - Throws: `FetchError` with `storage` for a search in an older store that cannot be written.
  func items(_ query: ItemQuery) throws -> [StoredItem] {
    guard let (condition, arguments) = try condition(query) else { return [] }
    let isRead = try ReadMarks(db).isAvailable ? "EXISTS (SELECT 1 FROM read_items WHERE id = items.id)" : "0"
    return try Row.fetchAll(
      db, sql: "SELECT json, \(isRead) FROM items WHERE \(condition) ORDER BY date DESC, id DESC LIMIT ?",
      arguments: arguments + [query.limit.map { max(0, $0) } ?? -1]
    ).map { StoredItem(item: try NewsJSON.decode(NewsItem.self, from: $0[0]), isRead: $0[1]) }
  }

  /// Returns the number of items that a query selects, without its limit.
  ///
  /// - Throws: `FetchError` with `storage` for a search in an older store that cannot be written.
  func count(_ query: ItemQuery) throws -> Int {
    guard let (condition, arguments) = try condition(query) else { return 0 }
    return try Int.fetchOne(db, sql: "SELECT count(*) FROM items WHERE \(condition)", arguments: arguments) ?? 0
  }

  /// Returns the ids that begin or end with the given hexadecimal digits.
  func ids(abbreviation digits: String) throws -> [UUID] {
    let sql = """
      SELECT id FROM items WHERE replace(id, '-', '') LIKE ? || '%' OR replace(id, '-', '') LIKE '%' || ?
      ORDER BY date DESC, id DESC
      """
    return try String.fetchAll(db, sql: sql, arguments: [digits, digits]).compactMap { UUID(uuidString: $0) }
  }

  /// Returns the condition of a query; nil if no item can match.
  private func condition(_ query: ItemQuery) throws -> (String, StatementArguments)? {
    var conditions = ["1"]
    var arguments = StatementArguments()
    if !query.topics.isEmpty {
      let list = query.topics.map { _ in "?" }.joined(separator: ", ")
      conditions.append(
        "EXISTS (SELECT 1 FROM json_each(CAST(items.json AS TEXT), '$.topics') AS topic WHERE topic.value IN (\(list)))"
      )
      arguments += StatementArguments(query.topics)
    }
    if query.onlyBreaking { conditions.append("json_extract(CAST(json AS TEXT), '$.breaking')") }
    if let since = query.since {
      conditions.append("date >= ?")
      arguments += [Int((since.timeIntervalSince1970 * 1000).rounded())]
    }
    if query.onlyUnread, try ReadMarks(db).isAvailable {
      conditions.append("id NOT IN (SELECT id FROM read_items)")
    }
    if let words = query.words {
      guard try db.tableExists(name.searchIndex) else {
        throw FetchError(.storage, "the store has no search index yet, and cannot be written")
      }
      guard let pattern = FTS5Pattern(matchingAllPrefixesIn: words) else { return nil }
      conditions.append("rowid IN (SELECT rowid FROM \(name.searchIndex) WHERE \(name.searchIndex) MATCH ?)")
      arguments += [pattern]
    }
    return (conditions.joined(separator: " AND "), arguments)
  }
}
