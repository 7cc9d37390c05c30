import Foundation
import News
import TestKit
import TestSupport
import Testing

extension AttackTests {
  /// Keeps connections open and reads from them. Meanwhile runs the body every 100 ms.
  private static func beside(
    _ connections: ConnectionSet, for time: Duration, _ body: @Sendable () async throws -> Void
  ) async throws {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
      _ = try await connections.countOpen()
      try await body()
      try await Task.sleep(for: .milliseconds(100))
    }
    connections.closeAll()
  }

  @Test(
    "Very many requests that wait for a future version do not block other clients")
  func futureVersions() async throws {
    try await Self.with("requests for versions from the future") { target in
      let server = target.server
      let token = try await server.send("GET", "/v1/state").json(FeedState.self).feed
      let future = SyncToken(epoch: token.epoch, scope: .feed, version: token.version + 1_000_000)
      let request = "GET /v1/items?limit=7&at=\(future) HTTP/1.1\r\nHost: a\r\n\r\n"
      let connections = try await ConnectionSet(
        Self.runsLongTests ? 300 : 60, port: server.port, firstBytes: String(repeating: request, count: 30))
      try await Self.beside(connections, for: .seconds(Self.runsLongTests ? 30 : 4)) {
        for path in ["/v1/items?q=word", "/v1/changes", "/v1/items?author=nobody"] {
          let began = ContinuousClock.now
          let status = try await server.status(path)
          #expect(status == 200, "\(path)")
          #expect(ContinuousClock.now - began < .seconds(Self.runsLongTests ? 1 : 10), "\(path)")
        }
      }
    }
  }

  @Test("Very many distinct requests block neither readers nor editors")
  func distinctRequests() async throws {
    try await Self.with("requests that all differ", growth: 256) { target in
      let server = target.server
      try await target.publish(Self.runsLongTests ? 300 : 30)
      let token = try await server.send("GET", "/v1/state").json(FeedState.self).feed
      let connections = try await ConnectionSet(Self.runsLongTests ? 700 : 100, port: server.port) { connection in
        (0..<20).map { index in
          let number = connection * 20 + index
          let since = SyncToken(epoch: token.epoch, scope: .feed, version: max(0, token.version - number % 25))
          let limit = 1 + number / 25 % 1000
          return "GET /v1/changes?since=\(since)&limit=\(limit)&include=html HTTP/1.1\r\nHost: a\r\n\r\n"
        }.joined()
      }
      try await Self.beside(connections, for: .seconds(Self.runsLongTests ? 30 : 4)) {
        let began = ContinuousClock.now
        let list = try await server.send("GET", "/v1/items?limit=21")
        #expect(list.status == 200)
        #expect(list["Cache-Status"] == nil, "the database responds")
        try await target.publish(1)
        #expect(ContinuousClock.now - began < .seconds(Self.runsLongTests ? 2 : 20))
      }
    }
  }

  @Test("The worst HTML of an editor blocks no other client")
  func worstMarkup() async throws {
    try await Self.with("HTML with very many attributes", growth: 256) { target in
      let server = target.server
      let names = (0..<60_000).map { "a\(String($0, radix: 36))" }.joined(separator: " ")
      let html = "<p \(names)>x</p>"
      let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x", "html": "\#(html)"}"#
      let began = ContinuousClock.now
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<(Self.runsLongTests ? 8 : 2) {
          group.addTask { try await server.send("POST", "/v1/editorial/items", key: target.key, body: body).status }
        }
        for try await status in group { #expect([201, 422].contains(status)) }
      }
      #expect(ContinuousClock.now - began < .seconds(20))
    }
  }
}
