import PostgresClient
import Testing

@Suite("Prepared statements")
struct StatementTests {
  private func preparedCount(_ connection: PostgresConnection) async throws -> Int {
    // A script, unlike a query, prepares nothing; it returns its result through a table.
    try await connection.execute(
      script: """
        DROP TABLE IF EXISTS pg_temp.counted;
        CREATE TEMP TABLE counted AS SELECT count(*) AS n FROM pg_prepared_statements;
        """)
    let rows = try await connection.query("SELECT n FROM pg_temp.counted")
    return try #require(rows.first).decode(0)
  }

  @Test("a statement is prepared once")
  func once() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { connection in
        for number in 1...5 {
          let rows = try await connection.query("SELECT \(number) + 1")
          #expect(try rows[0].decode(0, as: Int.self) == number + 1)
        }
        let count = try await preparedCount(connection)
        #expect(count == 1)
      }
    }
  }

  @Test("beyond the limit the least recently used statement is deallocated")
  func eviction() async throws {
    try await withPool(size: 1, configure: { configuration, _ in configuration.preparedStatementLimit = 3 }) { pool in
      try await pool.withConnection { connection in
        for number in 1...10 {
          _ = try await connection.query(PostgresQuery(unsafeSQL: "SELECT \(number)"))
          _ = try await connection.query("SELECT 'kept'")
        }
        let statements = try await connection.query("SELECT statement FROM pg_prepared_statements ORDER BY 1")
        let texts = try statements.map { try $0.decode(0, as: String.self) }
        #expect(texts.contains("SELECT 'kept'"))
        #expect(texts.count <= 3)
      }
    }
  }

  @Test("a pipeline may have more statements than the limit, and the same one twice")
  func evictionInPipeline() async throws {
    try await withPool(size: 1, configure: { configuration, _ in configuration.preparedStatementLimit = 1 }) { pool in
      let numbers = [1, 2, 1, 3, 1, 1, 2]
      for _ in 0..<3 {
        let results = try await pool.snapshot(numbers.map { PostgresQuery(unsafeSQL: "SELECT \($0)") })
        #expect(try results.map { try $0[0].decode(0, as: Int.self) } == numbers)
      }
    }
  }

  @Test("DDL that changes the columns of a prepared statement has no effect on callers")
  func changedColumns() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE things (a int)")
      _ = try await pool.query("INSERT INTO things VALUES (1)")
      let value3 = try await pool.query("SELECT * FROM things")
      #expect(value3.columnNames == ["a"])
      _ = try await pool.query("ALTER TABLE things ADD COLUMN b text DEFAULT 'x'")
      let value4 = try await pool.query("SELECT * FROM things")
      #expect(value4.columnNames == ["a", "b"])
      _ = try await pool.query("ALTER TABLE things ALTER COLUMN a TYPE bigint")
      let snapshot = try await pool.snapshot(["SELECT * FROM things"])
      #expect(try snapshot[0][0].decode("a", as: Int.self) == 1)
      _ = try await pool.query("ALTER TABLE things DROP COLUMN b")
      let names = try await pool.transaction { try await $0.query("SELECT * FROM things").columnNames }
      #expect(names == ["a"])
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("statements that the session has lost are prepared again")
  func lostStatements() async throws {
    try await withPool(size: 1) { pool in
      for _ in 0..<3 {
        let two = try await pool.value("SELECT 2", as: Int.self)
        #expect(two == 2)
        try await pool.withConnection { try await $0.execute(script: "DEALLOCATE ALL") }
        let three = try await pool.transaction { try await $0.query("SELECT 3")[0].decode(0, as: Int.self) }
        #expect(three == 3)
        try await pool.withConnection { try await $0.execute(script: "DISCARD ALL") }
      }
    }
  }

  @Test("a statement that could not be prepared does not count as prepared")
  func failedPreparation() async throws {
    try await withPool(size: 1) { pool in
      let error1 = try await failure { try await pool.query("SELECT * FROM absent") }
      #expect(error1.sqlState == "42P01")
      let error2 = try await failure { try await pool.query("SELECT * FROM absent") }
      #expect(error2.sqlState == "42P01")
      _ = try await pool.query("CREATE TABLE absent (a int)")
      let value5 = try await pool.query("SELECT * FROM absent")
      #expect(value5.isEmpty)
    }
  }

  @Test("a statement that could not be prepared is prepared again within the same transaction")
  func failedPreparationInTransaction() async throws {
    try await withPool(size: 1) { pool in
      try await pool.transaction { transaction in
        _ = try await transaction.query("SAVEPOINT before")
        for _ in 1...2 {
          let error = try await failure { try await transaction.query("SELECT a FROM absent") }
          #expect(error.sqlState == "42P01")
          _ = try await transaction.query("ROLLBACK TO before")
        }
        _ = try await transaction.query("CREATE TABLE absent (a int)")
        let rows = try await transaction.query("SELECT a FROM absent")
        #expect(rows.isEmpty)
      }
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("the same text with parameters of other types is another statement")
  func typesOfParameters() async throws {
    try await withPool(size: 1) { pool in
      func typeName(_ query: PostgresQuery) async throws -> String { try await pool.value(query) }
      for _ in 1...2 {
        #expect(try await typeName("SELECT pg_typeof(\(7))::text") == "bigint")
        #expect(try await typeName("SELECT pg_typeof(\("7"))::text") == "text")
        #expect(try await typeName("SELECT pg_typeof(\(7.5))::text") == "double precision")
      }
      let text = try await pool.value("SELECT \(7) || \("x")", as: String.self)
      #expect(text == "7x")
    }
  }

  @Test("no statement is prepared on the server if preparation is disabled")
  func withoutPreparation() async throws {
    try await withPool(size: 1, configure: { configuration, _ in configuration.preparesStatements = false }) { pool in
      for number in 1...3 {
        let value = try await pool.value("SELECT \(number) + \(0.5)", as: Double.self)
        #expect(value == Double(number) + 0.5)
      }
      let count = try await pool.value("SELECT count(*) FROM pg_prepared_statements", as: Int.self)
      #expect(count == 0)
      let timeout = try await pool.value("SELECT current_setting('statement_timeout')", as: String.self)
      #expect(timeout == "0")
    }
  }
}
