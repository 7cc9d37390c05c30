import PostgresClient
import Testing

@Suite("Queries")
struct QueryTests {
  @Test("an interpolated value is a parameter and not part of the SQL")
  func interpolation() {
    let query: PostgresQuery = "SELECT \(1), \("x'; DROP TABLE items; --")"
    #expect(query.sql == "SELECT $1, $2")
  }

  @Test("another query is inserted and its parameters are renumbered")
  func splicing() async throws {
    // The literal '$1' must not be renumbered.
    let inner: PostgresQuery = "n > \(2) AND '$1' <> \("é") AND n < \(9)"
    let nested: PostgresQuery = "(\(query: inner)) OR n = \(20)"
    let query: PostgresQuery =
      "SELECT n FROM generate_series(\(1), 30) n WHERE \(query: nested) ORDER BY n LIMIT \(100)"
    #expect(
      query.sql
        == "SELECT n FROM generate_series($1, 30) n WHERE (n > $2 AND '$1' <> $3 AND n < $4) OR n = $5 ORDER BY n LIMIT $6"
    )
    let numbers = try await withPool(size: 1) { pool in
      try await pool.query(query).map { try $0.decode("n", as: Int.self) }
    }
    #expect(numbers == [3, 4, 5, 6, 7, 8, 20])
  }

  @Test("unsafe SQL is inserted unchanged")
  func rawText() {
    let query: PostgresQuery = "SELECT \(unsafeSQL: "a, b") FROM t WHERE c = \(true)"
    #expect(query.sql == "SELECT a, b FROM t WHERE c = $1")
  }

  @Test(
    "no text gets out of its parameter",
    arguments: ["'; DROP TABLE kept; --", "$1", "\\'; DROP TABLE kept; --", "\"", "E'\\x27'", "/*", "\u{0}'"])
  func injection(text: String) async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE kept (value text)")
      if text.contains("\u{0}") {
        let error1 = try await failure { try await pool.query("INSERT INTO kept VALUES (\(text))") }
        #expect(error1.sqlState == "22021")
      } else {
        _ = try await pool.query("INSERT INTO kept VALUES (\(text))")
        let stored = try await pool.value("SELECT value FROM kept", as: String.self)
        #expect(stored == text)
      }
    }
  }

  @Test("several statements in one query are rejected")
  func severalStatements() async throws {
    try await withPool(size: 1) { pool in
      let error2 = try await failure { try await pool.query("SELECT 1; SELECT 2") }
      #expect(error2.sqlState == "42601")
    }
  }

  @Test("an empty query and an empty pipeline succeed")
  func empty() async throws {
    try await withPool(size: 1) { pool in
      let value3 = try await pool.query("")
      #expect(value3.isEmpty)
      let value4 = try await pool.query("-- nothing")
      #expect(value4.isEmpty)
      let results = try await pool.withConnection { try await $0.pipeline([]) }
      #expect(results.isEmpty)
      let value5 = try await pool.snapshot([])
      #expect(value5.isEmpty)
    }
  }
}
