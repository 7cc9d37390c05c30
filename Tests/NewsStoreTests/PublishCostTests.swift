import Foundation
import PostgresClient
import TestSupport
import Testing

/// The number of pages that `publish()` reads.
@Suite struct PublishCostTests {
  /// The pages that the publication of an item reads in a session.
  private static func pages(
    _ session: PostgresConnection, _ id: UUID, after change: PostgresQuery
  ) async throws -> Int {
    try await session.execute(script: "BEGIN")
    _ = try await session.query(change)
    let plan = try await session.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM publish(\([id]))")
    try await session.execute(script: "COMMIT")
    let json = try #require(plan.first).decode(0, as: String.self)
    let counts = json.matches(of: #/"Shared (?:Hit|Read) Blocks": (\d+)/#).prefix(2)
    return try counts.reduce(0) { try $0 + #require(Int($1.1)) }
  }

  @Test("A session that began with empty tables looks up rows by key when they have grown")
  func growth() async throws {
    try await NewsDatabase.with { url in
      let configuration = PostgresConfiguration.forBusyMachine(url)
      let sql = PostgresPool(configuration: configuration, logger: NewsDatabase.logger)
      try await sql.makeTopics("a", "b")
      try await PostgresConnection.with(configuration: configuration, logger: NewsDatabase.logger) { session in
        func insert(_ number: Int) async throws -> Int {
          let ids = [UUID(number)]
          return try await Self.pages(session, ids[0], after: PostgresPool.insertion(ids, topics: ["a", "b"]))
        }
        // PostgreSQL considers a plan for all parameters after five executions (PostgreSQL 15, PREPARE).
        var empty = 0
        for number in 0..<10 { empty = try await insert(number) }
        for chunk in 1...5 {
          try await sql.publish((0..<1000).map { UUID(chunk * 1000 + $0) }, topics: ["a", "b"])
        }
        let id = UUID(10)
        #expect(empty > 20)
        #expect(try await insert(10) < 3 * empty)
        for change: PostgresQuery in [
          "UPDATE items SET text = 'longer' WHERE id = \(id)", "UPDATE items SET topics = '{a}' WHERE id = \(id)",
          "UPDATE items SET state = 'retracted' WHERE id = \(id)",
        ] {
          #expect(try await Self.pages(session, id, after: change) < 3 * empty)
        }
      }
      await sql.shutdown()
    }
  }
}
