import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct ServeTests {
  private static let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#

  @Test("A server logs its address in one line, responds, and exits with 0 on a signal", arguments: [SIGTERM, SIGINT])
  func lifecycle(signal: Int32) async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let health = try await server.status("/healthz")
        #expect(health == 200)
        #expect(try await server.status("/readyz") == 200)
        #expect(try await server.status("/v1/items") == 200)
        #expect(try await server.status("/nowhere") == 404)
        server.process.send(signal)
        let result = await server.process.result()
        #expect(result.status == 0)
        #expect(result.output == "")
        let lines = result.errors.split(separator: "\n").map { RunningServer.LogLine(String($0)) }
        #expect(lines.allSatisfy { $0 != nil }, "\(result.errors)")
        let messages = lines.compactMap { $0?.message }
        #expect(messages == ["starting", "acknowledged writes can be lost", "listening", "stopped"])
      }
    }
  }

  @Test("Malformed HTTP results in a problem and closes the connection")
  func improperRequests() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let answers = try await RawConnection.exchange(
          "GET /healthz HTTP/1.1\r\n\r\n", port: server.port, endsInput: false)
        #expect(answers.map(\.status) == [400])
        try answers.forEach(Contract.shared.get().check(refusal:))
      }
    }
  }

  @Test("After a signal, an active request is completed", arguments: [SIGTERM, SIGINT])
  func draining(signal: Int32) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        // A publish waits while another transaction holds the counter row.
        let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
        let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
          try await installation.sql.transaction { transaction in
            _ = try await transaction.query("SELECT version FROM scopes WHERE scope = '' FOR UPDATE")
            isHeld.finish()
            for await _ in release {}
          }
        }
        for await _ in held {}
        let writing = Task { try await server.send("POST", "/v1/editorial/items", key: key, body: Self.body) }
        try await eventually("the write waits") {
          try await installation.value(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 1
        }
        server.process.send(signal)
        try await eventually("no new connection is accepted") { !server.isListening() }
        isReleased.finish()
        try await holder.value
        #expect(try await writing.value.status == 201)
        #expect(await server.process.result().status == 0)
        #expect(try await installation.counter() == 1)
      }
    }
  }

  @Test("After a signal, a client can read a response to its end")
  func unread() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        let text = String(repeating: "x", count: 100_000)
        let body = #"{"date": "2026-01-01T00:00:00Z", "text": "\#(text)"}"#
        for _ in 0..<10 { _ = try await server.send("POST", "/v1/editorial/items", key: key, body: body) }
        // The first response comes from the router, the others from memory. Together they exceed the socket buffers.
        #expect(try await server.status("/v1/items") == 200)
        let request = String(repeating: "GET /v1/items HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 20)
        let answers = try await RawConnection.exchange([Data(request.utf8)], port: server.port, endsInput: false) {
          // The server has time to answer, and time to react after it has received the signal.
          Thread.sleep(forTimeInterval: 0.5)
          server.process.send(SIGTERM)
          while server.isListening() { Thread.sleep(forTimeInterval: 0.01) }
          Thread.sleep(forTimeInterval: 0.2)
        }
        #expect(answers.map(\.status) == Array(repeating: 200, count: 20))
        #expect(answers.allSatisfy { $0["Content-Length"] == "\($0.body.count)" })
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test("A signal ends long polls")
  func waiting() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let token = try #require(try await server.send("GET", "/v1/items")["Sync-Token"])
        let waiting = Task { try await server.send("GET", "/v1/changes?wait=50&since=\(token)") }
        try await eventually("it waits") {
          try await server.send("GET", "/metrics").text.contains("tidings_waiting_requests 1\n")
        }
        server.process.send(SIGTERM)
        let answer = try await waiting.value
        #expect(answer.status == 200)
        // The time after which the client returns, then to another server.
        #expect(1...5 ~= Int(try #require(answer["X-Poll-Interval"])) ?? 0)
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test("A signal ends all event streams, each with a different reconnection time")
  func streams() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        var sources: [EventSource] = []
        for _ in 0..<20 { sources.append(try await EventSource(server.client.url)) }
        server.process.send(SIGTERM)
        var times: Set<Int> = []
        for var source in sources {
          #expect(try await source.next() == nil)
          times.insert(try #require(source.retry))
        }
        #expect(times.count > 10)
        #expect(times.allSatisfy { 1000...3000 ~= $0 })
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test("Acknowledged writes survive kill -9, and the server starts again")
  func killed() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let (count, counting) = AsyncStream.makeStream(of: Void.self)
      let acknowledged = try await installation.serve { server in
        let writers = (1...4).map { writer in
          Task {
            var ids: [String] = []
            while let answer = try? await server.send("POST", "/v1/editorial/items", key: key, body: Self.body) {
              guard answer.status == 201 else { break }
              ids.append(try NewsJSON.decode(EditorialItem.self, from: Data(answer.text.utf8)).item.id.uuidString)
              counting.yield()
            }
            return ids
          }
        }
        var seen = 0
        for await _ in count {
          seen += 1
          if seen == 40 { break }
        }
        server.process.send(SIGKILL)
        #expect(await server.process.result().status == -SIGKILL)
        var ids: [String] = []
        for writer in writers { ids += try await writer.value }
        return ids
      }
      #expect(acknowledged.count >= 40)
      try await installation.serve { server in
        for id in acknowledged {
          let status = try await server.status("/v1/items/\(id.lowercased())")
          #expect(status == 200)
        }
      }
    }
  }

  @Test("Without its database, a server is alive but not ready, and recovers with the database")
  func databaseDown() async throws {
    try await TestCluster.withCluster { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      try await Installation.with(url: database.url) { installation in
        #expect(try await installation.run("migrate").status == 0)
        try await installation.serve(changes: ["TIDINGS_STALE_LIMIT": "3"]) { server in
          #expect(try await server.status("/readyz") == 200)
          try await cluster.stop(immediate: true)
          try await eventually("it is not ready") { try await server.status("/readyz") == 503 }
          #expect(try await server.status("/healthz") == 200)
          #expect(try await server.status("/v1/items") == 503)
          try await cluster.start()
          try await eventually("it is ready again") { try await server.status("/readyz") == 200 }
          #expect(try await server.status("/v1/items") == 200)
          #expect(try await server.status("/healthz") == 200)
        }
      }
    }
  }
}
