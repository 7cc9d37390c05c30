import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The rules of single requests about webhooks.
@Suite struct WebhookRequestTests {
  private static let list = "/v1/editorial/webhooks"

  private static func withWebhook(
    _ body: @escaping @Sendable (TestServer, _ key: String, Webhook) async throws -> Void
  ) async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "chief", permissions: [.admin])
      let webhook = try await server.send("POST", Self.list, key: key, body: #"{"url": "https://hooks.example/x"}"#)
        .json(Webhook.self, status: 201)
      try await body(server, key, webhook)
    }
  }

  private static func path(_ webhook: Webhook) -> String { "\(list)/\(webhook.id.uuidString.lowercased())" }

  @Test("An unknown parameter is refused")
  func parameters() async throws {
    try await Self.withWebhook { server, key, webhook in
      let path = Self.path(webhook)
      for (method, target) in [
        ("GET", Self.list), ("POST", Self.list), ("GET", path), ("PATCH", path), ("POST", "\(path)/rotate"),
        ("POST", "\(path)/test"), ("POST", "\(path)/deliveries/\(UUID())/replay"), ("DELETE", path),
      ] {
        let body = method == "PATCH" || target == Self.list && method == "POST" ? "{}" : nil
        let problem = try await server.send(
          method, "\(target)?x=1", key: key, headers: [("If-Match", "*")], body: body
        ).json(Problem.self, status: 400)
        #expect(problem.errors?.map(\.field) == ["x"], "\(method) \(target)")
      }
      #expect(try await server.store.webhook(webhook.id).revision == 1)
    }
  }

  @Test("A change ignores what the server knows of a webhook, and resumes one that the server has paused")
  func knownFields() async throws {
    try await Self.withWebhook { server, key, webhook in
      _ = try await server.sql.query(
        """
        UPDATE webhooks SET paused = true, disabled_reason = 'failing', last_success = now(), failing_since = now(),
          previous_secret = 'whsec_x', previous_until = now() + interval '1 hour'
        WHERE id = \(webhook.id)
        """)
      let read = try await server.send("GET", Self.path(webhook), key: key)
      let known = try read.json(Webhook.self)
      #expect(known.disabledReason == .failing && known.lastSuccess != nil && known.failingSince != nil)
      #expect(known.previousSecretUntil != nil)
      // A client may send back all that it has read.
      let same = try await server.send("PATCH", Self.path(webhook), key: key, body: read.text)
      #expect(same.status == 200, "\(same.text)")
      for body in [#"{"events": ["item.changed"]}"#, #"{"paused": false}"#] {
        let changed = try await server.send(
          "PATCH", Self.path(webhook), key: key, headers: [("If-Match", "*")], body: body)
        #expect(changed.status == 200, "\(changed.text)")
      }
      let end = try await server.store.webhook(webhook.id)
      #expect(!end.paused && end.disabledReason == nil && end.events == [.changed])
    }
  }

  @Test("A repeated request to send an event again has the first answer")
  func repeatedReplay() async throws {
    try await Self.withWebhook { server, key, webhook in
      _ = try await server.send("POST", "\(Self.path(webhook))/test", key: key)
      let message = try #require(try await server.store.leaseWebhookDeliveries(limit: 1, for: 60).first)
      try await server.store.recordOutcome(
        WebhookOutcome(status: 503, milliseconds: 12, error: "busy", result: .failed), of: message)
      let target = "\(Self.path(webhook))/deliveries/\(message.id.uuidString.lowercased())/replay"
      let once = [("Idempotency-Key", "again")]
      let first = try await server.send("POST", target, key: key, headers: once)
      let second = try await server.send("POST", target, key: key, headers: once)
      #expect(first.status == 202 && first["Idempotency-Replayed"] == nil)
      let log = try await server.send("GET", "\(Self.path(webhook))/deliveries?limit=1", key: key)
      #expect(try log.json(WebhookDeliveryList.self).deliveries.map(\.id) == [message.id])
      #expect(second.status == 202 && second["Idempotency-Replayed"] == "true" && second.text == first.text)
    }
  }
}
