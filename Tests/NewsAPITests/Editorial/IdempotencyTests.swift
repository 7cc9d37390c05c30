import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Repetitions of requests with an `Idempotency-Key`.
@Suite struct IdempotencyTests {
  private static let draft = #"{"text": "a draft", "state": "draft"}"#

  private static func count(_ server: TestServer, _ sql: PostgresQuery) async throws -> Int {
    let rows = try await server.sql.query(sql)
    return try rows.first?.decode(0) ?? -1
  }

  private static func fields(_ response: TestResponse) -> [String: String] {
    let other = ["date", "x-request-id", "idempotency-replayed", "connection", "server", "content-length"]
    return Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
      .filter { !other.contains($0.key) }
  }

  /// Sends a request twice, and expects the same answer to both.
  private static func expectReplay(
    _ first: TestResponse, _ again: TestResponse, status: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(first.status == status, "\(first.text)", sourceLocation: sourceLocation)
    #expect(first["Idempotency-Replayed"] == nil, sourceLocation: sourceLocation)
    #expect(again.status == status, "\(again.text)", sourceLocation: sourceLocation)
    #expect(again["Idempotency-Replayed"] == "true", sourceLocation: sourceLocation)
    #expect(again.text == first.text, sourceLocation: sourceLocation)
    #expect(fields(again) == fields(first), sourceLocation: sourceLocation)
  }

  @Test("A repeated creation, restoration or erasure of an item has the first answer, and no second effect")
  func items() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      for (number, state) in ["published", "draft"].enumerated() {
        let body = #"{"text": "new", "title": "Ü", "topics": ["a"], "state": "\#(state)", "html": "<p>x</p>"}"#
        let key = ("Idempotency-Key", "\"key \(number)\"")
        let first = try await server.write("POST", "items", body, key)
        Self.expectReplay(first, try await server.write("POST", "items", body, key), status: 201)
        #expect(first["Location"] != nil && first["ETag"] == "\"r1\"")
        #expect(try await Self.count(server, "SELECT count(*) FROM items") == number + 1)
      }
      let item = try await server.publish("one")
      let path = "items/\(item.item.id.uuidString.lowercased())"
      _ = try await server.write("PATCH", path, #"{"text": "two"}"#, ("If-Match", "*"))
      let headers = [("If-Match", "\"r2\""), ("Idempotency-Key", "restore-1")]
      let restored = try await server.send(
        "POST", "/v1/editorial/\(path)/history/1/restore", key: server.key, headers: headers)
      let again = try await server.send(
        "POST", "/v1/editorial/\(path)/history/1/restore", key: server.key, headers: headers)
      Self.expectReplay(restored, again, status: 200)
      #expect(try restored.json(EditorialItem.self).item.text == "one")
      #expect(try await server.write("GET", path).json(EditorialItem.self).revision == 3)
      _ = try await server.write("DELETE", path, nil, ("If-Match", "*"))
      let erased = try await server.write("POST", path + "/erase?reason=law", nil, ("Idempotency-Key", "erase"))
      let repeated = try await server.write("POST", path + "/erase?reason=law", nil, ("Idempotency-Key", "erase"))
      Self.expectReplay(erased, repeated, status: 204)
      #expect(try await server.write("GET", path).json(EditorialItem.self).revision == 5)
    }
  }

  @Test("A repeated batch has the first answer with its versions, and no second effect", arguments: [false, true])
  func batch(isAtomic: Bool) async throws {
    try await TestServer.with { server in
      let one = try await server.publish("one")
      let id = one.item.id.uuidString.lowercased()
      var entries = [
        #"{"op": "create", "item": {"text": "new"}}"#,
        #"{"op": "create", "item": {"text": "draft", "state": "draft"}}"#,
        #"{"op": "modify", "id": "\#(id)", "revision": 1, "patch": {"title": "One"}}"#,
      ]
      if !isAtomic { entries.append(#"{"op": "create", "item": {"text": ""}}"#) }
      let body = "{\"atomic\": \(isAtomic), \"entries\": [\(entries.joined(separator: ","))]}"
      let first = try await server.write("POST", "items/batch", body, ("Idempotency-Key", "b"))
      Self.expectReplay(
        first, try await server.write("POST", "items/batch", body, ("Idempotency-Key", "b")), status: 200)
      let results = try first.json(BatchResultList.self).results
      #expect(results.prefix(3).map { $0.item?.item.version ?? -1 > 0 } == [true, false, true])
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 3)
      #expect(try await Self.count(server, "SELECT revision::bigint FROM items WHERE title = 'One'") == 2)
    }
  }

  @Test("A repeated creation of a topic or subscription, and a repeated upload, have the first answer")
  func others() async throws {
    try await MediaServer.with { media in
      let server = media.server
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      for (path, body) in [
        ("topics", #"{"slug": "a", "titles": {"en": "A"}}"#),
        ("subscriptions", #"{"url": "https://example.org/feed", "topics": ["a"], "paused": true}"#),
      ] {
        let headers = [("Idempotency-Key", "\"1\"")]
        let target = "/v1/editorial/" + path
        let first = try await server.send("POST", target, key: key, headers: headers, body: body)
        let again = try await server.send("POST", target, key: key, headers: headers, body: body)
        Self.expectReplay(first, again, status: 201)
      }
      let file = SampleMedia.png(seed: 1)
      let first = try await media.upload(file, ("Idempotency-Key", "f"))
      Self.expectReplay(first, try await media.upload(file, ("Idempotency-Key", "f")), status: 201)
      // A file that exists already has an answer of its own.
      let known = try await media.upload(file, ("Idempotency-Key", "g"))
      Self.expectReplay(known, try await media.upload(file, ("Idempotency-Key", "g")), status: 200)
      let other = try await media.upload(SampleMedia.png(seed: 2), ("Idempotency-Key", "f"))
      #expect(try other.json(Problem.self, status: 422).type == "/problems/idempotency-key-reused")
      #expect(try await Self.count(server, "SELECT count(*) FROM media") == 1)
      try await eventually("the refused file is removed") { try names(in: media.folder) == [file.sha256] }
    }
  }

  @Test("A key belongs to its API key, path, query and body; the form in which it is written makes no difference")
  func scope() async throws {
    try await TestServer.with { server in
      let first = try await server.write("POST", "items", Self.draft, ("Idempotency-Key", "k-1"))
      let quoted = try await server.write("POST", "items", Self.draft, ("Idempotency-Key", "\"k-1\""))
      Self.expectReplay(first, quoted, status: 201)
      let other = try await server.write(
        "POST", "items", #"{"text": "x", "state": "draft"}"#, ("Idempotency-Key", "k-1"))
      let problem = try other.json(Problem.self, status: 422)
      #expect(problem.type == "/problems/idempotency-key-reused")
      let topic = try await server.write("POST", "topics", #"{"slug": "a"}"#, ("Idempotency-Key", "k-1"))
      #expect(topic.status == 201)
      let second = try await server.store.createKey(name: "second", permissions: [.itemsWrite])
      let theirs = try await server.send(
        "POST", "/v1/editorial/items", key: second, headers: [("Idempotency-Key", "k-1")], body: Self.draft)
      #expect(theirs.status == 201 && theirs["Idempotency-Replayed"] == nil && theirs.text != first.text)
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 2)
    }
  }

  @Test("A malformed key is refused with the name of the field and the rule, and nothing is written")
  func malformed() async throws {
    try await TestServer.with { server in
      let long = String(repeating: "k", count: 256)
      for value in [
        "", "\"\"", "\"", "\"a", "a\"", "a b", "a,b", "\"a\" \"b\"", "\"a\";b=1", #""\a""#, long, "\"\(long)\"",
      ] {
        let problem = try await server.write("POST", "items", Self.draft, ("Idempotency-Key", value))
          .json(Problem.self, status: 400)
        #expect(problem.type == "/problems/invalid-parameter", "\(value)")
        #expect(problem.errors?.map(\.field) == ["Idempotency-Key"])
        #expect(problem.errors?.first?.rule.contains("1 to 255") == true)
      }
      let twice = try await server.write(
        "POST", "items", Self.draft, ("Idempotency-Key", "a"), ("Idempotency-Key", "b"))
      #expect(twice.status == 400)
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 0)
      for value in [
        String(long.dropLast()), #""a \"quoted\" \\ one""#, "8e03978e-40d5-43dd-bc93-6894a57f9324", "YQ==/:",
      ] {
        #expect(
          try await server.write("POST", "items", Self.draft, ("Idempotency-Key", value)).status == 201, "\(value)")
      }
    }
  }

  @Test("A refused request is not stored: its client corrects it, or what it needs, and uses the key again")
  func refusals() async throws {
    try await TestServer.with { server in
      let key = ("Idempotency-Key", "r")
      #expect(try await server.write("POST", "items", #"{"text": 7}"#, key).status == 422)
      #expect(try await server.write("POST", "items", "{", key).status == 400)
      let body = #"{"text": "x", "topics": ["a"]}"#
      #expect(try await server.write("POST", "items", body, key).status == 422)
      let entry = #"{"entries": [{"op": "create", "item": {"text": "x", "topics": ["a"]}}], "atomic": true}"#
      #expect(try await server.write("POST", "items/batch", entry, key).status == 422)
      let loose = entry.replacing("true}", with: "false}")
      #expect(try await server.write("POST", "items/batch", loose, ("Idempotency-Key", "loose")).status == 200)
      #expect(try await Self.count(server, "SELECT count(*) FROM idempotency_answers") == 0)
      try await server.makeTopics(["a"])
      let first = try await server.write("POST", "items", body, key)
      Self.expectReplay(first, try await server.write("POST", "items", body, key), status: 201)
      #expect(try await server.write("POST", "items/batch", entry, key).status == 200)
      for method in ["GET", "PUT", "PATCH", "DELETE"] {
        let path = "items/" + (try first.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased())
        let body = ["PUT", "PATCH"].contains(method) ? Self.draft : nil
        let problem = try await server.write(method, path, body, key).json(Problem.self, status: 400)
        #expect(problem.type == "/problems/idempotency-key-unsupported")
      }
    }
  }

  @Test("While the first request runs, a repetition is a 409 with Retry-After")
  func inProgress() async throws {
    try await TestServer.with { server in
      let body = #"{"text": "x"}"#
      let first = try await server.sql.transaction { transaction in
        // Answers cannot be stored, but looked for.
        _ = try await transaction.query("LOCK TABLE idempotency_answers IN SHARE MODE")
        let first = Task { try await server.write("POST", "items", body, ("Idempotency-Key", "p")) }
        try await eventually("the first request waits") {
          try await Self.count(
            server,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
        }
        let again = try await server.write("POST", "items", body, ("Idempotency-Key", "p"))
        #expect(try again.json(Problem.self, status: 409).type == "/problems/request-in-progress")
        #expect(again["Retry-After"] == "1")
        return first
      }
      let made = try await first.value
      Self.expectReplay(made, try await server.write("POST", "items", body, ("Idempotency-Key", "p")), status: 201)
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 1)
    }
  }

  @Test(
    "The erasure of an item erases the stored answers with its texts, and their requests still have no second effect")
  func erasure() async throws {
    try await TestServer.with { server in
      let body = #"{"text": "quicksilver"}"#
      let item = try await server.write("POST", "items", body, ("Idempotency-Key", "e"))
        .json(EditorialItem.self, status: 201)
      let path = "items/\(item.item.id.uuidString.lowercased())"
      let id = item.item.id.uuidString.lowercased()
      let entries = """
        {"entries": [{"op": "modify", "id": "\(id)", "revision": 1, "patch": {"title": "quicksilver"}},
        {"op": "create", "item": {"text": "another"}}]}
        """
      #expect(try await server.write("POST", "items/batch", entries, ("Idempotency-Key", "e")).status == 200)
      _ = try await server.write("DELETE", path, nil, ("If-Match", "*"))
      #expect(try await server.write("POST", path + "/erase").status == 204)
      let stored = try await server.sql.query(
        "SELECT body_digest IS NULL AND body = '' AND headers = '{}' AS is_erased FROM idempotency_answers")
      #expect(try stored.map { try $0.decode(0, as: Bool.self) } == [true, true])
      for (target, body) in [("items", body), ("items/batch", entries), ("items", #"{"text": "else"}"#)] {
        let again = try await server.write("POST", target, body, ("Idempotency-Key", "e"))
        #expect(try again.json(Problem.self, status: 410).type == "/problems/answer-erased")
      }
      #expect(try await Self.count(server, "SELECT count(*) FROM items") == 2)
      // Plain SQL that deletes an item erases its answers too.
      let other = try await server.write("POST", "items", Self.draft, ("Idempotency-Key", "sql"))
        .json(EditorialItem.self, status: 201)
      _ = try await server.sql.query("DELETE FROM items WHERE id = \(other.item.id)")
      #expect(try await server.write("POST", "items", Self.draft, ("Idempotency-Key", "sql")).status == 410)
    }
  }

  @Test("After 24 hours by the database's clock a key is new again, and the stored answers are purged")
  func age() async throws {
    try await TestServer.with { server in
      func make(_ key: String) async throws -> TestResponse {
        try await server.write("POST", "items", Self.draft, ("Idempotency-Key", key))
      }
      func grow(_ interval: String) async throws {
        _ = try await server.sql.query(
          "UPDATE idempotency_answers SET created_at = clock_timestamp() - \(interval)::text::interval")
      }
      let first = try await make("a")
      try await grow("23 hours 59 minutes")
      try await server.store.purgeAnswers()
      Self.expectReplay(first, try await make("a"), status: 201)
      try await grow("24 hours 1 second")
      let second = try await make("a")
      #expect(second.status == 201 && second["Idempotency-Replayed"] == nil && second.text != first.text)
      Self.expectReplay(second, try await make("a"), status: 201)
      try await grow("25 hours")
      _ = try await make("b")
      try await server.store.purgeAnswers()
      #expect(try await Self.count(server, "SELECT count(*) FROM idempotency_answers") == 1)
    }
  }

  @Test("The answer to a batch that exceeds the limit of stored answers is stored without its items")
  func largeAnswer() async throws {
    try await TestServer.with { server in
      let text = String(repeating: "x", count: 256_000)
      let entries = (0..<34).map { _ in #"{"op": "create", "item": {"text": "\#(text)", "state": "draft"}}"# }
      let body = "{\"entries\": [\(entries.joined(separator: ","))]}"
      let first = try await server.write("POST", "items/batch", body, ("Idempotency-Key", "l"))
      let results = try first.json(BatchResultList.self).results
      #expect(results.allSatisfy { $0.item != nil })
      let again = try await server.write("POST", "items/batch", body, ("Idempotency-Key", "l"))
      let stored = try again.json(BatchResultList.self)
      #expect(again["Idempotency-Replayed"] == "true" && stored.applied == 34)
      #expect(stored.results.map(\.id) == results.map(\.id) && stored.results.allSatisfy { $0.item == nil })
      let size = try await Self.count(server, "SELECT max(octet_length(body))::bigint FROM idempotency_answers")
      #expect(size < StoredAnswer.maximumBytes)
    }
  }

  @Test("Every editorial POST of the contract has the field, and each of its successes may be a repetition")
  func contract() throws {
    let contract = try Contract.shared.get()
    let posts = contract.operations.filter { $0.method == "POST" && $0.path.hasPrefix("/v1/editorial/") }
    #expect(posts.count >= 7)
    for post in posts {
      #expect(try contract.allows(requestField: "Idempotency-Key", of: post), "\(post)")
      #expect(try contract.allows(responseField: "Idempotency-Replayed", of: post), "\(post)")
    }
  }

  @Test("The metrics count repetitions by their outcome")
  func metrics() async throws {
    try await TestServer.with { server in
      for body in [Self.draft, Self.draft, #"{"text": "x"}"#] {
        _ = try await server.write("POST", "items", body, ("Idempotency-Key", "m"))
      }
      let text = try await server.get("/metrics").text
      #expect(text.contains(#"tidings_idempotent_requests_total{outcome="replayed"} 1"#))
      #expect(text.contains(#"tidings_idempotent_requests_total{outcome="reused"} 1"#))
    }
  }
}
