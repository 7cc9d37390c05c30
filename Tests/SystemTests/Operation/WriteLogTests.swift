import Foundation
import News
import PostgresClient
import Synchronization
import TestSupport
import Testing

/// The record of editorial writes: the log of a real server at its default level.
@Suite struct WriteLogTests {
  private static let body = #"{"date": "2026-01-01T00:00:00Z", "text": "confidential words"}"#

  private struct Record: Sendable {
    var lines: [RunningServer.LogLine]
    var text: String
    var keyID: String
    var secret: String
  }

  /// Returns the server's log for the requests of the body, which uses a key named `night desk`.
  private static func log(
    _ changes: [String: String] = [:],
    during body: @Sendable (RunningServer, _ installation: Installation, _ key: String) async throws -> Void
  ) async throws -> Record {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let made = try await installation.run(
          "keys", "create", "--name", "night desk", "--scope", "items:publish", "media:write")
        let key = made.output.trimmingCharacters(in: .newlines)
        let parts = key.split(separator: "_").map(String.init)
        try #require(parts.count == 3)
        // A busy machine would add lines about slow requests.
        let changes = [
          "TIDINGS_MEDIA_DIRECTORY": folder.path, "TIDINGS_LOG_LEVEL": "info", "TIDINGS_SLOW_REQUEST": "0",
        ].merging(changes) { $1 }
        return try await installation.serve(changes: changes) { server in
          try await body(server, installation, key)
          server.process.send(SIGTERM)
          let text = await server.process.result().errors
          return Record(
            lines: text.split(separator: "\n").compactMap { RunningServer.LogLine(String($0)) }, text: text,
            keyID: parts[1], secret: parts[2])
        }
      }
    }
  }

  @Test(
    "Every editorial write leaves one line with key, method, path, status and what it wrote, and a refused one none")
  func writes() async throws {
    let record = try await Self.log { server, _, key in
      let made = try await server.send("POST", "/v1/editorial/items", key: key, body: Self.body)
      let item = try made.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
      let path = "/v1/editorial/items/\(item)"
      _ = try await server.send("GET", path, key: key)
      _ = try await server.send("PATCH", path, key: key, headers: [("If-Match", "\"r1\"")], body: #"{"text": "y"}"#)
      _ = try await server.send("PATCH", path, key: key, headers: [("If-Match", "\"r1\"")], body: #"{"text": "z"}"#)
      _ = try await server.send("PUT", path, key: key, headers: [("If-Match", "*")], body: Self.body)
      _ = try await server.send("DELETE", path, key: key, headers: [("If-Match", "*")])
      _ = try await server.send("POST", "/v1/editorial/topics", key: key, body: #"{"slug": "city"}"#)
      _ = try await server.client.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: SampleMedia.png())
      let begin = [("Content-Type", "image/png"), ("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?0")]
      _ = try await server.send("POST", "/v1/editorial/media", key: key, headers: begin)
      _ = try await server.send("POST", "/v1/editorial/items", key: key, body: "{}")
      let other = #"{"slug": "city", "position": 9}"#
      #expect(try await server.send("POST", "/v1/editorial/topics", key: key, body: other).status == 409)
      #expect(try await server.send("DELETE", path, key: key, headers: [("If-Match", "*")]).status == 410)
      let text = [("Content-Type", "text/plain")]
      #expect(
        try await server.send("POST", "/v1/editorial/items", key: key, headers: text, body: "x").status == 415)
      _ = try await server.send("GET", "/v1/items")
    }
    let writes = record.lines.filter { $0.message == "editorial write" }
    let summary = writes.map { "\($0.metadata["method"] ?? "") \($0.metadata["status"] ?? "")" }
    #expect(
      summary == [
        "POST 201", "PATCH 200", "PUT 200", "DELETE 204", "POST 201", "POST 201", "POST 201",
      ])
    for line in writes {
      #expect(line.level == "info")
      #expect(line.metadata["key"] == record.keyID)
      #expect(line.metadata["key_name"] == "night desk")
      #expect(line.metadata["client"] == "127.0.0.1")
      #expect(line.metadata["route"]?.hasPrefix("/v1/editorial/") == true)
    }
    let item = try #require(writes.first?.metadata["item"])
    #expect(writes.prefix(4).allSatisfy { $0.metadata["item"] == item })
    #expect(writes[1].metadata["route"] == "/v1/editorial/items/{id}" && writes[1].metadata["item"] == item.description)
    #expect(writes[4].metadata["topic"] == "city")
    #expect(writes[5].metadata["media"].flatMap { UUID(uuidString: $0) } != nil)
    #expect(writes[6].metadata["upload"].flatMap { UUID(uuidString: $0) } != nil)
    // Reads are not logged at this level, and no line contains a key or a text.
    #expect(!record.lines.contains { $0.metadata["method"] == "GET" })
    #expect(!record.text.contains(record.secret))
    #expect(!record.text.contains("confidential"))
  }

  @Test("A refused key leaves one line with the reason and the client, and never the key itself")
  func refusals() async throws {
    let record = try await Self.log { server, installation, key in
      let camera = try await installation.run("keys", "create", "--name", "camera", "--scope", "media:write")
      let other = camera.output.trimmingCharacters(in: .newlines)
      _ = try await server.send("POST", "/v1/editorial/items", body: Self.body)
      _ = try await server.send("POST", "/v1/editorial/items", key: "tdk_0123_guessed-secret", body: Self.body)
      _ = try await server.send("GET", "/v1/editorial/items", key: other)
      let id = try #require(key.split(separator: "_").dropFirst().first)
      #expect(try await installation.run("keys", "revoke", String(id)).status == 0)
      _ = try await server.send("DELETE", "/v1/editorial/items/019a0000-0000-7000-8000-000000000000", key: key)
    }
    let refused = record.lines.filter { $0.message == "key refused" }
    #expect(
      refused.map { $0.metadata["reason"] } == ["no key", "unknown key", "scope items:write required", "revoked key"])
    #expect(refused.map { $0.metadata["status"] } == ["401", "401", "403", "401"])
    #expect(refused.allSatisfy { $0.level == "info" && $0.metadata["client"] == "127.0.0.1" })
    #expect(refused.map { $0.metadata["key_name"] } == [nil, nil, "camera", "night desk"])
    #expect(refused.last?.metadata["key"] == record.keyID)
    #expect(!record.text.contains("guessed-secret"))
    #expect(!record.text.contains(record.secret))
    #expect(!record.lines.contains { $0.message == "editorial write" })
  }

  @Test("A removal leaves one line with the key's name and what was removed")
  func takeDowns() async throws {
    let ids = Mutex<[String]>([])
    let record = try await Self.log { server, _, key in
      let uploaded = try await server.client.send(
        "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: SampleMedia.png())
      let file = try uploaded.json(Attachment.self, status: 201).url.replacing("/v1/media/", with: "")
      let made = try await server.send("POST", "/v1/editorial/items", key: key, body: Self.body)
      let item = try made.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
      let path = "/v1/editorial/items/\(item)"
      let deleted = try await server.send("DELETE", path, key: key, headers: [("If-Match", "*")])
      let erased = try await server.send("POST", path + "/erase", key: key)
      let removed = try await server.send("DELETE", "/v1/editorial/media/\(file)", key: key)
      #expect([deleted, erased, removed].map(\.status) == [204, 204, 204])
      ids.withLock { $0 = [item, file] }
    }
    let lines = record.lines.filter { $0.message == "editorial write" }.suffix(2)
    #expect(lines.map { $0.metadata["method"] } == ["POST", "DELETE"])
    #expect(lines.map { $0.metadata["status"] } == ["204", "204"])
    #expect(lines.map { $0.metadata["key_name"] } == ["night desk", "night desk"])
    #expect(lines.map { $0.metadata["key"] } == [record.keyID, record.keyID])
    #expect([lines.first?.metadata["item"], lines.last?.metadata["media"]] == ids.withLock { $0 })
    let removals = record.lines.filter { $0.message == "taken down files removed" }
    #expect(removals.map { $0.metadata["count"] } == ["1"])
  }

  @Test("The lines about subscriptions, webhooks and alerts name what was written")
  func otherSubjects() async throws {
    let ids = Mutex<[String]>([])
    let record = try await Self.log { server, installation, _ in
      let made = try await installation.run("keys", "create", "--name", "chief", "--scope", "admin")
      let key = made.output.trimmingCharacters(in: .newlines)
      let path = "/v1/editorial/"
      let feed = try await server.send(
        "POST", path + "subscriptions", key: key, body: #"{"url": "https://feeds.example/", "paused": true}"#
      ).json(Subscription.self, status: 201).id
      let hook = try await server.send(
        "POST", path + "webhooks", key: key, body: #"{"url": "https://hooks.example/", "paused": true}"#
      ).json(Webhook.self, status: 201).id
      let item = try await server.send("POST", path + "items", key: key, body: Self.body)
        .json(EditorialItem.self, status: 201).item.id
      let alert = try await server.send("POST", path + "pushes", key: key, body: #"{"item": "\#(item)"}"#)
      #expect(alert.status == 202)
      ids.withLock { $0 = [feed, hook, item, item].map { $0.uuidString.lowercased() } }
    }
    let lines = record.lines.filter { $0.message == "editorial write" }
    #expect(lines.count == 4 && lines.allSatisfy { $0.metadata["key_name"] == "chief" })
    let subjects = zip(lines, ["subscription", "webhook", "item", "item"]).compactMap { $0.metadata[$1] }
    #expect(subjects == ids.withLock { $0 })
  }

  @Test("While the database takes no writes, failed ones leave six lines at once, and slow ones too, not one for each")
  func outage() async throws {
    let changes = ["TIDINGS_SLOW_REQUEST": "1"]
    let record = try await Self.log(changes) { server, installation, key in
      try await TestDatabase.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = 'cannot_connect_now'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON items FOR EACH STATEMENT EXECUTE FUNCTION refuse();
        """, at: installation.url)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<30 {
          group.addTask { try await server.send("POST", "/v1/editorial/items", key: key, body: Self.body).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 503, count: 30))
    }
    let failed = record.lines.filter { $0.message == "editorial write failed" }
    let slow = record.lines.filter { $0.message == "slow request" && $0.metadata["status"] == "503" }
    // Each ten seconds of a busy machine allow one more line.
    #expect((6..<20).contains(failed.count) && (6..<20).contains(slow.count), "\(record.text)")
    #expect(failed.allSatisfy { $0.level == "info" && $0.metadata["problem"] == "/problems/unavailable" })
    #expect(failed.allSatisfy { $0.metadata["key"] == record.keyID && $0.metadata["status"] == "503" })
    #expect(!record.lines.contains { $0.message == "editorial write" })
  }

  @Test("A write whose outcome is unknown leaves a line, because it may have been made")
  func unknownOutcome() async throws {
    let record = try await Self.log { server, installation, key in
      // The session ends during COMMIT.
      try await TestDatabase.execute(
        """
        CREATE FUNCTION vanish() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER vanish AFTER INSERT ON topics DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION vanish();
        """, at: installation.url)
      let answer = try await server.send("POST", "/v1/editorial/topics", key: key, body: #"{"slug": "city"}"#)
      #expect(try answer.json(Problem.self, status: 503).type == "/problems/outcome-unknown")
    }
    let writes = record.lines.filter { $0.message.hasPrefix("editorial write") }
    #expect(writes.map(\.message) == ["editorial write"])
    #expect(writes.first?.metadata["status"] == "503" && writes.first?.metadata["topic"] == "city")
  }

  /// Returns the log of a server whose creation of an item fails: the database refuses it with a detail that quotes
  /// data.
  private static func failure(format: String) async throws -> String {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      for statement: PostgresQuery in [
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'refused' USING DETAIL = E'a\\nfake\\x1b[2J\\u009b2J\\u202E';
        END $$
        """,
        "CREATE TRIGGER refuse BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION refuse()",
      ] {
        _ = try await installation.sql.query(statement)
      }
      let process = try ChildProcess(
        ["serve", "--port", "0"], environment: installation.environment(["TIDINGS_LOG_FORMAT": format]))
      defer { process.send(SIGKILL) }
      var port: Int?
      for await line in process.errorLines {
        guard line.contains("listening"), let found = line.firstMatch(of: /127\.0\.0\.1:(\d+)/) else { continue }
        port = Int(found.1)
        break
      }
      let client = TestClient(url: "http://127.0.0.1:\(try #require(port))")
      let answer = try await client.send("POST", "/v1/editorial/items", key: key, body: Self.body)
      #expect(answer.status == 500)
      #expect(!answer.text.contains("fake"))
      process.send(SIGTERM)
      return await process.result().errors
    }
  }

  @Test(
    "Data quoted in a database error adds no line and no control character to the log", arguments: ["text", "json"])
  func hostileDetail(format: String) async throws {
    let log = try await Self.failure(format: format)
    let lines = log.split(separator: "\n").filter { $0.contains("fake") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("request failed") == true, "\(log)")
    for line in log.split(separator: "\n") { #expect(String(line).terminalSafe == String(line), "\(line)") }
    guard format == "json" else { return }
    // A program that parses the log receives the complete text.
    let error = RunningServer.LogLine(String(try #require(lines.first)))?.metadata["error"]
    #expect(error?.contains("a\nfake\u{1B}[2J\u{9B}2J\u{202E}") == true)
  }

  @Test("The text format also has the line")
  func text() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let process = try ChildProcess(
        ["serve", "--port", "0"], environment: installation.environment(["TIDINGS_LOG_FORMAT": "text"]))
      var port: Int?
      for await line in process.errorLines {
        guard line.contains("listening"), let found = line.firstMatch(of: /address=\S*?:(\d+)/) else { continue }
        port = Int(found.1)
        break
      }
      let client = TestClient(url: "http://127.0.0.1:\(try #require(port))")
      let made = try await client.send("POST", "/v1/editorial/items", key: key, body: Self.body)
      let item = try made.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
      process.send(SIGTERM)
      let lines = await process.result().errors.split(separator: "\n").filter { $0.contains("editorial write") }
      #expect(lines.count == 1)
      for part in ["info", "item=\(item)", "key_name=desk", "method=POST", "status=201"] {
        #expect(lines.first?.contains(part) == true, "\(part)")
      }
      #expect(lines.first?.contains(key) == false)
    }
  }
}
