import Foundation
package import Logging
package import NewsStore
package import PostgresClient

/// Databases with the schema of news.
package enum NewsDatabase {
  /// Silent: what goes wrong in a test is told by the test.
  package static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  /// One database with the schema in each process, which all others are copied from.
  private static let template = Task {
    let database = try await TestDatabase.create()
    _ = try await Migrator(
      configuration: PostgresConfiguration(connectionString: database.url), logger: logger
    ).migrate()
    return database.name
  }

  /// Tests run side by side, as many as there are; their servers and pools must not use up the connections.
  private static let gate = Gate(width: 16)

  /// Hands the URL of a fresh database with the schema to the body.
  package static func with<Value: Sendable>(
    _ body: @Sendable (_ url: String) async throws -> Value
  ) async throws -> Value {
    await gate.enter()
    do {
      let value = try await withTestDatabase(template: try await template.value, body)
      await gate.leave()
      return value
    } catch {
      await gate.leave()
      throw error
    }
  }

  /// Hands a store over a fresh database to the body, and a pool for plain SQL beside it.
  package static func withStore<Value: Sendable>(
    staleLimit: Duration = .seconds(60),
    _ body: @Sendable (_ store: NewsStore, _ sql: PostgresPool) async throws -> Value
  ) async throws -> Value {
    try await with { url in
      let connection = PostgresConfiguration.patient(url)
      let store = NewsStore(connection: connection, pool: .patient, staleLimit: staleLimit, logger: logger)
      let sql = PostgresPool(configuration: connection, pool: .patient, logger: logger)
      do {
        let value = try await body(store, sql)
        await store.shutdown()
        await sql.shutdown()
        return value
      } catch {
        await store.shutdown()
        await sql.shutdown()
        throw error
      }
    }
  }
}

/// Lets a number of tasks in at a time, in the order in which they came.
private actor Gate {
  private var free: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(width: Int) {
    free = width
  }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  func leave() {
    if waiters.isEmpty {
      free += 1
    } else {
      waiters.removeFirst().resume()
    }
  }
}
