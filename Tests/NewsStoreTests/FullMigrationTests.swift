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

  @Test("Rewritten functions return the values that the tables and indexes have stored")
  func functions() async throws {
    try await withEmptyDatabase { url, sql in
      let configuration = PostgresConfiguration.forBusyMachine(url)
      let earlier = Array(Migration.required.prefix(7))
      _ = try await Migrator(earlier, configuration: configuration, logger: NewsDatabase.logger).migrate()
      try await sql.makeTopics("a", "b")
      // All combinations of these values.
      _ = try await sql.query(
        #"""
        INSERT INTO items (id, state, date, title, summary, text, html, topics, language, url, author, breaking, attachments)
        SELECT gen_random_uuid(), 'draft', t.date, o.value, o.value, t.text, o.value, t.topics, l.language,
          'https://example.com/' || o.value, o.value, t.text = 'x', t.attachments::jsonb
        FROM (VALUES
            (timestamptz '1970-01-01 00:00Z', 'x', '{}'::text[], '[]'),
            ('1969-12-31 23:59:59.999Z', E'Die "Häfen" \\ und\nder\u0001 Fluß', '{a}', '[{"url": "https://example.com/ü"}]'),
            ('2026-10-25 00:30:00.123Z', repeat('running harbours ', 8000), '{a,b}', '[]')
          ) AS t (date, text, topics, attachments),
          (VALUES (NULL), ('plain words'), (E'a "quoted"\tword')) AS o (value),
          unnest(ARRAY[NULL, 'en', 'EN-gb', 'de-AT', 'no', 'xx', 'zh-Hans']) AS l (language)
        """#)
      let values: PostgresQuery = """
        SELECT coalesce(string_agg(v.line, E'\\n' ORDER BY v.line), '') FROM (
          SELECT concat_ws(' ', i.id, md5(item_search(i.language, i.title, i.summary, i.text, i.date)::text),
            search_configuration(i.language), milliseconds(i.date), item_size(
              i.title, i.summary, i.text, i.topics, i.url, i.author, i.attachments), json_size(i.html),
            encode(item_digest(milliseconds(i.date), i.title, i.summary, i.text, i.html, i.topics, i.language, i.url,
              i.author, i.breaking, i.attachments), 'hex'), i.size, encode(i.digest, 'hex'))
          FROM items AS i
          UNION ALL SELECT concat_ws(' ', d.system_identifier, d.timeline, d.database_oid, d.counter_oid, epoch_fits())
          FROM database_identity() AS d
        ) AS v (line)
        """
      let before: String = try await sql.value(values)
      _ = try await Migrator(configuration: configuration, logger: NewsDatabase.logger).migrate()
      #expect(before.split(separator: "\n").count == 64)
      #expect(try await sql.value(values) == before)
    }
  }
}
