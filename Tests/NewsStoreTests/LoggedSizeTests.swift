import Foundation
import PostgresClient
import TestSupport
import Testing

/// The sizes of items in the log, by which pages are cut.
@Suite struct LoggedSizeTests {
  /// The log's rows of present items whose sizes are not those of their items.
  private static let wrongSizes: PostgresQuery = """
    SELECT count(*) FROM change_log AS l JOIN items AS i ON i.id = l.item
    WHERE l.present AND (l.size, l.html_size) IS DISTINCT FROM (i.size, json_size(i.html))
    """

  @Test("The sizes in the log follow the item, html included")
  func sizes() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.makeTopics("a")
      try await sql.publish([UUID(1), UUID(2)], topics: ["a"])
      for change: PostgresQuery in [
        "UPDATE items SET text = repeat('\"', 1000)", "UPDATE items SET html = '<p>ü</p>'",
        "UPDATE items SET html = NULL, topics = '{}'", "UPDATE items SET topics = '{a}'",
      ] {
        try await sql.publish([UUID(1), UUID(2)], after: change)
        #expect(try await sql.value(Self.wrongSizes) == 0)
      }
    }
  }
}
