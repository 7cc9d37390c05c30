import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The schema that the migrations make, compared with the listing in `schema.txt`.
@Suite struct SchemaTests {
  /// The lines in which the schema of a database differs from the snapshot, `-` for missing and `+` for additional ones.
  private static func differences(_ sql: PostgresPool) async throws -> [String] {
    let file = Project.root.appending(path: "Tests/NewsStoreTests/Schema/schema.txt")
    let expected = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
    return try await SchemaListing.read(sql).difference(from: expected.map(String.init)).map { change in
      switch change {
      case .remove(_, let line, _): "- \(line)"
      case .insert(_, let line, _): "+ \(line)"
      }
    }
  }

  private static func withMigratedDatabase(_ body: @Sendable (PostgresPool) async throws -> Void) async throws {
    try await withEmptyDatabase { url, sql in
      _ = try await Migrator(configuration: .forBusyMachine(url), logger: NewsDatabase.logger).migrate()
      try await body(sql)
    }
  }

  @Test("The migrations make exactly the schema of the snapshot")
  func snapshot() async throws {
    try await Self.withMigratedDatabase { sql in
      let differences = try await Self.differences(sql)
      #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }
  }

  @Test(
    "A change of the schema is a difference",
    arguments: [
      ("ALTER TABLE items ADD COLUMN extra integer", "+ column items.29 extra integer"),
      ("ALTER TABLE items ALTER COLUMN language SET NOT NULL", "+ column items.10 language text NOT NULL"),
      ("ALTER TABLE topics ALTER COLUMN position SET DEFAULT 1", "position integer NOT NULL DEFAULT 1"),
      ("ALTER TABLE items ALTER COLUMN text SET STORAGE EXTERNAL", "+ column items.7 text text NOT NULL STORAGE e"),
      ("ALTER TABLE items ALTER COLUMN url SET STATISTICS 0", "+ column items.11 url text STATISTICS 0"),
      ("ALTER TABLE scopes RESET (fillfactor)", "- table scopes WITH (fillfactor=50)"),
      (
        "ALTER TABLE scopes RENAME CONSTRAINT scopes_floor_reached TO renamed",
        "+ constraint scopes.renamed CHECK ((floor <= version))"
      ),
      ("DROP INDEX media_by_use", "- index CREATE INDEX media_by_use ON public.media USING btree (used_at)"),
      (
        "DROP TRIGGER topics_truncated ON topics",
        "- trigger CREATE TRIGGER topics_truncated AFTER TRUNCATE ON public.topics FOR EACH STATEMENT EXECUTE FUNCTION "
          + "move_topics_revision()"
      ),
      ("ALTER TABLE topics DISABLE TRIGGER topics_notify", "ENABLED D"),
      (
        "ALTER FUNCTION publish(uuid[]) RESET enable_seqscan",
        "SET plan_cache_mode=force_generic_plan, enable_hashjoin=off"
      ),
      ("ALTER FUNCTION item_search COST 1", "IMMUTABLE PARALLEL SAFE COST 1 BODY"),
      (
        "CREATE OR REPLACE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 1::bigint'",
        "+ function topics_revision() RETURNS bigint LANGUAGE sql STABLE COST 100 BODY"
      ),
      ("GRANT SELECT ON items TO PUBLIC", "+ table items ACL"),
      ("CREATE SEQUENCE numbers", "+ relation numbers of kind S"),
      ("UPDATE topics_state SET revision = 1", #"+ row topics_state {"is_only": true, "revision": 1}"#),
    ])
  func change(statement: String, line: String) async throws {
    try await Self.withMigratedDatabase { sql in
      _ = try await sql.query("\(unsafeSQL: statement)")
      let differences = try await Self.differences(sql)
      #expect(differences.contains { $0.contains(line) }, "\(differences.joined(separator: "\n"))")
      #expect(differences.count <= 2)
    }
  }

  @Test("Comments and white space in a function do not count as a difference")
  func comment() async throws {
    try await Self.withMigratedDatabase { sql in
      _ = try await sql.query(
        """
        CREATE OR REPLACE FUNCTION topics_revision() RETURNS bigint LANGUAGE sql STABLE AS $$
          -- The only row.
          SELECT revision
            FROM topics_state
        $$
        """)
      #expect(try await Self.differences(sql) == [])
    }
  }
}
