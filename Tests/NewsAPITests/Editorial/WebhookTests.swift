import Foundation
import NetworkAddresses
import News
import NewsAPI
import NewsStore
import OutgoingHTTP
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Webhooks by the API.
@Suite struct WebhookTests {
  private typealias Send = @Sendable (String, String, String?, [(String, String)]) async throws -> TestResponse

  /// Runs the body with a server and a key of an administrator.
  private static func withServer(
    _ body: @escaping @Sendable (TestServer, _ send: @escaping Send) async throws -> Void
  ) async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      try await body(server) { method, path, text, fields in
        try await server.send(method, "/v1/editorial/webhooks\(path)", key: key, headers: fields, body: text)
      }
    }
  }

  private static func make(_ send: Send, _ fields: String = "") async throws -> (webhook: Webhook, path: String) {
    let body = #"{"url": "https://hooks.example/x"\#(fields)}"#
    let webhook = try await send("POST", "", body, []).json(Webhook.self, status: 201)
    return (webhook, "/\(webhook.id.uuidString.lowercased())")
  }

  @Test(
    "An address that can never be reached is refused when a webhook is created or moved",
    arguments: [
      "https://127.0.0.1/x", "https://10.1.2.3/x", "http://169.254.169.254/latest", "https://[::1]/x",
      "https://[fd00::1]:8443/x", "https://[::ffff:8.8.8.8]/x", "https://localhost/x", "https://Hooks.LocalHost./x",
      "https://8.8.8.8:25/x",
    ])
  func privateAddress(url: String) async throws {
    try await Self.withServer { server, send in
      let problem = try await send("POST", "", #"{"url": "\#(url)"}"#, []).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["url"], "\(problem)")
      // The rule ends with the reason.
      #expect(problem.errors?.first?.rule.hasSuffix(": ") == false)
      let (webhook, path) = try await Self.make(send)
      let lock = [("If-Match", "\"r1\"")]
      let moved = try await send("PATCH", path, #"{"url": "\#(url)"}"#, lock).json(Problem.self, status: 422)
      #expect(moved.errors?.map(\.field) == ["url"])
      // One from before the rule can still be paused.
      _ = try await server.sql.query("UPDATE webhooks SET url = 'https://10.9.9.9/' WHERE id = \(webhook.id)")
      let paused = try await send("PATCH", path, #"{"paused": true}"#, lock).json(Webhook.self)
      #expect(paused.paused && paused.url == "https://10.9.9.9/")
    }
  }

  @Test("An address in a network that the operator has allowed is accepted, and no other one")
  func allowedNetwork() async throws {
    try await TestServer.with(settings: { settings in
      settings.addressPolicy.allowedNetworks = [IPNetwork("10.1.0.0/16")].compactMap(\.self)
    }) { server in
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      for (host, status) in [("10.1.2.3", 201), ("10.2.2.3", 422)] {
        let response = try await server.send(
          "POST", "/v1/editorial/webhooks", key: key, body: #"{"url": "https://\#(host)/x"}"#)
        #expect(response.status == status, "\(host)")
      }
    }
  }

  @Test("A webhook is created, read, changed under its lock and deleted, and its secret is shown once")
  func life() async throws {
    try await Self.withServer { server, send in
      try await server.makeTopics(["sport"])
      let body = """
        {"url": "HTTPS://Hooks.Example:443/a#x", "topics": ["sport"], "events": ["item.expired", "item.changed"]}
        """
      let response = try await send("POST", "", body, [])
      var made = try response.json(Webhook.self, status: 201)
      let secret = try #require(made.secret)
      #expect(WebhookSecret(secret) != nil)
      #expect(made.url == "https://hooks.example/a" && made.events == [.changed, .expired])
      #expect(made.topics == ["sport"] && !made.paused && made.revision == 1)
      let path = "/\(made.id.uuidString.lowercased())"
      #expect(response["Location"] == "/v1/editorial/webhooks\(path)" && response["ETag"] == "\"r1\"")
      made.secret = nil
      #expect(try await send("GET", path, nil, []).json(Webhook.self) == made)
      #expect(try await send("GET", path, nil, [("If-None-Match", "\"r1\"")]).status == 304)
      #expect(try await send("GET", "", nil, []).json(WebhookList.self).webhooks == [made])

      let patch = #"{"paused": true, "topics": null, "events": null}"#
      #expect(try await send("PATCH", path, patch, []).status == 428)
      #expect(try await send("PATCH", path, patch, [("If-Match", "\"r2\"")]).status == 412)
      let type = ("Content-Type", "application/merge-patch+json")
      let paused = try await send("PATCH", path, patch, [("If-Match", "\"r1\""), type]).json(Webhook.self)
      #expect(paused.paused && paused.topics == nil && paused.events == Webhook.Event.allCases && paused.revision == 2)
      #expect(paused.secret == nil)
      #expect(try await send("PATCH", path, patch, [("If-Match", "\"r2\"")]).json(Webhook.self) == paused)

      #expect(try await send("DELETE", path, nil, []).status == 428)
      #expect(try await send("DELETE", path, nil, [("If-Match", "\"r1\"")]).status == 412)
      #expect(try await send("DELETE", path, nil, [("If-Match", "*")]).status == 204)
      #expect(try await send("GET", path, nil, []).status == 404)
    }
  }

  private static let invalidFields: [(String, String)] = [
    (#"{}"#, "url"), (#"{"url": "ftp://hooks.example/"}"#, "url"), (#"{"url": "http://a.example:99999/"}"#, "url"),
    (#"{"url": "http://a.example:18446744073709551616/"}"#, "url"), (#"{"url": 1}"#, "url"),
    (#"{"url": "https://user:secret@hooks.example/"}"#, "url"), (#"{"url": "https://0x7f.1/"}"#, "url"),
    (#"{"url": "https://a.example/", "events": []}"#, "events"),
    (#"{"url": "https://a.example/", "events": ["item.changed", "item.changed"]}"#, "events"),
    (#"{"url": "https://a.example/", "events": ["webhook.test"]}"#, "events"),
    (#"{"url": "https://a.example/", "events": "item.changed"}"#, "events"),
    (#"{"url": "https://a.example/", "topics": []}"#, "topics"),
    (#"{"url": "https://a.example/", "topics": ["nowhere"]}"#, "topics"),
    (#"{"url": "https://a.example/", "topics": [1]}"#, "topics"),
    (#"{"url": "https://a.example/", "paused": 1}"#, "paused"),
    (#"{"url": "https://a.example/", "secret": "whsec_AAAA"}"#, "secret"),
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

  @Test("A webhook has at most 32 topics")
  func manyTopics() async throws {
    try await Self.withServer { server, send in
      let topics = (1...33).map { "t\($0)" }
      try await server.makeTopics(topics)
      func list(_ count: Int) -> String { "[" + topics.prefix(count).map { "\"\($0)\"" }.joined(separator: ",") + "]" }
      let (webhook, path) = try await Self.make(send, #", "topics": \#(list(32))"#)
      #expect(webhook.topics == topics.prefix(32).sorted())
      let paused = try await send("PATCH", path, #"{"paused": true}"#, [("If-Match", "*")]).json(Webhook.self)
      #expect(paused.paused && paused.topics == webhook.topics)
      let patch = #"{"topics": \#(list(33))}"#
      let problem = try await send("PATCH", path, patch, [("If-Match", "*")]).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == ["topics"])
      let unknown = try await send("PATCH", path, #"{"topics": ["nowhere"]}"#, [("If-Match", "*")])
      #expect(try unknown.json(Problem.self, status: 422).errors?.map(\.field) == ["topics"])
    }
  }

  @Test("A rotation shows a new secret, and names the end of the old one")
  func rotation() async throws {
    try await Self.withServer { _, send in
      let (webhook, path) = try await Self.make(send)
      let response = try await send("POST", "\(path)/rotate", nil, [])
      let rotated = try response.json(Webhook.self)
      #expect(rotated.secret != nil && rotated.secret != webhook.secret && rotated.revision == 2)
      #expect(try #require(rotated.previousSecretUntil) > Date() + 86_000 && response["ETag"] == "\"r2\"")
      #expect(try await send("POST", "/\(UUID().uuidString.lowercased())/rotate", nil, []).status == 404)
    }
  }

  @Test("A repetition has the first answer without the secret, which is stored nowhere else")
  func repetition() async throws {
    try await Self.withServer { server, send in
      let (once, twice) = ([("Idempotency-Key", "create")], [("Idempotency-Key", "rotate")])
      let body = #"{"url": "https://hooks.example/"}"#
      let first = try await send("POST", "", body, once).json(Webhook.self, status: 201)
      let again = try await send("POST", "", body, once)
      #expect(again["Idempotency-Replayed"] == "true" && again["ETag"] == "\"r1\"" && again["Location"] != nil)
      let repeated = try again.json(Webhook.self, status: 201)
      #expect(repeated.id == first.id && repeated.secret == nil && first.secret != nil)
      let path = "/\(first.id.uuidString.lowercased())"
      let rotated = try await send("POST", "\(path)/rotate", nil, twice).json(Webhook.self)
      let other = try await send("POST", "\(path)/rotate", nil, twice)
      #expect(try other.json(Webhook.self).secret == nil && other["Idempotency-Replayed"] == "true")
      #expect(try await server.store.webhook(first.id).revision == 2)
      for secret in [first.secret, rotated.secret] {
        let text = String(try #require(secret).dropFirst("whsec_".count))
        let stored = try await server.sql.query(
          "SELECT 1 FROM idempotency_answers AS a WHERE position(\(text) IN convert_from(a.body, 'UTF8')) > 0")
        #expect(stored.isEmpty)
      }
      #expect(try await server.sql.query("SELECT 1 FROM idempotency_answers").count == 2)
    }
  }

  @Test("A new secret is shown also if the answer to its COMMIT is lost")
  func lostAnswer() async throws {
    try await TestServer.withProxiedDatabase { server, proxy in
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      _ = try await server.sql.query(
        """
        CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS '
        BEGIN
          PERFORM pg_advisory_xact_lock_shared(4711);
          RETURN NULL;
        END'
        """)
      _ = try await server.sql.query(
        """
        CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT OR UPDATE ON webhooks DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION wait_at_commit()
        """)
      @Sendable func write(_ path: String, _ body: String?) async throws -> TestResponse {
        let writing = try await server.sql.transaction { transaction in
          _ = try await transaction.query("SELECT pg_advisory_xact_lock(4711)")
          let writing = Task {
            try await server.send(
              "POST", "/v1/editorial/webhooks\(path)", key: key, headers: [("Idempotency-Key", "once")], body: body)
          }
          try await eventually("the COMMIT waits") {
            try await server.sql.query(
              """
              SELECT 1 FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'
              """
            ).count == 1
          }
          proxy.spoil(.cut, after: 0)
          return writing
        }
        return try await writing.value
      }
      let made = try await write("", #"{"url": "https://hooks.example/"}"#).json(Webhook.self, status: 201)
      let rotated = try await write("/\(made.id.uuidString.lowercased())/rotate", nil).json(Webhook.self)
      #expect(made.secret != nil && made.secret != rotated.secret)
      let secret = try #require(rotated.secret.flatMap { WebhookSecret($0) })
      #expect(try await server.store.webhook(made.id, withSecret: secret) != nil)
    }
  }

  @Test("A test and a replay are accepted once for each request, and shown in the log page by page")
  func deliveries() async throws {
    try await Self.withServer { server, send in
      let (webhook, path) = try await Self.make(send)
      let response = try await send("POST", "\(path)/test", nil, [("Idempotency-Key", "t")])
      let test = try response.json(WebhookDelivery.self, status: 202)
      #expect(test.event == "webhook.test" && test.state == .due && test.item == nil && test.attempts.isEmpty)
      #expect(try await send("POST", "\(path)/test", nil, [("Idempotency-Key", "t")]).text == response.text)
      for _ in 0..<2 { _ = try await send("POST", "\(path)/test", nil, []) }
      let item = try await server.publish("one")
      let event = OutboxEvent(
        item: item.item.id, version: item.item.version, kind: .published, at: item.item.updated, topics: [])
      _ = try await server.sql.query(NewsStore.webhookInsertion(of: [event], publicURL: nil))

      let page = try await send("GET", "\(path)/deliveries?limit=3", nil, [])
      let first = try page.json(WebhookDeliveryList.self).deliveries
      let link = try #require(page["Link"]?.firstMatch(of: /<\/v1\/editorial\/webhooks(.*)>; rel="next"/)?.1)
      let rest = try await send("GET", String(link), nil, [])
      #expect(rest["Link"] == nil)
      let all = first + (try rest.json(WebhookDeliveryList.self).deliveries)
      #expect(first.count == 3 && Set(all.map(\.id)).count == 4 && all.map(\.id).contains(test.id))
      let published = try #require(all.first { $0.event == "item.published" })
      #expect(published.item == item.item.id && published.version == item.item.version)
      #expect(try await send("GET", "\(path)/deliveries?limit=200", nil, []).status == 200)
      for query in ["limit=0", "limit=201", "cursor=x", "state=due"] {
        #expect(try await send("GET", "\(path)/deliveries?\(query)", nil, []).status == 400)
      }
      // The cursor belongs to its webhook.
      let other = try await Self.make(send)
      let foreign = link.replacing(path, with: other.path)
      #expect(try await send("GET", String(foreign), nil, []).status == 400)

      let claimed = try await server.store.leaseWebhookDeliveries(limit: 1, for: 60)
      let message = try #require(claimed.first)
      try await server.store.recordOutcome(
        WebhookOutcome(status: 503, milliseconds: 12, error: "busy", result: .failed), of: message)
      let target = "\(path)/deliveries/\(message.id.uuidString.lowercased())/replay"
      let accepted = try await send("POST", target, nil, [("Idempotency-Key", "r")])
      let replayed = try accepted.json(WebhookDelivery.self, status: 202)
      let again = try await send("POST", target, nil, [("Idempotency-Key", "r")])
      #expect(again["Idempotency-Replayed"] == "true" && again.text == accepted.text)
      #expect(replayed.id == message.id && replayed.state == .due && replayed.attempts.first?.status == 503)
      #expect(try await send("POST", target.replacing(path, with: other.path), nil, []).status == 404)
      #expect(try await send("POST", "\(path)/deliveries/x/replay", nil, []).status == 404)

      #expect(try await send("PATCH", path, #"{"paused": true, "revision": 1}"#, []).status == 200)
      for target in [target, "\(path)/test"] {
        let problem = try await send("POST", target, nil, []).json(Problem.self, status: 409)
        #expect(problem.type == "/problems/webhook-paused")
      }
      #expect(try await server.store.webhook(webhook.id).paused)
    }
  }

  @Test("A page of the log has 50 deliveries unless the request names a number, and the last page names no next one")
  func pageSize() async throws {
    try await Self.withServer { server, send in
      let (webhook, path) = try await Self.make(send)
      _ = try await server.sql.query(
        """
        INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state)
        SELECT gen_random_uuid(), \(webhook.id)::uuid, 'webhook.test', c.now, c.now, 'delivered'
        FROM (SELECT date_trunc('second', clock_timestamp()) AS now) AS c CROSS JOIN generate_series(1, 51)
        """)
      let first = try await send("GET", "\(path)/deliveries", nil, [])
      let deliveries = try first.json(WebhookDeliveryList.self).deliveries
      let next = try #require(first["Link"]?.firstMatch(of: /<\/v1\/editorial\/webhooks(.*)>; rel="next"/)?.1)
      let last = try await send("GET", String(next), nil, [])
      let rest = try last.json(WebhookDeliveryList.self).deliveries
      #expect(deliveries.count == 50 && rest.count == 1 && last["Link"] == nil)
      #expect(Set((deliveries + rest).map(\.id)).count == 51)
    }
  }

  @Test("There are at most 100 webhooks")
  func limit() async throws {
    try await Self.withServer { server, send in
      _ = try await server.sql.query(
        """
        INSERT INTO webhooks (id, url, events, secret, created_at)
        SELECT gen_random_uuid(), 'https://hooks.example/', '{item.changed}', 'whsec_x', clock_timestamp()
        FROM generate_series(1, 100)
        """)
      let problem = try await send("POST", "", #"{"url": "https://a.example/"}"#, []).json(Problem.self, status: 409)
      #expect(problem.type == "/problems/webhook-limit")
    }
  }

  @Test("Only administrators see and change webhooks")
  func scope() async throws {
    try await TestServer.with { server in
      let path = "/v1/editorial/webhooks/\(UUID().uuidString.lowercased())"
      for (method, target) in [
        ("GET", "/v1/editorial/webhooks"), ("POST", "/v1/editorial/webhooks"), ("GET", path), ("DELETE", path),
        ("PATCH", path),
        ("POST", "\(path)/rotate"), ("POST", "\(path)/test"), ("GET", "\(path)/deliveries"),
        ("POST", "\(path)/deliveries/\(UUID().uuidString.lowercased())/replay"),
      ] {
        let refused = try await server.send(method, target, key: server.key)
        let keyless = try await server.send(method, target)
        #expect(refused.status == 403 && keyless.status == 401)
      }
    }
  }

  @Test("A topic that is merged or deleted is replaced in webhooks, and a webhook without topics receives nothing")
  func topics() async throws {
    try await Self.withServer { server, send in
      try await server.makeTopics(["a", "b"])
      let (webhook, path) = try await Self.make(send, #", "topics": ["a"]"#)
      #expect(try await server.write("DELETE", "topics/a?mergeInto=b", nil, ("If-Match", "*")).status == 204)
      #expect(try await server.store.webhook(webhook.id).topics == ["b"])
      #expect(try await server.write("DELETE", "topics/b", nil, ("If-Match", "*")).status == 204)
      let empty = try await send("GET", path, nil, []).json(Webhook.self)
      #expect(empty.topics == [] && empty.revision == 3)
      let event = OutboxEvent(item: UUID(), version: 1, kind: .changed, at: Date(), topics: ["c"])
      _ = try await server.sql.query(NewsStore.webhookInsertion(of: [event], publicURL: nil))
      #expect(try await server.store.webhookDeliveries(of: webhook.id, limit: 1).deliveries.isEmpty)
      // Other properties can still be changed.
      let paused = try await send("PATCH", path, #"{"paused": true}"#, [("If-Match", "*")]).json(Webhook.self)
      #expect(paused.paused && paused.topics == [])
      let all = try await send("PATCH", path, #"{"topics": null}"#, [("If-Match", "*")]).json(Webhook.self)
      #expect(all.topics == nil)
    }
  }

  @Test("The metrics show the webhooks, what is due, and the attempts of the process")
  func metrics() async throws {
    try await Self.withServer { server, send in
      _ = try await Self.make(send)
      for text in ["one", "two", "three"] {
        let made = try await server.write("POST", "items", #"{"text": "\#(text)", "state": "published"}"#)
        #expect(made.status == 201)
      }
      while try await server.store.collectOutbox(window: .zero) {}
      let message = try #require(try await server.store.leaseWebhookDeliveries(limit: 1, for: 60).first)
      try await server.store.recordOutcome(
        WebhookOutcome(status: 500, milliseconds: 1, error: "x", result: .failed), of: message)
      for fields in ["", "", #", "paused": true"#, #", "paused": true"#, #", "paused": true"#] {
        _ = try await Self.make(send, fields)
      }
      try await server.store.countWebhooks(at: Date() + 100)
      let scrape = try await server.scrape()
      #expect(scrape.value("tidings_webhook_attempts_total", ["outcome": "failed"]) == 1)
      #expect(scrape.value("tidings_webhook_attempts_total", ["outcome": "delivered"]) == 0)
      #expect(scrape.value("tidings_webhooks", ["state": "failing"]) == 1)
      #expect(scrape.value("tidings_webhooks", ["state": "working"]) == 2)
      #expect(scrape.value("tidings_webhooks", ["state": "paused"]) == 3)
      #expect(scrape.value("tidings_webhook_deliveries_due") == 2)
      #expect(90...1000 ~= scrape.value("tidings_webhook_overdue_seconds"))
    }
  }
}
