import Foundation
import News
import PostgresClient

extension Topic {
  /// The columns and tables that `init(row:)` reads. A WHERE clause may follow.
  static let selection: PostgresQuery = """
    SELECT t.slug, t.titles, t.position, t.revision, s.items, greatest(s.changed_at, t.updated) AS changed
    FROM topics AS t JOIN scopes AS s ON s.scope = t.slug
    """

  init(row: PostgresRow) throws {
    self.init(
      slug: try row.decode("slug"),
      titles: try row.json("titles"),
      position: try row.decode("position"),
      items: try row.decode("items"),
      changed: try row.decode("changed"),
      revision: try row.decode("revision"))
  }
}
