import PostgresClient

/// The size limit of a JSON page, 1 MiB. The database computes the sizes and sends only the items that fit, so that no
/// oversized page is ever in memory.
enum PageBudget {
  /// The limit in bytes: 1 MiB less the JSON around the items.
  static let bytes = 1_048_576 - 1024

  /// The condition that a row of `items` as `w` fits, given those before it in `order`. Sizes are upper bounds, see
  /// `item_size()` in the schema. The first row always fits, because writes limit the size of a single item.
  static func fits(html: Bool, order: String) -> PostgresQuery {
    let size = html ? "w.size + json_size(w.html)" : "w.size"
    return """
      sum(coalesce(\(unsafeSQL: size), 200)) OVER (ORDER BY \(unsafeSQL: order) ROWS UNBOUNDED PRECEDING) <= \(bytes) \
      OR row_number() OVER (ORDER BY \(unsafeSQL: order)) = 1
      """
  }

  /// Selects the rows of a page of the log, with the items of the rows that fit. The size is read first, and the item
  /// is then found by its `ctid`. That is cheaper than by id, and refers to the same row within one statement.
  ///
  /// - Parameters:
  ///   - page: A query for `date`, `item`, `version` and `updated` of the log.
  ///   - direction: The sort direction by date and id, `ASC` or `DESC`.
  ///   - columns: The columns of `items` as `i` to select besides `fits`, `version` and `updated`.
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
  /// - Returns: The elements, whether there are more rows, and the first of those rows.
  static func cut<Element>(
    _ rows: PostgresRows, limit: Int, _ decode: (PostgresRow) throws -> Element
  ) throws -> (elements: [Element], isCut: Bool, firstBeyond: PostgresRow?) {
    let kept = try rows.prefix(limit).prefix { try $0.decode("fits") }
    return (try kept.map(decode), kept.count < rows.count, rows.dropFirst(kept.count).first)
  }
}
