import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The migrations on a database that is in use.
@Suite struct FullMigrationTests {
  /// The log's rows of present items whose sizes are not those of their items.
  private static let wrongSizes: PostgresQuery = """
    SELECT count(*) FROM change_log AS l JOIN items AS i ON i.id = l.item
    WHERE l.present AND (l.size, l.html_size) IS DISTINCT FROM (i.size, json_size(i.html))
    """

  @Test("The log gets its sizes and indexes while others publish and hold rows of it")
  func sizes() async throws {
    try await withEmptyDatabase { url, sql in
      let configuration = PostgresConfiguration.forBusyMachine(url)
      let earlier = Array(Migration.required.prefix(3))
      _ = try await Migrator(earlier, configuration: configuration, logger: NewsDatabase.logger).migrate()
      try await sql.makeTopics("a", "b")
      for chunk in 0..<3 {
        try await sql.publish(
          (0..<1000).map { UUID(chunk * 1000 + $0) }, text: "\"words\"\n", topics: ["a", "b"], date: .newYear)
      }
      try await sql.publish([UUID(0)], after: "UPDATE items SET html = '<p>\"</p>' WHERE id = \(UUID(0))")
      try await sql.publish([UUID(1)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(1))")

      let isOver = Flag()
      let publishing = Task {
        var count = 0
        while !isOver.isSet {
          let id = UUID(count % 3000 + 2)
          let text = String(repeating: "longer ", count: count % 7 + 1)
          try await sql.publish([id], after: "UPDATE items SET text = \(text + "\(count)") WHERE id = \(id)")
          try await sql.publish([UUID(10_000 + count)], topics: ["a"])
          count += 1
        }
        return count
      }
      let columns = Array(Migration.required.prefix(4))
      _ = try await Migrator(columns, configuration: configuration, logger: NewsDatabase.logger).migrate()
      // The rows of one item cannot be filled until their holder ends.
      let migrator = Migrator(configuration: configuration, logger: NewsDatabase.logger)
      let migrating = try await PostgresConnection.with(configuration: configuration, logger: NewsDatabase.logger) {
        holder in
        try await holder.execute(script: "BEGIN")
        _ = try await holder.query("SELECT 1 FROM change_log WHERE item = \(UUID(2999)) FOR UPDATE")
        let migrating = Task { try await migrator.migrate() }
        try await eventually("only the held rows are left") {
          try await sql.value("SELECT count(*) FROM change_log WHERE present AND size IS NULL") == 3
        }
        try await holder.execute(script: "COMMIT")
        return migrating
      }
      let applied = try await migrating.value
      isOver.set()
      #expect(applied == Migration.required.dropFirst(4).map(\.name))
      #expect(try await publishing.value > 0)
      #expect(try await sql.value(Self.wrongSizes) == 0)
      #expect(try await sql.value("SELECT count(*) FROM change_log WHERE present AND scope = ''") > 2999)
      #expect(try await sql.value("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0)
    }
  }

  @Test("The sizes in the log follow the item, html included")
  func laterSizes() async throws {
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
