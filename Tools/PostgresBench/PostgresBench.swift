import Foundation
import Logging
import PostgresClient

/// Measures PostgresClient with statements that pgbench can send too.
@main
struct PostgresBench {
  private static let connections = 8
  /// One task per connection, because pgbench has one client per connection.
  private static let tasks = connections

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let workload = arguments.dropFirst().first.flatMap(Workload.init(rawValue:))
    let seconds = arguments.dropFirst(2).first.flatMap(Double.init)
    switch (arguments.first, workload, seconds) {
    case ("prepare", nil, nil):
      try await withPool { pool in
        for statement in table { _ = try await pool.query(statement) }
      }
    case ("script", let workload?, nil):
      print(workload.pgbenchScript, terminator: "")
    case ("run", let workload?, let seconds?):
      try await withPool { pool in
        // Opens the connections and prepares the statement on each; this is not measured.
        _ = try await run(workload, on: pool, for: .milliseconds(300))
        print(Int(try await run(workload, on: pool, for: .seconds(seconds))))
      }
    default:
      throw Failure(
        description: """
          PostgresBench prepare               makes and fills the table in the database DATABASE_URL
          PostgresBench script WORKLOAD       prints the script for pgbench
          PostgresBench run WORKLOAD SECONDS  prints how many statements a second were run
          WORKLOAD is \(Workload.allCases.map(\.rawValue).joined(separator: " or "))
          """)
    }
  }

  private static func withPool(_ body: @Sendable (PostgresPool) async throws -> Void) async throws {
    let url = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
    var bounds = PostgresPoolConfiguration()
    bounds.size = connections
    let pool = PostgresPool(
      configuration: PostgresConfiguration(connectionString: url), pool: bounds, logger: Logger(label: "bench"))
    do {
      try await body(pool)
      await pool.shutdown()
    } catch {
      await pool.shutdown()
      throw error
    }
  }

  /// Runs a workload on all tasks.
  ///
  /// - Returns: The statements per second of all tasks together.
  private static func run(_ workload: Workload, on pool: PostgresPool, for duration: Duration) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<tasks {
        group.addTask(executorPreference: PostgresExecutor.shared) {
          var count = 0
          while clock.now - start < duration {
            try await workload.run(on: pool, number: workload.number(step: task * 7919 + count))
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    return Double(count) / ((clock.now - start) / .seconds(1))
  }

  /// The statements that create a table of news items with 600 characters of text each.
  private static var table: [PostgresQuery] {
    [
      """
      CREATE TABLE bench_items (
        number bigint PRIMARY KEY, id uuid NOT NULL, date timestamptz NOT NULL, text text NOT NULL, title text,
        summary text, topics text[] NOT NULL, language text, url text, author text, breaking boolean NOT NULL,
        attachments jsonb NOT NULL, updated timestamptz NOT NULL)
      """,
      """
      INSERT INTO bench_items
      SELECT n, md5(n::text)::uuid, date_trunc('second', now()) - n * interval '1 minute', left(repeat(md5(n::text) || ' ', 20), 600),
        'What happened in place ' || n, NULL, ARRAY['sport', 'topic-' || n % 20], 'en',
        'https://news.example/' || n, CASE n % 3 WHEN 0 THEN 'A. Writer' END, n % 50 = 0,
        '[]', now() - n * interval '1 minute'
      FROM generate_series(1, \(Workload.rowCount)) AS n
      """,
    ]
  }
}
