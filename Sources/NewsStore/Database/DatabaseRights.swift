import PostgresClient

/// The rights of a role on the tables and functions of Tidings (PostgreSQL, chapter 5.7).
///
///     let rights = try await DatabaseFacts.setUp(configuration, logger: logger).rights
///     if let problem = rights.problem { print(problem) }
public struct DatabaseRights: Sendable, Equatable {
  /// The name of the database, quoted for SQL if necessary.
  public var database: String
  /// The role of the session, quoted for SQL if necessary.
  public var role: String
  /// The schema of the tables, or the one in which they would be created, quoted for SQL if necessary; nil if the role
  /// may use none.
  public var schema: String?
  /// Whether the role may use the schema.
  public var mayUseSchema: Bool
  /// Whether the role may create tables in the schema.
  public var mayCreate: Bool
  /// The missing rights on tables, such as `INSERT`, with the names of the tables.
  public var missing: [String: [String]]
  /// The functions that the role may not execute.
  public var forbiddenFunctions: [String]
  /// The owners of tables whose rights the role does not have, so that it cannot change the tables.
  public var foreignOwners: [String]
  /// The origin of the setting `default_transaction_read_only`, such as `user` (PostgreSQL, chapter 54.24), if it is on
  /// and the server is no standby; nil otherwise.
  public var readOnlySource: String?

  /// The rights that the server uses. Identity columns need none on their sequences.
  private static let tableRights = ["SELECT", "INSERT", "UPDATE", "DELETE"]

  /// The reason for which the role cannot read or write, with the statement that corrects it; nil if it can.
  public var problem: String? {
    if let readOnlySource {
      return "sessions of the role \(role) are read-only (default_transaction_read_only = on): "
        + writingRemedy(readOnlySource)
    }
    guard let schema, mayUseSchema else {
      let name = schema ?? "public"
      return "the role \(role) may not use the schema \(name). As its owner, run: "
        + "GRANT USAGE ON SCHEMA \(name) TO \(role)"
    }
    let rights = Self.tableRights.filter { missing[$0] != nil }
    if !rights.isEmpty {
      let tables = Set(rights.flatMap { missing[$0] ?? [] }).sorted()
      return "the role \(role) lacks \(rights.joined(separator: ", ")) on \(Self.list(tables)). As the owner of the "
        + "tables, run: GRANT \(Self.tableRights.joined(separator: ", ")) ON ALL TABLES IN SCHEMA \(schema) TO \(role)"
    }
    if !forbiddenFunctions.isEmpty {
      return "the role \(role) lacks EXECUTE on \(Self.list(forbiddenFunctions)). As the owner of the functions, run: "
        + "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA \(schema) TO \(role)"
    }
    return nil
  }

  /// The reason for which the role cannot migrate the database, with the statement that corrects it; nil if it can.
  public var migrationProblem: String? {
    // Without tables there are no rights on them to lack.
    if let problem { return problem }
    if !mayCreate {
      return "the role \(role) may not create tables in the schema \(schema ?? "public"). As the owner of the "
        + "database, run: GRANT CREATE ON SCHEMA \(schema ?? "public") TO \(role)"
    }
    if !foreignOwners.isEmpty {
      return "the role \(role) cannot change the tables of \(foreignOwners.joined(separator: ", ")): migrate as that "
        + "role, or give it the tables: REASSIGN OWNED BY \(foreignOwners[0]) TO \(role)"
    }
    return nil
  }

  private func writingRemedy(_ source: String) -> String {
    switch source {
    case "user": "ALTER ROLE \(role) RESET default_transaction_read_only"
    case "database": "ALTER DATABASE \(database) RESET default_transaction_read_only"
    case "database user": "ALTER ROLE \(role) IN DATABASE \(database) RESET default_transaction_read_only"
    case "client": "remove default_transaction_read_only from the connection string"
    default: "set it to off in postgresql.conf or with ALTER SYSTEM, and reload the configuration"
    }
  }

  /// The first names of a list, and the number of the others.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    return names.count > 3 ? "\(shown) and \(names.count - 3) more" : shown
  }
}

extension DatabaseRights {
  private static let tables = names(after: ["CREATE TABLE "])
  private static let functions = names(
    after: ["FUNCTION", "PROCEDURE"].flatMap { ["CREATE \($0) ", "CREATE OR REPLACE \($0) "] })

  /// The names behind the beginnings of lines of the migrations.
  private static func names(after beginnings: [String]) -> [String] {
    let names = Migration.required.flatMap { $0.sql.split(separator: "\n") }.compactMap { line in
      beginnings.first(where: line.hasPrefix).map { beginning in
        String(line.dropFirst(beginning.count).prefix { $0 == "_" || "a"..."z" ~= $0 })
      }
    }
    return Set(names).subtracting([""]).sorted()
  }

  /// Reads the rights of the role of a session.
  ///
  /// The names of the tables and functions come from the migrations, because a schema may also contain those of others.
  ///
  /// - Throws: `PostgresError`.
  static func read(_ connection: PostgresConnection) async throws -> DatabaseRights {
    let rows = try await connection.query(
      """
      WITH place AS (
        -- The schema is visible only to roles that may use it.
        SELECT coalesce(
          (SELECT c.relnamespace FROM pg_class AS c
            WHERE c.relname = 'schema_migrations' AND c.relkind = 'r' AND EXISTS (
              SELECT FROM pg_class AS l WHERE l.relnamespace = c.relnamespace AND l.relname = 'change_log')
            ORDER BY pg_table_is_visible(c.oid) DESC LIMIT 1),
          quote_ident(current_schema())::regnamespace) AS oid
      ), tables AS (
        SELECT c.oid, c.relname AS name, c.relowner AS owner FROM pg_class AS c, place
        WHERE c.relnamespace = place.oid AND c.relkind IN ('r', 'p')
          AND (c.relname = ANY (\(tables)) OR c.relname = 'schema_migrations')
      ), missing AS (
        SELECT t.name, r.word FROM tables AS t, unnest(\(tableRights)) AS r (word)
        WHERE NOT has_table_privilege(t.oid, r.word) AND (t.name <> 'schema_migrations' OR r.word = 'SELECT')
      )
      SELECT quote_ident(current_database()) AS database, quote_ident(current_user) AS role,
        place.oid::regnamespace::text AS schema,
        coalesce(has_schema_privilege(place.oid, 'USAGE'), false) AS usable,
        coalesce(has_schema_privilege(place.oid, 'CREATE'), false) AS creatable,
        ARRAY(SELECT m.word FROM missing AS m ORDER BY m.word, m.name) AS words,
        ARRAY(SELECT m.name::text FROM missing AS m ORDER BY m.word, m.name) AS names,
        -- PostgreSQL calls the functions of triggers itself.
        ARRAY(SELECT DISTINCT p.proname::text FROM pg_proc AS p
          WHERE p.pronamespace = place.oid AND p.proname = ANY (\(functions)) AND p.prorettype <> 'trigger'::regtype
            AND NOT has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1) AS functions,
        ARRAY(SELECT DISTINCT quote_ident(pg_get_userbyid(t.owner)) FROM tables AS t
          WHERE NOT pg_has_role(t.owner, 'USAGE') ORDER BY 1) AS owners,
        (SELECT s.source FROM pg_settings AS s WHERE s.name = 'default_transaction_read_only' AND s.setting = 'on'
          AND NOT pg_is_in_recovery()) AS source
      FROM place
      """)
    guard let row = rows.first else { throw StoreFault("the database says nothing of a role") }
    var missing: [String: [String]] = [:]
    for (word, name) in zip(try row.decode("words", as: [String].self), try row.decode("names", as: [String].self)) {
      missing[word, default: []].append(name)
    }
    return DatabaseRights(
      database: try row.decode("database"), role: try row.decode("role"), schema: try row.decode("schema"),
      mayUseSchema: try row.decode("usable"), mayCreate: try row.decode("creatable"), missing: missing,
      forbiddenFunctions: try row.decode("functions"), foreignOwners: try row.decode("owners"),
      readOnlySource: try row.decode("source"))
  }
}
