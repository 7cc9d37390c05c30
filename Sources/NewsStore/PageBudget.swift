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

  /// Decodes the rows that fit, up to a limit; `isCut` tells whether the query had more to give.
  static func cut<Element>(
    _ rows: PostgresRows, limit: Int, _ decode: (PostgresRow) throws -> Element
  ) throws -> (elements: [Element], isCut: Bool) {
    let kept = try rows.prefix(limit).prefix { try $0.decode("fits") }
    return (try kept.map(decode), kept.count < rows.count)
  }
}
