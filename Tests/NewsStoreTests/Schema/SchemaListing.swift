import PostgresClient

/// A listing of the objects in a schema, one line each, from the catalogues (PostgreSQL, chapter 53).
///
/// It has no object identifiers, owners or times, so that equal schemas have equal listings in all databases.
enum SchemaListing {
  /// Reads the listing of the schema `public`: its tables, functions, other objects and initial rows.
  static func read(_ sql: PostgresPool) async throws -> [String] {
    var lines: [String] = []
    for query in [tables, functions, others, rows] {
      lines += try await sql.query(query).map { try $0.decode(0) }
    }
    return lines
  }

  /// The tables, each with its columns by position, constraints, indexes and triggers by name.
  ///
  /// NOT NULL belongs to the column; PostgreSQL 18 also lists it as a constraint. A trigger constraint is listed as a
  /// trigger, and the index of a constraint as the constraint.
  private static let tables: PostgresQuery = #"""
    WITH t AS (
      SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    ), line (relation, kind, name, text) AS (
      SELECT relname, 1, '', 'table ' || relname || coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '')
          || coalesce(' ACL ' || relacl::text, '')
        FROM t
      UNION ALL
      SELECT t.relname, 2, lpad(a.attnum::text, 5), format('column %s.%s %s %s', t.relname, a.attnum, a.attname,
            format_type(a.atttypid, a.atttypmod))
          || CASE WHEN a.attcollation <> y.typcollation THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END
          || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
          || CASE WHEN d.adbin IS NULL THEN ''
            WHEN a.attgenerated = 's' THEN ' GENERATED (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
            ELSE ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END
          || CASE WHEN a.attstorage <> y.typstorage THEN ' STORAGE ' || a.attstorage::text ELSE '' END
          || CASE WHEN coalesce(a.attstattarget, -1) <> -1 THEN ' STATISTICS ' || a.attstattarget ELSE '' END
          || coalesce(' ACL ' || a.attacl::text, '')
        FROM t JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
          JOIN pg_type AS y ON y.oid = a.atttypid
          LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      UNION ALL
      SELECT t.relname, 3, c.conname, format('constraint %s.%s %s', t.relname, c.conname, pg_get_constraintdef(c.oid))
        FROM t JOIN pg_constraint AS c ON c.conrelid = t.oid AND c.contype NOT IN ('n', 't')
      UNION ALL
      SELECT t.relname, 4, i.relname, 'index ' || pg_get_indexdef(i.oid)
          || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END
        FROM t JOIN pg_index AS x ON x.indrelid = t.oid JOIN pg_class AS i ON i.oid = x.indexrelid
        WHERE NOT EXISTS (SELECT 1 FROM pg_constraint AS c WHERE c.conindid = i.oid AND c.conrelid = t.oid)
      UNION ALL
      SELECT t.relname, 5, g.tgname, 'trigger ' || pg_get_triggerdef(g.oid)
          || CASE WHEN g.tgenabled = 'O' THEN '' ELSE ' ENABLED ' || g.tgenabled::text END
        FROM t JOIN pg_trigger AS g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    )
    SELECT text FROM line ORDER BY relation COLLATE "C", kind, name COLLATE "C"
    """#

  /// The functions, each with a digest of its body. Comments and white space do not count, so that a comment can be
  /// improved without a change of the snapshot.
  private static let functions: PostgresQuery = #"""
    WITH f AS (
      SELECT p.*, format('%s(%s)', p.proname, pg_get_function_arguments(p.oid)) AS signature,
        coalesce(pg_get_function_sqlbody(p.oid), regexp_replace(p.prosrc, '--[^\n]*', '', 'g')) AS body
      FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
    )
    SELECT format('function %s RETURNS %s LANGUAGE %s', signature, pg_get_function_result(f.oid), l.lanname)
      || CASE provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE ' VOLATILE' END
      || CASE proparallel WHEN 's' THEN ' PARALLEL SAFE' WHEN 'r' THEN ' PARALLEL RESTRICTED' ELSE '' END
      || CASE WHEN proisstrict THEN ' STRICT' ELSE '' END
      || CASE WHEN prosecdef THEN ' SECURITY DEFINER' ELSE '' END
      || CASE WHEN proleakproof THEN ' LEAKPROOF' ELSE '' END
      || ' COST ' || procost || CASE WHEN proretset THEN ' ROWS ' || prorows ELSE '' END
      || coalesce(' SET ' || array_to_string(proconfig, ', '), '')
      || coalesce(' ACL ' || proacl::text, '')
      || ' BODY ' || md5(btrim(regexp_replace(body, '\s+', ' ', 'g')))
    FROM f JOIN pg_language AS l ON l.oid = f.prolang
    ORDER BY signature COLLATE "C"
    """#

  /// The objects of other kinds: sequences, and views, types and extensions, which the schema does not have yet.
  private static let others: PostgresQuery = """
    SELECT text FROM (
      SELECT format('relation %s of kind %s', relname, relkind) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'p', 'i', 'I', 't')
      UNION ALL
      SELECT format('type %s of kind %s', typname, typtype) FROM pg_type
        WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
      UNION ALL
      SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
    ) AS line (text)
    ORDER BY text COLLATE "C"
    """

  /// The initial rows, without the values that differ between databases.
  private static let rows: PostgresQuery = """
    SELECT text FROM (
      SELECT 'row epochs ' || (to_jsonb(e) - ARRAY[
          'id', 'system_identifier', 'timeline', 'database_oid', 'counter_oid', 'created_at'])::text FROM epochs AS e
      UNION ALL
      SELECT 'row scopes ' || (to_jsonb(s) - ARRAY['changed_at', 'shifted_at'])::text FROM scopes AS s
      UNION ALL
      SELECT 'row topics_state ' || to_jsonb(t)::text FROM topics_state AS t
    ) AS line (text)
    ORDER BY text COLLATE "C"
    """
}
