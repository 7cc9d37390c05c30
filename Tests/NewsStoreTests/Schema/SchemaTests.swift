import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The schema that the migrations make, and `docs/schema.sql`, which shows it.
@Suite struct SchemaTests {
  private static let file = Project.root.appending(path: "docs/schema.sql")
  private static let head = """
    -- The schema of the database after all migrations. `make schema` writes this file from a migrated database.


    """

  /// The lines in which two texts differ, `-` for missing and `+` for additional ones.
  private static func differences(_ text: String, from expected: String) -> [String] {
    text.split(separator: "\n").difference(from: expected.split(separator: "\n")).map { change in
      switch change {
      case .remove(_, let line, _): "- \(line)"
      case .insert(_, let line, _): "+ \(line)"
      }
    }
  }

  /// The lines of a text that are no comments, without parentheses: PostgreSQL writes those of a long condition in two ways.
  private static func statements(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("--") }.joined(separator: "\n")
      .filter { !"()".contains($0) }
  }

  @Test("docs/schema.sql is the schema that the migrations make; TIDINGS_WRITE_SCHEMA writes it")
  func migratedSchema() async throws {
    try await NewsDatabase.withStore { _, sql in
      let text = Self.head + (try await SchemaText.read(sql))
      if ProcessInfo.processInfo.environment["TIDINGS_WRITE_SCHEMA"] != nil {
        try Data(text.utf8).write(to: Self.file)
      }
      let differences = Self.differences(text, from: try String(contentsOf: Self.file, encoding: .utf8))
      #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }
  }

  @Test("docs/schema.sql makes the same schema, so that it leaves nothing out but comments")
  func schemaFromText() async throws {
    let written = try String(contentsOf: Self.file, encoding: .utf8)
    try await withEmptyDatabase { url, sql in
      try await PostgresConnection.with(configuration: .forBusyMachine(url), logger: NewsDatabase.logger) {
        try await $0.execute(script: written)
      }
      let made = Self.statements(try await SchemaText.read(sql))
      let differences = Self.differences(made, from: Self.statements(written))
      #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }
  }

  @Test("Each table and each function has a comment")
  func comments() async throws {
    try await NewsDatabase.withStore { _, sql in
      let names: [String] = try await sql.query(
        """
        SELECT relname FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND obj_description(oid, 'pg_class') IS NULL
        UNION ALL
        SELECT proname FROM pg_proc
          WHERE pronamespace = 'public'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
        """
      ).map { try $0.decode(0) }
      #expect(names == [])
    }
  }

  @Test(
    "A change of the schema is a difference",
    arguments: [
      ("ALTER TABLE items ADD COLUMN extra integer", "+   extra integer,"),
      ("ALTER TABLE items ALTER COLUMN language SET NOT NULL", "+   language text NOT NULL,"),
      ("ALTER TABLE topics ALTER COLUMN position SET DEFAULT 1", "+   position integer NOT NULL DEFAULT 1,"),
      ("ALTER TABLE items ALTER COLUMN text SET STORAGE EXTERNAL", "+ -- storage of text: e"),
      ("ALTER TABLE items ALTER COLUMN url SET STATISTICS 0", "+ -- statistics of url: 0"),
      ("ALTER TABLE scopes RESET (fillfactor)", "- ) WITH (fillfactor=50);"),
      (
        "ALTER TABLE scopes RENAME CONSTRAINT scopes_floor_reached TO renamed",
        "+   CONSTRAINT renamed CHECK ((floor <= version)),"
      ),
      ("DROP INDEX media_by_use", "- CREATE INDEX media_by_use ON media USING btree (used_at);"),
      ("ALTER INDEX items_by_search_and_day ALTER COLUMN 1 SET STATISTICS -1", "- ALTER INDEX items_by_search_and_day"),
      (
        "DROP TRIGGER topics_truncated ON topics",
        "- CREATE TRIGGER topics_truncated AFTER TRUNCATE ON topics FOR EACH STATEMENT EXECUTE FUNCTION "
          + "move_topics_revision();"
      ),
      ("ALTER TABLE topics DISABLE TRIGGER topics_notify", "+ -- enabled: D"),
      ("ALTER FUNCTION publish(uuid[]) RESET enable_seqscan", "-  SET enable_seqscan TO 'off'"),
      ("ALTER FUNCTION search_document COST 1", "+  IMMUTABLE PARALLEL SAFE COST 1"),
      (
        "CREATE OR REPLACE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 1::bigint'",
        "+ AS $$SELECT 1::bigint$$;"
      ),
      ("GRANT SELECT ON items TO PUBLIC", "+ -- rights: "),
      ("CREATE SEQUENCE numbers", "+ -- relation numbers of kind S"),
      ("COMMENT ON COLUMN scopes.items IS NULL", "-   -- The number of present items."),
    ])
  func change(statement: String, line: String) async throws {
    try await NewsDatabase.withStore { _, sql in
      let before = try await SchemaText.read(sql)
      _ = try await sql.query("\(unsafeSQL: statement)")
      let differences = Self.differences(try await SchemaText.read(sql), from: before)
      #expect(differences.contains { $0.contains(line) }, "\(differences.joined(separator: "\n"))")
      #expect(differences.count <= 4)
    }
  }

  @Test("A new database has the feed without changes, the first epoch, and no topic")
  func initialRows() async throws {
    try await NewsDatabase.withStore { _, sql in
      let rows: [String] = try await sql.query(
        """
        SELECT concat_ws(' ', 'scope', scope, version, floor, items, published) FROM scopes
        UNION ALL SELECT concat_ws(' ', 'epoch', number, parent, starts_after) FROM epochs
        UNION ALL SELECT concat_ws(' ', 'topics', revision) FROM topics_state
        """
      ).map { try $0.decode(0) }
      #expect(rows.sorted() == ["epoch 1 0", "scope  0 0 0 0", "topics 0"])
    }
  }
}
