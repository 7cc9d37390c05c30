import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Many readers of uncached responses, beside editors, on the real server.
@Suite struct ReadLoadTests {
  @Test("Editors are served beside hundreds of uncached reads")
  func readersBesideWriters() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        for number in 0..<50 { try await Self.publish("item \(number)", server, key) }
        let tokens = try await Self.tokens(server)
        _ = try await server.send("GET", "/v1/items")
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for reader in 0..<200 {
            group.addTask {
              var number = reader
              while !isOver.isSet {
                number += 200
                let since = tokens[number % tokens.count]
                let status = try await server.status(
                  "/v1/changes?include=html&since=\(since)&limit=\(number / 7 % 1000 + 1)")
                // Requests beyond the limit are refused.
                #expect([200, 503].contains(status))
              }
            }
          }
          let end = ContinuousClock.now + .seconds(6)
          var number = 0
          while .now < end {
            number += 1
            try await Self.publish("written \(number)", server, key)
            let list = try await server.send("GET", "/v1/items")
            #expect(list.status == 200)
            // The server has not mistaken its own queue for an unresponsive database.
            #expect(list["Cache-Status"] == nil)
            #expect(try list.json(ItemList.self).items.contains { $0.text == "written \(number)" })
          }
          isOver.set()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("After a client disconnects, its statement ends within the statement timeout")
  func leaving() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        try await installation.sql.transaction { transaction in
          _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
          try await Self.ask(server) {
            try await eventually("statements wait") { try await Self.waiting(installation) == 3 }
          }
          // A statement ends after 10 s at the latest.
          try await eventually("none is left") { try await Self.waiting(installation) == 0 }
        }
        #expect(try await server.status("/v1/items/\(UUID())") == 404)
      }
    }
  }

  /// Requests three items on connections that stay open during the body.
  private static func ask(_ server: RunningServer, _ body: () async throws -> Void) async throws {
    let connections = try (0..<3).map { _ in try BlockingConnection(port: server.port) }
    for connection in connections {
      try connection.send("GET /v1/items/\(UUID()) HTTP/1.1\r\nHost: a\r\n\r\n")
    }
    try await body()
    withExtendedLifetime(connections) {}
  }

  /// Returns the number of statements that wait for the table of items, without those of the schedule.
  private static func waiting(_ installation: Installation) async throws -> Int {
    try await installation.value(
      """
      SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
      WHERE NOT l.granted AND l.relation = 'items'::regclass
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND a.query NOT LIKE '%apply_schedule%' AND a.query NOT LIKE '%publish_at%'
      """)
  }

  private static func publish(_ text: String, _ server: RunningServer, _ key: String) async throws {
    let answer = try await server.send(
      "POST", "/v1/editorial/items", key: key, body: #"{"date": "2026-01-01T00:00:00Z", "text": "\#(text)"}"#)
    _ = try answer.json(EditorialItem.self, status: 201)
  }

  /// Returns one token for each version.
  private static func tokens(_ server: RunningServer) async throws -> [SyncToken] {
    let token = try await server.send("GET", "/v1/changes").json(ChangeList.self).token
    return (1...token.version).map { SyncToken(epoch: token.epoch, scope: .feed, version: $0) }
  }
}
