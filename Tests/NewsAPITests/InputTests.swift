import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct InputTests {
  @Test(
    "An invalid query parameter is refused with 400, which names it", .sharedServer,
    arguments: [
      ("/v1/items?limit=abc", "limit"), ("/v1/items?limit=0", "limit"), ("/v1/items?limit=201", "limit"),
      ("/v1/items?limit=", "limit"), ("/v1/items?limit", "limit"), ("/v1/items?limit=1&limit=2", "limit"),
      ("/v1/items?limit=%2B1", "limit"), ("/v1/items?foo=1", "foo"), ("/v1/items?topics=A", "topics"),
      ("/v1/items?topics=a,,b", "topics"), ("/v1/items?topics=nowhere", "topics"), ("/v1/items?from=yesterday", "from"),
      ("/v1/items?to=2026-02-30T00:00:00Z", "to"), ("/v1/items?include=text", "include"),
      ("/v1/items?cursor=AAAA", "cursor"), ("/v1/items?at=x", "at"), ("/v1/items?language=e%20n", "language"),
      ("/v1/items?q=", "q"), ("/v1/items?q=\(String(repeating: "x", count: 257))", "q"), ("/v1/changes?q=x", "q"),
      ("/v1/items?author=%FF", "author"), ("/v1/items?author=%00", "author"), ("/v1/changes?limit=1001", "limit"),
      ("/v1/changes?since=", "since"), ("/v1/changes?cursor=x", "cursor"), ("/v1/state?topics=nowhere", "topics"),
      ("/v1/topics?limit=1", "limit"), ("/healthz?x=1", "x"), ("/readyz?x=1", "x"), ("/metrics?x=1", "x"),
      ("/openapi.yaml?x=1", "x"),
    ])
  func parameters(target: String, name: String) async throws {
    try await TestServer.withShared { server in
      let answer = try await server.get(target)
      let problem = try answer.json(Problem.self, status: 400)
      #expect(problem.type == "/problems/invalid-parameter")
      #expect(problem.errors?.map(\.field) == [name])
      #expect(answer["Content-Type"] == "application/problem+json")
      #expect(answer["Cache-Control"] == "no-store")
      #expect(answer["X-Request-Id"] != nil)
    }
  }

  @Test("A query may name up to 32 topics")
  func manyTopics() async throws {
    try await TestServer.with { server in
      let topics = (1...33).map { "topic-\($0)" }
      try await server.makeTopics(topics)
      let allowed = topics.dropLast().joined(separator: ",")
      for path in ["/v1/items", "/v1/changes", "/v1/state"] {
        #expect(try await server.get("\(path)?topics=\(allowed)").status == 200)
        let problem = try await server.get("\(path)?topics=\(allowed),topic-33").json(Problem.self, status: 400)
        #expect(problem.errors?.map(\.field) == ["topics"])
      }
    }
  }

  @Test("If there are very many errors, the first are listed and the others counted")
  func manyErrors() async throws {
    try await TestServer.with { server in
      for path in ["/healthz", "/v1/items", "/v1/changes"] {
        let answer = try await server.get(path + "?" + Array(repeating: "a", count: 7000).joined(separator: "&"))
        let errors = try #require(try answer.json(Problem.self, status: 400).errors)
        #expect(errors.count == 33)
        #expect(errors.last == FieldError(field: "*", rule: "6968 more errors are not listed"))
        #expect(answer.body.count < 4096)
      }
      let names = (0..<60_000).map { "\"f\($0)\": 0" }.joined(separator: ",")
      let answer = try await server.write("POST", "items", "{\(names)}")
      let errors = try #require(try answer.json(Problem.self, status: 422).errors)
      // The required field comes first, followed by the unknown fields in alphabetical order.
      #expect(errors.map(\.field) == ["text", "f0", "f1", "f10"] + errors.dropFirst(4).map(\.field))
      #expect(errors.last == FieldError(field: "*", rule: "59969 more errors are not listed"))
      #expect(answer.body.count < 4096)
      // One character of many bytes.
      let long = "e" + String(repeating: "\u{301}", count: 10_000)
      #expect(try await server.write("POST", "items", "{\"\(long)\": 0}").body.count < 1024)
    }
  }

  @Test("A cursor is accepted only with the filters that it was created for")
  func foreignCursor() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      for index in 1...3 { _ = try await server.publish("\(index)", topics: ["a"]) }
      let link = try #require(try await server.get("/v1/items?limit=1")["Link"])
      let cursor = try #require(link.split(separator: "cursor=").last?.prefix { $0 != ">" })
      #expect(try await server.get("/v1/items?cursor=\(cursor)").status == 200)
      #expect(try await server.get("/v1/items?limit=2&include=html&cursor=\(cursor)").status == 200)
      for filter in ["topics=a", "language=en", "author=x", "from=2026-01-01T00:00:00Z", "q=1"] {
        let problem = try await server.get("/v1/items?\(filter)&cursor=\(cursor)").json(Problem.self, status: 400)
        #expect(problem.errors?.map(\.field) == ["cursor"])
      }
    }
  }

  private static let url2048 = "https://example.org/" + String(repeating: "x", count: 2029)

  @Test(
    "An invalid field is refused with 422, which names it", .sharedServer,
    arguments: [
      (#""text": """#, "text"), (#""text": "  \n""#, "text"), (#""text": 7"#, "text"), (#""text": "a\u0007b""#, "text"),
      (#""date": "2026-01-01""#, "date"), (#""date": "2999-01-01T00:00:00Z""#, "date"), (#""date": 5"#, "date"),
      (#""title": """#, "title"), (#""title": "\#(String(repeating: "ü", count: 513))""#, "title"),
      (#""topics": "a""#, "topics"), (#""topics": ["A"]"#, "topics"), (#""topics": [1]"#, "topics"),
      (#""language": "e""#, "language"), (#""language": "english!""#, "language"),
      (#""language": "toolonglanguage""#, "language"),
      (#""url": "ftp://example.org""#, "url"), (#""url": "/relative""#, "url"), (#""url": "https://""#, "url"),
      (#""url": "\#(url2048)""#, "url"), (#""url": "http://10.1.2.3:99999/a""#, "url"),
      (#""url": "https://a.example:0/""#, "url"), (#""url": "https://a.example:18446744073709551616/""#, "url"),
      (
        #""attachments": [{"url": "http://10.1.2.3:99999/a.jpg", "type": "image/jpeg"}]"#, "attachments[0].url"
      ),
      (#""attachments": [{"url": "https://%5b%5d/", "type": "image/jpeg"}]"#, "attachments[0].url"),
      (#""author": "\#(String(repeating: "x", count: 257))""#, "author"),
      (#""breaking": 1"#, "breaking"), (#""state": "gone""#, "state"), (#""state": "retracted""#, "state"),
      (#""attachments": {}"#, "attachments"), (#""attachments": [1]"#, "attachments[0]"),
      (#""attachments": [{"type": "image/png"}]"#, "attachments[0].url"),
      (#""attachments": [{"url": "https://a.example/x"}]"#, "attachments[0].type"),
      (#""attachments": [{"url": "https://a.example/x", "type": "png"}]"#, "attachments[0].type"),
      (#""attachments": [{"url": "https://a.example/x", "type": "image/png", "width": 0}]"#, "attachments[0].width"),
      (
        #""attachments": [{"url": "https://a.example/x", "type": "image/png", "sha256": "x"}]"#, "attachments[0].sha256"
      ),
      (#""attachments": [{"url": "https://a.example/x", "type": "image/png", "x": 1}]"#, "attachments[0].x"),
      (#""attachments": [{"url": "https://a.example/x", "type": "image/png", "alt": null}]"#, "attachments[0].alt"),
      (#""date": null"#, "date"), (#""text": null"#, "text"), (#""title": null"#, "title"),
      (#""topics": null"#, "topics"),
      (#""breaking": null"#, "breaking"), (#""state": null"#, "state"), (#""id": null"#, "id"),
      (#""id": "x""#, "id"), (#""revision": 0"#, "revision"), (#""colour": "red""#, "colour"),
    ])
  func fields(field: String, name: String) async throws {
    try await TestServer.withShared { server in
      var fields = [#""date": "2026-01-01T00:00:00Z""#, #""text": "x""#]
      let key = field.split(separator: ":")[0]
      fields.removeAll { $0.hasPrefix(key) }
      let answer = try await server.write("POST", "items", "{" + (fields + [field]).joined(separator: ", ") + "}")
      let problem = try answer.json(Problem.self, status: 422)
      #expect(problem.type == "/problems/invalid-field")
      #expect(problem.errors?.map(\.field) == [name])
      #expect(try await server.get("/v1/items").json(ItemList.self).items.isEmpty)
    }
  }

  @Test("A patch cannot remove a required field", arguments: ["text", "state", "revision", "id"])
  func removedFields(name: String) async throws {
    try await TestServer.with { server in
      let draft = try await server.write(
        "POST", "items", #"{"date": "2026-01-01T00:00:00Z", "text": "x", "state": "draft"}"#)
      let path = "items/" + (try draft.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased())
      let answer = try await server.write("PATCH", path, #"{"\#(name)": null}"#, ("If-Match", "*"))
      #expect(try answer.json(Problem.self, status: 422).errors?.map(\.field) == [name])
    }
  }

  @Test("All invalid fields are named in one response, including missing ones")
  func allFields() async throws {
    try await TestServer.with { server in
      let problem = try await server.write("POST", "items", #"{"title": "", "topics": 1, "x": 2}"#)
        .json(Problem.self, status: 422)
      #expect(Set(problem.errors?.map(\.field) ?? []) == ["text", "title", "topics", "x"])
    }
  }

  @Test("A date may be in the future by the clock tolerance only")
  func futureDates() async throws {
    try await TestServer.with { server in
      let now = Date()
      for (seconds, status) in [(30.0, 201), (600, 422)] {
        let date = RFC3339.string(from: now + seconds)
        for state in ["published", "draft"] {
          let answer = try await server.write(
            "POST", "items", #"{"date": "\#(date)", "text": "x", "state": "\#(state)"}"#)
          #expect(answer.status == status)
          if status == 422 { #expect(try answer.json(Problem.self, status: 422).errors?.map(\.field) == ["date"]) }
        }
      }
    }
  }

  @Test(
    "A body that is not a JSON object is refused with 400, which says where it is malformed", .sharedServer,
    arguments: [
      "", "{", "[]", "7", #"{"a": 1, "a": 2}"#, #"{"text": "\u0000"}"#, #"{"text": "\ud800"}"#, "{\"a\": \u{1}}",
      #"{"date": 1e999}"#, String(repeating: "[", count: 100),
    ])
  func malformedBodies(body: String) async throws {
    try await TestServer.withShared { server in
      let problem = try await server.write("POST", "items", body).json(Problem.self, status: 400)
      #expect(problem.type == "/problems/malformed-body")
      #expect(problem.detail != nil)
    }
  }

  @Test("Requests that a route does not support are refused with 404, 405, 413, 415 or 431, as problem+json")
  func otherRefusals() async throws {
    try await TestServer.with { server in
      func type(_ answer: TestResponse, _ status: Int) throws -> String {
        #expect(answer["Content-Type"] == "application/problem+json")
        return try answer.json(Problem.self, status: status).type
      }
      #expect(try type(try await server.get("/v2"), 404) == "/problems/not-found")
      let wrong = try await server.send("POST", "/v1/items", body: "{}")
      #expect(try type(wrong, 405) == "/problems/method-not-allowed")
      #expect(wrong["Allow"] == "GET, HEAD, OPTIONS")
      let large = #"{"text": "\#(String(repeating: "x", count: 1 << 20))"}"#
      #expect(try type(try await server.write("POST", "items", large), 413) == "/problems/body-too-large")
      let form = try await server.write("POST", "items", "a=b", ("Content-Type", "application/x-www-form-urlencoded"))
      #expect(try type(form, 415) == "/problems/unsupported-media-type")
      let long = try await server.get("/v1/items", ("X-Long", String(repeating: "x", count: 17_000)))
      #expect(try type(long, 431) == "/problems/headers-too-large")
      let key = try await server.write("GET", "items", nil, ("Idempotency-Key", "1"))
      #expect(try type(key, 400) == "/problems/idempotency-key-unsupported")
    }
  }

  @Test("Editorial routes require a key with their scope")
  func keys() async throws {
    try await TestServer.with { server in
      let path = "/v1/editorial/items"
      let none = try await server.send("GET", path)
      #expect(none.status == 401)
      #expect(none["WWW-Authenticate"] == #"Bearer realm="tidings""#)
      let media = try await server.store.createKey(name: "camera", permissions: [.mediaWrite])
      for key in ["x", "tdk_a_b", server.key + "0", String(server.key.dropLast()), server.key.uppercased()] {
        let answer = try await server.send("GET", path, key: key)
        #expect(answer.status == 401)
        #expect(answer["WWW-Authenticate"]?.contains("invalid_token") == true)
      }
      let forbidden = try await server.send("GET", path, key: media)
      #expect(forbidden.status == 403)
      #expect(forbidden["WWW-Authenticate"]?.contains(#"scope="items:write""#) == true)
      #expect(try await server.send("GET", path, headers: [("Authorization", "bearer  \(server.key)")]).status == 200)
      let id = try #require(server.key.split(separator: "_").dropFirst().first)
      try await server.store.revokeKey(String(id))
      #expect(try await server.send("GET", path, key: server.key).status == 401)
    }
  }

  @Test(
    "A truncated or wrongly framed body is a client error, and the connection ends",
    arguments: [
      "Content-Length: 100\r\n\r\n{\"date\"", "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
      "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a",
    ])
  func brokenBodies(rest: String) async throws {
    try await TestServer.with { server in
      let request =
        "POST /v1/editorial/items HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(server.key)\r\n"
        + "Content-Type: application/json\r\n"
      let answers = try await RawConnection.exchange(request + rest, port: server.port)
      #expect(answers.map(\.status) == [400])
      #expect(answers.first?["Connection"] == "close")
      #expect(try answers.first?.json(Problem.self, status: 400).type == "/problems/malformed-body")
    }
  }

  @Test(
    "Other spellings of a path are not found", arguments: ["/v1/items/", "//v1/items", "/v1//items", "/v1/topics/"])
  func exactPaths(target: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.get(target)
      #expect(answer.status == 404)
    }
  }

  @Test(
    "Editorial responses, including errors, must not be cached",
    arguments: ["items/x", "items/\(UUID())", "topics/a", "topics/A"])
  func editorialErrorsAreNotStored(path: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.write("GET", path)
      #expect(answer.status == 404)
      #expect(answer["Cache-Control"] == "no-store")
      #expect(answer["X-Request-Id"] != nil)
    }
  }

  @Test("Errors reveal no SQL, paths or types of the server")
  func errorsKeepSecrets() async throws {
    try await TestServer.with { server in
      _ = try await server.sql.query("ALTER TABLE change_log RENAME TO something_else")
      let answer = try await server.get("/v1/items?q=x")
      #expect(answer.status == 500)
      for word in ["SELECT", "change_log", "relation", "PostgresError", "swift", "42P01"] {
        #expect(!answer.text.contains(word))
      }
    }
  }
}
