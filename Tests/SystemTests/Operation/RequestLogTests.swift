import Foundation
import PostgresClient
import TestKit
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

  @Test("Lines name routes in place of ids, and a flood of slow requests leaves 600 a minute, and the number of others")
  func floods() async throws {
    let (id, count) = (UUID().uuidString.lowercased(), 800)
    let began = ContinuousClock.now
    let lines = try await Installation.with { installation in
      try await installation.serve(changes: ["TIDINGS_SLOW_REQUEST": "50"]) { server in
        let body = #"{"token": "1k3x9qam9pkx.10"}"#
        let request = """
          PUT /v1/devices/\(id)/state HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
          Authorization: Bearer \(String(repeating: "s", count: 43))\r\n\
          Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
          """
        let path = "/v1/websub/" + String(repeating: "t", count: 22)
        let token = "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        for requests in [Array(repeating: request, count: count), [request, token]] {
          let connections = try await installation.sql.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE devices, hub_leases IN ACCESS EXCLUSIVE MODE")
            let connections = try await ConnectionSet(requests.count, port: server.port) {
              requests[($0 - 1) % requests.count]
            }
            // A request that a busy server reads after the end of the lock is not slow.
            try await Task.sleep(for: .seconds(6))
            return connections
          }
          try await eventually("all are answered") { try await connections.countOpen() == 0 }
        }
        server.process.send(SIGTERM)
        return await server.process.result().errors.split(separator: "\n").map(String.init)
      }
    }
    #expect(!lines.contains { $0.contains(id) || $0.contains("tttttt") })
    let slow = lines.compactMap { RunningServer.LogLine($0) }.filter { $0.message == "slow request" }
    let ofDevices = slow.filter { $0.metadata["route"] == "/v1/devices/{id}/state" }
    #expect(600...(601 + Int((ContinuousClock.now - began) / .milliseconds(100))) ~= ofDevices.count)
    #expect(slow.contains { $0.metadata["route"] == "/v1/websub/{token}" })
    let suppressed = slow.compactMap { $0.metadata["suppressed"].flatMap { Int($0) } }
    #expect(suppressed.reduce(0, +) + slow.count >= count)
  }

  @Test("Uploads are never slow, because their clients determine the duration; lists of files are")
  func uploads() async throws {
    let lines: [RunningServer.LogLine] = try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path, "TIDINGS_SLOW_REQUEST": "1"]
        return try await installation.serve(changes: changes) { server in
          try await Self.upload(key, to: server)
          try await Self.uploadByForm(key, to: server)
          let listing = try await installation.sql.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE media IN ACCESS EXCLUSIVE MODE")
            let listing = Task { try await server.send("GET", "/v1/editorial/media", key: key).status }
            try await eventually("the list waits") {
              let waiting: Int = try await installation.value(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
              return waiting > 0
            }
            return listing
          }
          #expect(try await listing.value == 200)
          server.process.send(SIGTERM)
          return await server.process.result().errors.split(separator: "\n").compactMap {
            RunningServer.LogLine(String($0))
          }
        }
      }
    }
    let slow = lines.filter { $0.message == "slow request" }.map(\.metadata)
      .filter { $0["route"] != "/console/sign-in" }
    #expect(!slow.contains { ["POST", "PATCH"].contains($0["method"] ?? "") })
    #expect(slow.contains { $0["method"] == "GET" && $0["route"] == "/v1/editorial/media" })
  }

  /// Uploads a file in one request, and another one in two.
  private static func upload(_ key: String, to server: RunningServer) async throws {
    let version = ("Upload-Draft-Interop-Version", "6")
    let whole = try await server.client.send(
      "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")],
      file: SampleMedia.png(bytes: 2_000_000))
    let begun = try await server.client.send(
      "POST", "/v1/editorial/media", key: key,
      headers: [version, ("Upload-Complete", "?0"), ("Content-Type", "image/png")])
    let part = try await server.client.send(
      "PATCH", try #require(begun["Location"]), key: key,
      headers: [version, ("Upload-Offset", "0"), ("Content-Type", "application/partial-upload")],
      file: SampleMedia.png(bytes: 2_000_000, seed: 2))
    #expect([whole, begun, part].map(\.status) == [201, 201, 201])
  }

  /// Uploads a file with the form of the console.
  private static func uploadByForm(_ key: String, to server: RunningServer) async throws {
    var visitor = ConsoleVisitor(port: server.port)
    #expect(try await visitor.post("/console/sign-in", [("key", key)]).status == 303)
    let cookie = try #require(visitor.cookie)
    let fields = try await visitor.hiddenFields("/console/files")
    let token = try #require(fields.first { $0.name == "csrf" }).value
    let start = """
      --x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n\(token)\r\n--x\r
      Content-Disposition: form-data; name="upload"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n
      """
    let body = Data(start.utf8) + SampleMedia.png(bytes: 2_000_000, seed: 3) + Data("\r\n--x--\r\n".utf8)
    let head = """
      POST /console/files HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nOrigin: http://127.0.0.1:\(server.port)\r
      Cookie: \(cookie)\r\nContent-Type: multipart/form-data; boundary=x\r
      Content-Length: \(body.count)\r\n\r\n
      """
    let responses = try await RawConnection.exchange([Data(head.utf8) + body], port: server.port)
    #expect(responses.map(\.status) == [303])
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
