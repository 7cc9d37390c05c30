import PostgresClient

/// The schema of a database as SQL with its comments, from the catalogues (PostgreSQL, chapter 53).
///
/// It has no object identifiers, owners or times, so that equal schemas have equal texts in all databases. The objects are
/// in the order of their creation, so that the text can be run.
enum SchemaText {
  /// Reads the tables, indexes, triggers, functions and other objects of the schema `public`.
  static func read(_ sql: PostgresPool) async throws -> String {
    var objects: [(number: Int64, text: String)] = []
    for query in [tables, indexes, triggers, functions, others] {
      objects += try await sql.query(query).map { (try $0.decode("number"), try $0.decode("text")) }
    }
    return objects.sorted { $0.number < $1.number }.map(\.text).joined(separator: "\n\n") + "\n"
  }

  /// An expression for a comment as lines before its object; empty without a comment.
  private static func lines(_ comment: PostgresQuery, indent: String = "") -> PostgresQuery {
    """
    coalesce(regexp_replace(regexp_replace(\(query: comment), '^', \(indent + "-- "), 'gn'), ' +$', '', 'gn') || E'\\n', '')
    """
  }

  /// An expression for a definition without the name of the schema.
  private static func unqualified(_ definition: PostgresQuery) -> PostgresQuery {
    "replace(\(query: definition), 'public.', '')"
  }

  /// NOT NULL belongs to the column; PostgreSQL 18 also lists it as a constraint.
  private static let tables: PostgresQuery = """
    WITH part (relation, position, name, text, more) AS (
      SELECT a.attrelid, a.attnum, '', \(query: lines("col_description(a.attrelid, a.attnum)", indent: "  "))
          || '  ' || concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
            CASE WHEN a.attcollation <> y.typcollation THEN 'COLLATE ' || a.attcollation::regcollation END,
            CASE WHEN a.attnotnull THEN 'NOT NULL' END,
            CASE WHEN a.attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY'
              WHEN a.attgenerated = 's' THEN 'GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
              ELSE 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END),
          concat(
            CASE WHEN a.attstorage <> y.typstorage THEN format(E'\\n-- storage of %s: %s', a.attname, a.attstorage) END,
            CASE WHEN coalesce(a.attstattarget, -1) <> -1
              THEN format(E'\\n-- statistics of %s: %s', a.attname, a.attstattarget) END,
            E'\\n-- rights to ' || a.attname || ': ' || a.attacl::text)
        FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid
          LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT c.conrelid, 32767, c.conname, \(query: lines("obj_description(c.oid, 'pg_constraint')", indent: "  "))
          || format('  CONSTRAINT %s %s', c.conname, pg_get_constraintdef(c.oid)), ''
        FROM pg_constraint AS c WHERE c.contype NOT IN ('n', 't')
    )
    SELECT t.oid::bigint AS number, \(query: lines("obj_description(t.oid, 'pg_class')"))
      || 'CREATE TABLE ' || t.relname || E' (\\n'
      || string_agg(p.text, E',\\n' ORDER BY p.position, p.name COLLATE "C")
      || E'\\n)' || coalesce(' WITH (' || array_to_string(t.reloptions, ', ') || ')', '') || ';'
      || string_agg(p.more, '' ORDER BY p.position, p.name COLLATE "C")
      || coalesce(E'\\n-- rights: ' || t.relacl::text, '') AS text
    FROM pg_class AS t JOIN part AS p ON p.relation = t.oid
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p')
    GROUP BY t.oid
    """

  /// The index of a constraint is part of the table.
  private static let indexes: PostgresQuery = """
    SELECT i.oid::bigint AS number, \(query: lines("obj_description(i.oid, 'pg_class')"))
      || \(query: unqualified("pg_get_indexdef(i.oid)")) || ';'
      || coalesce((
        SELECT string_agg(format(E'\\nALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s;', i.relname, a.attnum,
            a.attstattarget), '' ORDER BY a.attnum)
          FROM pg_attribute AS a WHERE a.attrelid = i.oid AND coalesce(a.attstattarget, -1) <> -1), '')
      || CASE WHEN x.indisvalid THEN '' ELSE E'\\n-- invalid' END AS text
    FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
    WHERE i.relnamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.oid AND c.conrelid = x.indrelid)
    """

  private static let triggers: PostgresQuery = """
    SELECT g.oid::bigint AS number, \(query: lines("obj_description(g.oid, 'pg_trigger')"))
      || \(query: unqualified("pg_get_triggerdef(g.oid)")) || ';'
      || CASE WHEN g.tgenabled = 'O' THEN '' ELSE E'\\n-- enabled: ' || g.tgenabled::text END AS text
    FROM pg_trigger AS g JOIN pg_class AS t ON t.oid = g.tgrelid
    WHERE t.relnamespace = 'public'::regnamespace AND NOT g.tgisinternal
    """

  private static let functions: PostgresQuery = """
    SELECT p.oid::bigint AS number, \(query: lines("obj_description(p.oid, 'pg_proc')"))
      || rtrim(replace(replace(\(query: unqualified("pg_get_functiondef(p.oid)")), '$function$', '$$'),
        'CREATE OR REPLACE', 'CREATE'), E'\\n')
      || ';' || coalesce(E'\\n-- rights: ' || p.proacl::text, '') AS text
    FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
    """

  /// The objects of kinds that the schema does not have yet.
  private static let others: PostgresQuery = """
    SELECT oid::bigint AS number, format('-- relation %s of kind %s', relname, relkind) AS text FROM pg_class AS c
      WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'p', 'i', 'I', 't')
        AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'i')
    UNION ALL
    SELECT oid::bigint, format('-- type %s of kind %s', typname, typtype) FROM pg_type
      WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
    UNION ALL
    SELECT oid::bigint, format('-- extension %s', extname) FROM pg_extension WHERE extname <> 'plpgsql'
    """
}
