import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Writes whose requests may be repeated.
@Suite struct RepeatedWriteTests {
  private typealias Write = RepeatableWrite<(item: EditorialItem, created: Bool)>

  private static func once(_ name: String) -> Write {
    let request = RepeatableRequest(
      apiKey: "k", method: "POST", target: "/items", name: name, bodyDigest: Data(repeating: 0, count: 32))
    return Write(request) { result in
      StoredAnswer(status: 201, headers: [:], content: .item, body: try NewsJSON.encode(result.item))
    }
  }

  private static func content(_ text: String) -> ItemContent {
    ItemContent(state: .published, date: .newYear, text: text)
  }

  @Test("A repetition by another process finds the answer with the version of the item, or that the first still runs")
  func processes() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      try await withStores(connection, count: 2, sql: connection) { stores, sql in
        let running = try await sql.transaction { transaction in
          // Answers cannot be stored, but looked for.
          _ = try await transaction.query("LOCK TABLE idempotency_answers IN SHARE MODE")
          let running = Task { try await stores[0].create(UUID(), Self.content("x"), once: Self.once("a")) }
          try await eventually("the first process waits") {
            try await sql.query(
              "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).count == 1
          }
          for store in stores {
            await #expect(throws: StoreError.requestInProgress) {
              _ = try await store.create(UUID(), Self.content("x"), once: Self.once("a"))
            }
          }
          return running
        }
        let item = try await running.value.item
        for store in stores {
          do {
            _ = try await store.create(UUID(), Self.content("x"), once: Self.once("a"))
            Issue.record("a second item was created")
          } catch let answered as AnsweredBefore {
            #expect(answered.isRepetition)
            #expect(try NewsJSON.decode(EditorialItem.self, from: answered.answer.body) == item)
          }
        }
        #expect(item.item.version == 1)
      }
    }
  }

  @Test("A request whose connection is lost anywhere has one effect after its repetition, and one answer")
  func lostConnections() async throws {
    try await NewsDatabase.with { url in
      let parts = try #require(URLComponents(string: url))
      try await FaultyProxy.with(serverPort: try #require(parts.port)) { proxy in
        var proxied = parts
        proxied.port = proxy.port
        let connection = PostgresConfiguration.forBusyMachine(try #require(proxied.string))
        try await withStores(connection, count: 1, sql: .forBusyMachine(url)) { stores, sql in
          _ = try await stores[0].create(UUID(), Self.content("a"), once: Self.once("warm"))
          let before = proxy.passed
          _ = try await stores[0].create(UUID(), Self.content("a"), once: Self.once("measured"))
          let length = proxy.passed - before
          for bytes in stride(from: 0, through: length, by: max(1, length / 40)) {
            proxy.spoil(.cut, after: bytes)
            let first = await Self.outcome(stores[0], "\(bytes)")
            var second: UUID?
            // The cut may be left to a repetition, if the first request received less.
            let end = ContinuousClock.now + .seconds(60)
            while second == nil, .now < end { second = await Self.outcome(stores[0], "\(bytes)") }
            #expect(second != nil, "a repetition has an answer, after \(bytes) of \(length)")
            if let first { #expect(first == second, "after \(bytes) of \(length)") }
            let rows = try await sql.query("SELECT count(*) FROM items WHERE text = \("\(bytes)")")
            #expect(try rows.first?.decode(0) == 1, "after \(bytes) of \(length)")
          }
        }
      }
    }
  }

  /// The id of the item that a request has created, now or before; nil if its outcome is unknown.
  private static func outcome(_ store: NewsStore, _ name: String) async -> UUID? {
    do {
      return try await store.create(UUID(), content(name), once: once(name)).item.item.id
    } catch let answered as AnsweredBefore {
      return try? NewsJSON.decode(EditorialItem.self, from: answered.answer.body).item.id
    } catch {
      return nil
    }
  }

  private func withStores(
    _ connection: PostgresConfiguration, count: Int, sql direct: PostgresConfiguration,
    _ body: @Sendable ([NewsStore], PostgresPool) async throws -> Void
  ) async throws {
    let stores = (0..<count).map { _ in
      NewsStore(connection: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
    }
    let sql = PostgresPool(configuration: direct, pool: .forBusyMachine, logger: NewsDatabase.logger)
    let result: Result<Void, any Error>
    do { result = .success(try await body(stores, sql)) } catch { result = .failure(error) }
    for store in stores { await store.shutdown() }
    await sql.shutdown()
    try result.get()
  }
}
