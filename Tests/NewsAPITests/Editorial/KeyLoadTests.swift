import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Many requests with unknown keys, and their effect on other clients.
@Suite struct KeyLoadTests {
  private static let strangers = 700

  /// The number of look-ups of keys that wait for a lock. The record of the last uses of keys may wait for it too.
  private static func blockedLookups(_ server: TestServer) async throws -> Int {
    let rows = try await server.sql.query(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM api_keys WHERE id = ANY(%'
      """)
    return try rows[0].decode(0)
  }

  @Test("Unknown keys use at most two connections while lookups are blocked, and other requests are served")
  func slowLookups() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let client = TestClient(url: server.url)
      try await withThrowingTaskGroup(of: TestResponse.self) { group in
        try await ReadLoadTests.whileLocked("api_keys", server) {
          for number in 0..<Self.strangers {
            group.addTask { try await client.send("GET", "/v1/editorial/items", key: "tdk_x\(number)_y") }
          }
          try await eventually("the requests wait") { server.store.waitingKeyLookups == Self.strangers }
          try await eventually("two look-ups wait for the lock") { try await Self.blockedLookups(server) == 2 }
          for number in 0..<3 { #expect(try await server.get("/v1/items?q=x\(number)").status == 200) }
          #expect(try await server.get("/readyz").status == 200)
          #expect(try await Self.blockedLookups(server) == 2)
        }
        for try await response in group {
          #expect([401, 503].contains(response.status))
          if response.status == 503 { #expect(response["Retry-After"] != nil) }
        }
      }
      _ = try await server.publish("y")
    }
  }

  @Test("A key with hundreds of requests that take long leaves connections and places to other keys")
  func greedyKey() async throws {
    try await TestServer.with { server in
      let greedy = try await server.store.createKey(name: "greedy", permissions: [.admin])
      let client = TestClient(url: server.url)
      try await withThrowingTaskGroup(of: TestResponse.self) { group in
        try await ReadLoadTests.whileLocked("subscriptions", server) {
          for _ in 0..<Self.strangers {
            group.addTask { try await client.send("GET", "/v1/editorial/subscriptions", key: greedy) }
          }
          try await eventually("they wait") {
            let connections = server.store.connections
            return connections.waiting > 300 && connections.leased >= 6
          }
          for number in 0..<3 {
            _ = try await server.publish("x\(number)")
            #expect(try await client.send("GET", "/v1/editorial/items", key: server.key).status == 200)
          }
        }
        for try await response in group { #expect([200, 503].contains(response.status)) }
      }
    }
  }

  @Test("All writes of an editor succeed beside hundreds of concurrent requests with unknown keys")
  func besideAnEditor() async throws {
    try await TestServer.with { server in
      let client = TestClient(url: server.url)
      let isOver = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for stranger in 0..<Self.strangers {
          group.addTask {
            var number = 0
            while !isOver.isSet {
              number += 1
              let response = try await client.send("GET", "/v1/editorial/items", key: "tdk_x\(stranger)x\(number)_y")
              #expect([401, 503].contains(response.status))
            }
          }
        }
        for number in 0..<5 { _ = try await server.publish("x\(number)") }
        isOver.set()
        try await group.waitForAll()
      }
    }
  }
}
