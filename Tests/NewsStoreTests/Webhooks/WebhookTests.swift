import BackgroundWork
import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Webhooks as editors write them.
@Suite struct WebhookTests {
  private static let start = Date(timeIntervalSince1970: 2_000_000_000)

  @Test("A webhook is created, read, changed under its lock and deleted")
  func life() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      let content = WebhookContent(
        url: "https://hooks.example/x?key=1", events: [.changed, .expired], topics: ["a", "b"])
      let made = try await store.createWebhook(UUID(1), content, secret: .random(), at: Self.start)
      #expect(made.url == content.url && made.events == content.events && made.topics == content.topics)
      #expect(made.created == Self.start && made.revision == 1 && !made.paused && made.secret == nil)
      #expect(try await store.webhook(UUID(1)) == made && WebhookContent(made) == content)
      // Those of one time are in the order of their ids.
      let third = try await store.createWebhook(
        UUID(2), WebhookContent(url: "https://b.example/"), secret: .random(), at: Self.start + 1)
      let second = try await store.createWebhook(
        UUID(0), WebhookContent(url: "https://a.example/"), secret: .random(), at: Self.start + 1)
      #expect(second.topics == nil && second.events == Webhook.Event.allCases)
      #expect(try await store.webhooks() == [made, second, third])

      await #expect(throws: StoreError.preconditionRequired) {
        try await store.modifyWebhook(UUID(1), if: .none) { WebhookContent($0) }
      }
      await #expect(throws: StoreError.preconditionFailed) {
        try await store.modifyWebhook(UUID(1), if: .revisions([2])) { WebhookContent($0) }
      }
      #expect(try await store.modifyWebhook(UUID(1), if: .revisions([1])) { WebhookContent($0) } == made)
      let paused = try await store.modifyWebhook(UUID(1), if: .revisions([1])) { webhook in
        var content = WebhookContent(webhook)
        content.paused = true
        content.topics = nil
        return content
      }
      #expect(paused.paused && paused.topics == nil && paused.revision == 2 && paused.disabledReason == nil)
      #expect(WebhookContent(paused).paused && paused.url == content.url && paused.events == content.events)

      await #expect(throws: StoreError.preconditionFailed) {
        try await store.removeWebhook(UUID(1), if: .revisions([1]))
      }
      try await store.removeWebhook(UUID(1), if: .revisions([2]))
      await #expect(throws: StoreError.notFound) { try await store.webhook(UUID(1)) }
      #expect(try await store.webhooks() == [second, third])
    }
  }

  @Test("Unknown topics are refused")
  func unknownTopics() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      let content = WebhookContent(url: "https://hooks.example/", topics: ["a", "b"])
      await #expect(throws: StoreError.unknownTopics(["b"])) {
        try await store.createWebhook(UUID(1), content, secret: .random())
      }
      _ = try await store.createWebhook(UUID(1), WebhookContent(url: content.url), secret: .random())
      await #expect(throws: StoreError.unknownTopics(["b"])) {
        try await store.modifyWebhook(UUID(1), if: .exists) { _ in content }
      }
    }
  }

  @Test("There are at most 100 webhooks, also if two are created at a time")
  func limit() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        """
        INSERT INTO webhooks (id, url, events, secret, created_at)
        SELECT gen_random_uuid(), 'https://hooks.example/', '{item.changed}', 'whsec_x', clock_timestamp()
        FROM generate_series(1, 99)
        """)
      let created = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<4 {
          group.addTask {
            do {
              _ = try await store.createWebhook(
                UUID(number), WebhookContent(url: "https://hooks.example/"), secret: .random())
              return true
            } catch StoreError.webhookLimit(100) {
              return false
            } catch {
              Issue.record("\(error)")
              return false
            }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(created == 1)
      #expect(try await sql.value("SELECT count(*) FROM webhooks", as: Int.self) == 100)
    }
  }

  @Test("After a rotation both secrets sign for 24 hours, and an earlier one not at all")
  func rotation() async throws {
    try await NewsDatabase.withStore { store, _ in
      let secrets = (0..<3).map { _ in WebhookSecret.random() }
      let now = Date()
      _ = try await store.createWebhook(
        UUID(1), WebhookContent(url: "https://hooks.example/"), secret: secrets[0], at: now)
      _ = try await store.createWebhook(
        UUID(3), WebhookContent(url: "https://hooks.example/"), secret: .random(), at: now)
      func signing(at now: Date) async throws -> [WebhookSecret] {
        _ = try await store.testWebhook(UUID(1), at: now)
        #expect(store.webhookActivity.wake.take())
        #expect(!store.webhookActivity.wake.take())
        let message = try #require(try await store.leaseWebhookDeliveries(limit: 1, for: 60, at: now).first)
        try await store.recordOutcome(
          WebhookOutcome(status: 200, milliseconds: 1, result: .delivered), of: message, at: now)
        return message.secrets
      }
      #expect(try await signing(at: now) == [secrets[0]])
      let rotated = try await store.rotateWebhook(UUID(1), to: secrets[1], at: now)
      #expect(rotated.revision == 2 && rotated.secret == nil)
      #expect(abs(try #require(rotated.previousSecretUntil).timeIntervalSince(now) - 86_400) < 1)
      #expect(try await signing(at: now + 86_399) == [secrets[1], secrets[0]])
      #expect(try await signing(at: now + 86_400) == [secrets[1]])
      _ = try await store.rotateWebhook(UUID(1), to: secrets[2], at: now + 10)
      #expect(try await signing(at: now + 20) == [secrets[2], secrets[1]])
      #expect(try await store.webhook(UUID(1), withSecret: secrets[2])?.revision == 3)
      #expect(try await store.webhook(UUID(1), withSecret: secrets[1]) == nil)
      #expect(try await store.webhook(UUID(3), withSecret: secrets[2]) == nil)
      #expect(try await store.webhook(UUID(3)).revision == 1)
      await #expect(throws: StoreError.notFound) { try await store.rotateWebhook(UUID(2), to: secrets[2]) }
      // The end of a secret is shown until it has passed.
      let ended = try await store.rotateWebhook(UUID(1), to: secrets[0], at: now - 86_500)
      #expect(ended.revision == 4 && ended.previousSecretUntil == nil)
    }
  }

  @Test("A secret has a prefix and base64 of 24 to 64 bytes")
  func secrets() throws {
    let random = WebhookSecret.random()
    #expect(random.key.count == 32 && random.text.hasPrefix("whsec_"))
    #expect(WebhookSecret(random.text) == random)
    #expect(random != .random())
    for count in [24, 64] {
      let text = "whsec_" + Data(repeating: 7, count: count).base64EncodedString()
      #expect(WebhookSecret(text)?.key.count == count)
    }
    for count in [0, 23, 65] {
      #expect(WebhookSecret("whsec_" + Data(repeating: 7, count: count).base64EncodedString()) == nil)
    }
    for text in ["", "whsec_", String(random.text.dropFirst(6)), "WHSEC_" + random.text.dropFirst(6), "whsec_äöü"] {
      #expect(WebhookSecret(text) == nil)
    }
  }
}
