import Foundation
import News
import NewsStore
import TestSupport
import Testing

/// Subscriptions by the API.
@Suite struct SubscriptionTests {
  /// Runs the body with a server and a key of an administrator.
  private static func withServer(
    _ body: @escaping @Sendable (TestServer, _ send: @escaping Send) async throws -> Void
  ) async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      try await body(server) { method, path, text, fields in
        try await server.send(
          method, "/v1/editorial/subscriptions\(path)", key: key, headers: fields, body: text)
      }
    }
  }

  private typealias Send = @Sendable (String, String, String?, [(String, String)]) async throws -> TestResponse

  @Test("A subscription is created, read, changed under its lock and deleted")
  func life() async throws {
    try await Self.withServer { server, send in
      try await server.makeTopics(["sport"])
      let body =
        #"{"url": "HTTPS://Feeds.Example:443/news#x", "topics": ["sport"], "state": "draft", "language": "de"}"#
      let response = try await send("POST", "", body, [])
      let made = try response.json(Subscription.self, status: 201)
      #expect(made.url == "https://feeds.example/news")
      #expect(made.topics == ["sport"] && made.state == .draft && made.language == "de" && !made.paused)
      #expect(made.nextPoll != nil && made.revision == 1)
      let path = "/\(made.id.uuidString.lowercased())"
      #expect(response["Location"] == "/v1/editorial/subscriptions\(path)" && response["ETag"] == "\"r1\"")
      #expect(try await send("GET", path, nil, []).json(Subscription.self) == made)
      #expect(try await send("GET", path, nil, [("If-None-Match", "\"r1\"")]).status == 304)
      #expect(try await send("GET", "", nil, []).json(SubscriptionList.self).subscriptions == [made])

      let patch = #"{"paused": true, "language": null}"#
      #expect(try await send("PATCH", path, patch, []).status == 428)
      #expect(try await send("PATCH", path, patch, [("If-Match", "\"r2\"")]).status == 412)
      let patched = try await send(
        "PATCH", path, patch, [("If-Match", "\"r1\""), ("Content-Type", "application/merge-patch+json")])
      #expect(patched["ETag"] == "\"r2\"")
      let paused = try patched.json(Subscription.self)
      #expect(paused.paused && paused.language == nil && paused.nextPoll == nil && paused.revision == 2)
      #expect(paused.topics == ["sport"])
      #expect(try await send("PATCH", path, patch, [("If-Match", "\"r2\"")]).json(Subscription.self) == paused)

      #expect(try await send("DELETE", path, nil, [("If-Match", "\"r1\"")]).status == 412)
      #expect(try await send("DELETE", path, nil, [("If-Match", "*")]).status == 204)
      #expect(try await send("GET", path, nil, []).status == 404)
    }
  }

  @Test("A feed is paused from the beginning, and an unknown topic is refused in a change, too")
  func pausedAtFirst() async throws {
    try await Self.withServer { _, send in
      let made = try await send("POST", "", #"{"url": "https://feeds.example/", "title": "Port", "paused": true}"#, [])
        .json(Subscription.self, status: 201)
      #expect(made.paused && made.nextPoll == nil && made.title == "Port" && made.state == .published)
      let path = "/\(made.id.uuidString.lowercased())"
      let problem = try await send("PATCH", path, #"{"topics": ["nowhere"]}"#, [("If-Match", "*")])
        .json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["topics"])
      #expect(try await send("GET", path, nil, []).json(Subscription.self) == made)
    }
  }

  @Test("A feed that has failed, has lost entries and has a hub is changed, and keeps its reports")
  func reports() async throws {
    try await Self.withServer { server, send in
      let id = UUID()
      let url = "https://feeds.example/"
      _ = try await server.store.createSubscription(id, SubscriptionContent(url: url))
      var (outcome, losses) = (PollOutcome(wait: 600), PollLosses())
      losses.add("an entry has no text")
      outcome.losses = losses
      for fails in [false, true] {
        let lease = try #require(try await server.store.leaseSubscription(for: 60, only: id))
        try await server.store.noteHubs(["https://hub.example/"], topic: url, of: lease)
        if fails { outcome.failure = (status: 404, message: "not found") }
        try await server.store.finishPoll(lease, outcome)
      }
      try await server.store.planHubLeases(callbacks: "https://news.example/v1/websub/")
      let path = "/\(id.uuidString.lowercased())"
      #expect(try await send("GET", path, nil, []).json(Subscription.self).websub?.state == .pending)
      let request = try #require(try await server.store.leaseHubRequest(for: 60))
      let token = String(request.callback.suffix(22))
      #expect(try await server.store.confirmHubLease(token, .subscribe, topic: url, seconds: nil))
      try await server.store.noteHubNotice(token)
      let later = Date() + 9 * 86_400
      let renewal = try #require(try await server.store.leaseHubRequest(for: 60, at: later))
      let busy = HubFailure(message: "busy", wait: 60)
      try await server.store.finishHubRequest(renewal, failure: busy, at: later)
      let before = try await send("GET", path, nil, []).json(Subscription.self)
      #expect(before.lastSuccess != nil && before.lastError?.status == 404)
      let stored = try await server.store.subscription(id)
      #expect(before.losses?.count == 1 && before.losses == stored.losses && before.websub == stored.websub)
      let websub = try #require(before.websub)
      #expect(websub.hub == "https://hub.example/" && websub.state == .active && websub.error == "busy")
      #expect(websub.leaseEnds != nil && websub.lastNotice != nil)
      let changed = try await send("PATCH", path, #"{"title": "Port"}"#, [("If-Match", "*")]).json(Subscription.self)
      #expect(changed.title == "Port" && changed.revision == 2)
      #expect(changed.lastSuccess == before.lastSuccess && changed.lastError == before.lastError)
      #expect(changed.losses == before.losses && changed.websub == before.websub)
    }
  }

  @Test(
    "Texts have a maximum length and no control characters",
    arguments: [("user", 256), ("password", 1024), ("title", 1024)])
  func lengths(field: String, maximum: Int) async throws {
    try await Self.withServer { _, send in
      let longest = String(repeating: "x", count: maximum)
      for (text, isValid) in [(longest + "x", false), ("a\u{7}", false), (longest, true)] {
        var fields = ["url": "https://feeds.example/", "user": "ann", "password": "s3cret"]
        fields[field] = text
        let body = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
        let response = try await send("POST", "", body, [])
        #expect(response.status == (isValid ? 201 : 422), "\(response.text)")
        if !isValid { #expect(try response.json(Problem.self, status: 422).errors?.map(\.field) == [field]) }
      }
    }
  }

  @Test("A password is taken out of the address, kept for its origin and never returned")
  func password() async throws {
    try await Self.withServer { server, send in
      let response = try await send("POST", "", #"{"url": "https://ann:s3cr%40t@feeds.example/a"}"#, [])
      let made = try response.json(Subscription.self, status: 201)
      #expect(made.url == "https://feeds.example/a" && made.user == "ann")
      let path = "/\(made.id.uuidString.lowercased())"
      #expect(
        try await send("PATCH", path, #"{"title": "x"}"#, [("If-Match", "*")]).json(Subscription.self).user == "ann")
      let moved = #"{"url": "https://other.example/a"}"#
      let problem = try await send("PATCH", path, moved, [("If-Match", "*")]).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["password"])
      let again = #"{"url": "https://bob:other@other.example/a"}"#
      #expect(try await send("PATCH", path, again, [("If-Match", "*")]).json(Subscription.self).user == "bob")
      for path in ["", path] {
        let text = String(decoding: try await send("GET", path, nil, []).body, as: UTF8.self)
        #expect(!text.contains("s3cr") && !text.contains("assword") && !text.contains("other@"))
      }
      #expect(
        try await send("PATCH", path, #"{"user": null}"#, [("If-Match", "*")]).json(Subscription.self).user == nil)
      for body in [
        #"{"url": "https://feeds.example/b", "user": "a:b", "password": "x"}"#,
        #"{"url": "https://feeds.example/b", "password": "x"}"#, #"{"url": "https://feeds.example/b", "user": "x"}"#,
        #"{"url": "https://ann@feeds.example/b"}"#, #"{"url": "https://feeds.example/b", "user": "", "password": "x"}"#,
      ] {
        #expect(try await send("POST", "", body, []).status == 422, "\(body)")
      }
    }
  }

  @Test("A feed receives the user and the password of its address, or else those of the fields")
  func credentials() async throws {
    try await Self.withServer { server, send in
      for (body, user, password) in [
        (#"{"url": "https://ann:s3cr%40t@feeds.example/a"}"#, "ann", "s3cr@t"),
        (#"{"url": "https://feeds.example/b", "user": "bob", "password": "p:w"}"#, "bob", "p:w"),
        (#"{"url": "https://ann:one@feeds.example/c", "user": "bob", "password": "two"}"#, "ann", "one"),
      ] {
        let made = try await send("POST", "", body, []).json(Subscription.self, status: 201)
        let lease = try #require(try await server.store.leaseSubscription(for: 60, only: made.id))
        let credentials = try #require(lease.credentials)
        #expect(credentials.origin == "https://feeds.example")
        #expect(credentials.user == user && credentials.password == password, "\(body)")
      }
    }
  }

  @Test("An address is followed once, however it is written")
  func duplicates() async throws {
    try await Self.withServer { _, send in
      let made = try await send("POST", "", #"{"url": "https://feeds.example/a"}"#, [])
        .json(Subscription.self, status: 201)
      let problem = try await send("POST", "", #"{"url": "HTTPS://FEEDS.example.:443/a"}"#, [])
        .json(Problem.self, status: 409)
      #expect(problem.type == "/problems/already-followed")
      #expect(problem.detail?.contains(made.id.uuidString.lowercased()) == true)
      let other = try await send("POST", "", #"{"url": "https://feeds.example/b"}"#, [])
        .json(Subscription.self, status: 201)
      let path = "/\(other.id.uuidString.lowercased())"
      let moved = try await send("PATCH", path, #"{"url": "https://feeds.example/a"}"#, [("If-Match", "*")])
      #expect(moved.status == 409)
    }
  }

  private static let invalidFields: [(String, String)] = [
    (#"{}"#, "url"), (#"{"url": "ftp://feeds.example/"}"#, "url"), (#"{"url": "http://a.example:99999/"}"#, "url"),
    (#"{"url": "http://a.example:18446744073709551616/"}"#, "url"), (#"{"url": 1}"#, "url"),
    (#"{"url": "https://0x7f.1/"}"#, "url"),
    (#"{"url": "https://a.example/", "state": "review"}"#, "state"),
    (#"{"url": "https://a.example/", "topics": ["nowhere"]}"#, "topics"),
    (#"{"url": "https://a.example/", "language": "?"}"#, "language"),
    (#"{"url": "https://a.example/", "interval": 5}"#, "interval"),
  ]

  @Test("Invalid fields are named")
  func invalid() async throws {
    try await Self.withServer { _, send in
      for (body, field) in Self.invalidFields {
        let problem = try await send("POST", "", body, []).json(Problem.self, status: 422)
        #expect(problem.errors?.map(\.field) == [field], "\(body)")
      }
    }
  }

  @Test("A poll is requested, but not of a paused feed")
  func poll() async throws {
    try await Self.withServer { server, send in
      let made = try await send("POST", "", #"{"url": "https://feeds.example/"}"#, []).json(
        Subscription.self, status: 201)
      let path = "/\(made.id.uuidString.lowercased())"
      _ = try #require(try await server.store.leaseSubscription(for: 3600))
      let response = try await send("POST", "\(path)/poll", nil, [])
      let asked = try response.json(Subscription.self, status: 202)
      #expect(asked.id == made.id && asked.nextPoll != nil && response["ETag"] == "\"r1\"")
      // The repetition of a request is no request for a further poll.
      let key = [("Idempotency-Key", "poll")]
      #expect(try await send("POST", "\(path)/poll", nil, key)["Idempotency-Replayed"] == nil)
      #expect(try await send("POST", "\(path)/poll", nil, key)["Idempotency-Replayed"] == "true")
      #expect(try await send("PATCH", path, #"{"paused": true, "revision": 1}"#, []).status == 200)
      let problem = try await send("POST", "\(path)/poll", nil, []).json(Problem.self, status: 409)
      #expect(problem.type == "/problems/subscription-paused")
      #expect(try await send("POST", "/\(UUID().uuidString.lowercased())/poll", nil, []).status == 404)
    }
  }

  @Test("An invalid revision is named", arguments: ["0", "\"1\"", "1.5", "null"])
  func invalidRevision(revision: String) async throws {
    try await Self.withServer { _, send in
      let made = try await send("POST", "", #"{"url": "https://feeds.example/"}"#, []).json(
        Subscription.self, status: 201)
      let problem = try await send(
        "PATCH", "/\(made.id.uuidString.lowercased())", #"{"paused": true, "revision": \#(revision)}"#, []
      ).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["revision"])
    }
  }

  @Test("An unknown parameter is refused")
  func parameters() async throws {
    try await Self.withServer { server, send in
      let path = "/\(UUID().uuidString.lowercased())"
      for (method, target) in [
        ("GET", "?x=1"), ("POST", "?x=1"), ("GET", "\(path)?x=1"), ("PATCH", "\(path)?x=1"), ("DELETE", "\(path)?x=1"),
        ("POST", "\(path)/poll?x=1"),
      ] {
        let body = method == "GET" || method == "DELETE" || target.hasSuffix("/poll?x=1") ? nil : "{}"
        let problem = try await send(method, target, body, [("If-Match", "*")]).json(Problem.self, status: 400)
        #expect(problem.errors?.map(\.field) == ["x"], "\(method) \(target)")
      }
    }
  }

  @Test("Only administrators see and change subscriptions")
  func scope() async throws {
    try await TestServer.with { server in
      let statuses = [
        try await server.send("GET", "/v1/editorial/subscriptions", key: server.key).status,
        try await server.write("POST", "subscriptions", #"{"url": "https://a.example/"}"#).status,
        try await server.get("/v1/editorial/subscriptions").status,
      ]
      #expect(statuses == [403, 403, 401])
    }
  }

  @Test("A topic that is merged or deleted is replaced in subscriptions")
  func topics() async throws {
    try await Self.withServer { server, send in
      try await server.makeTopics(["a", "b", "c"])
      for (number, topics) in [#"["a"]"#, #"["a", "b"]"#, #"["c"]"#].enumerated() {
        let body = #"{"url": "https://feeds.example/\#(number)", "topics": \#(topics)}"#
        #expect(try await send("POST", "", body, []).status == 201)
      }
      #expect(try await server.write("DELETE", "topics/a?mergeInto=b", nil, ("If-Match", "*")).status == 204)
      let merged = try await server.store.subscriptions()
      #expect(merged.map(\.topics) == [["b"], ["b"], ["c"]] && merged.map(\.revision) == [2, 2, 1])
      #expect(try await server.write("DELETE", "topics/b", nil, ("If-Match", "*")).status == 204)
      let deleted = try await server.store.subscriptions()
      #expect(deleted.map(\.topics) == [[], [], ["c"]] && deleted.map(\.revision) == [3, 3, 1])
    }
  }
}
