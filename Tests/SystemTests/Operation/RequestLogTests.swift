import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct RequestLogTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

  /// Returns the log lines of slow requests: one request waits 1.5 s for the database, and a fast one follows it.
  private static func slowLines(
    _ changes: [String: String] = [:], headers: [(String, String)] = []
  ) async throws -> [RunningServer.LogLine] {
    try await Installation.with { installation in
      try await installation.serve(changes: changes) { server in
        let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
          try await installation.sql.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
            isHeld.finish()
            try await Task.sleep(for: .milliseconds(1500))
          }
        }
        for await _ in held {}
        // An item that does not exist is looked up in the table.
        let answer = try await server.client.send("GET", "/v1/items/\(UUID())", headers: headers)
        #expect(answer.status == 404)
        try await holder.value
        #expect(try await server.status("/healthz") == 200)
        server.process.send(SIGTERM)
        return await server.process.result().errors.split(separator: "\n").compactMap {
          RunningServer.LogLine(String($0))
        }.filter { $0.message == "slow request" && $0.metadata["route"] != "/healthz" }
      }
    }
  }

  @Test("A slow request is one line, with its database time, client and trace")
  func slow() async throws {
    let lines = try await Self.slowLines(
      ["TIDINGS_TRUSTED_PROXIES": "127.0.0.1", "TIDINGS_SLOW_REQUEST": "500"],
      headers: [
        ("traceparent", "00-\(Self.trace)-00f067aa0ba902b7-01"), ("X-Forwarded-For", "8.8.8.8, 198.51.100.7"),
      ])
    #expect(lines.count == 1)
    let metadata = try #require(lines.first).metadata
    #expect(metadata["route"] == "/v1/items/{id}")
    #expect(metadata["method"] == "GET")
    #expect(metadata["status"] == "404")
    #expect(metadata["client"] == "198.51.100.7")
    #expect(metadata["trace_id"] == Self.trace)
    #expect(metadata["parent_id"] == "00f067aa0ba902b7")
    #expect(metadata["hb.request.id"]?.isEmpty == false)
    let time = try #require(metadata["ms"].flatMap { Int($0) })
    let inDatabase = try #require(metadata["database_ms"].flatMap { Int($0) })
    #expect(500...time ~= inDatabase)
  }

  @Test("Requests faster than the setting are not logged, and none with 0", arguments: ["0", "600000"])
  func quiet(setting: String) async throws {
    #expect(try await Self.slowLines(["TIDINGS_SLOW_REQUEST": setting]).isEmpty)
  }

  @Test(
    "A malformed traceparent is ignored",
    arguments: [
      "00-\(trace)-00f067aa0ba902b7", "00-\(trace.uppercased())-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "ff-\(trace)-00f067aa0ba902b7-01",
      "00-\(trace)-0000000000000000-01", "00-\(trace)-00f067aa0ba902b7-01-x",
    ])
  func malformed(value: String) async throws {
    let lines = try await Self.slowLines(["TIDINGS_SLOW_REQUEST": "500"], headers: [("traceparent", value)])
    #expect(lines.count == 1)
    #expect(lines.first?.metadata["trace_id"] == nil)
    #expect(lines.first?.metadata["client"] == "127.0.0.1")
  }
}
