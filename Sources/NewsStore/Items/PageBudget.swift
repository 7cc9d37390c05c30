import PostgresClient

/// What keeps a page of JSON within 1 MiB: the database weighs the items and sends only those that fit, so that no
/// page of large items is ever in memory.
enum PageBudget {
  /// 1 MiB, less the frame around the items.
  static let bytes = 1_048_576 - 1024

  /// Whether a row of `items` as `w` fits in, given those before it in `order`. Sizes are upper bounds, see
  /// `item_size()` in the schema. The first one always fits: the limits of a single item are the writer's.
  static func fits(html: Bool, order: String) -> PostgresQuery {
    let size = html ? "w.size + json_size(w.html)" : "w.size"
    return """
      sum(coalesce(\(unsafeSQL: size), 200)) OVER (ORDER BY \(unsafeSQL: order) ROWS UNBOUNDED PRECEDING) <= \(bytes) \
      OR row_number() OVER (ORDER BY \(unsafeSQL: order)) = 1
      """
  }

  /// The rows of a page of the log, those that fit with their items. Having weighed an item, it is found again by its
  /// place in the table, which is cheaper than by its id, and the same within one statement.
  ///
  /// - Parameters:
  ///   - page: Selects `date`, `item`, `version` and `updated` of the log.
  ///   - direction: `ASC` or `DESC`, by date and then id.
  ///   - columns: What is selected besides `fits`, `version` and `updated`, of `items` as `i`.
  static func items(
    of page: PostgresQuery, html: Bool, direction: String, columns: PostgresQuery
  ) -> PostgresQuery {
    """
    WITH page AS (
    \(query: page)
    ), weighed AS (
      SELECT page.*, w.ctid AS place, \(query: fits(html: html, order: "page.date \(direction), page.item \(direction)")) AS fits
      FROM page JOIN items AS w ON w.id = page.item
    )
    SELECT l.fits, l.version, l.updated, \(query: columns)
    FROM weighed AS l LEFT JOIN items AS i ON l.fits AND i.ctid = l.place
    ORDER BY l.date \(unsafeSQL: direction), l.item \(unsafeSQL: direction)
    """
  }

  /// Decodes the rows that fit, up to a limit.
  ///
  /// - Returns: The elements, whether there are more rows, and the first of those.
  static func cut<Element>(
    _ rows: PostgresRows, limit: Int, _ decode: (PostgresRow) throws -> Element
  ) throws -> (elements: [Element], isCut: Bool, firstBeyond: PostgresRow?) {
    let kept = try rows.prefix(limit).prefix { try $0.decode("fits") }
    return (try kept.map(decode), kept.count < rows.count, rows.dropFirst(kept.count).first)
  }
}
