import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The log of webhooks: pages, erasure, deletion, and numbers for metrics.
@Suite struct WebhookLogTests {
  private static let start = WebhookStore.start

  @Test("Pages of the log are disjoint and complete, newest first, with the last attempts")
  func pages() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      for version in 1...7 {
        // Several deliveries have the same time.
        try await hooks.insert(.change(version, version: version), at: Self.start + Double(version / 3))
      }
      var found: [WebhookDelivery] = []
      var position: Keyset?
      repeat {
        let page = try await hooks.store.webhookDeliveries(of: UUID(1), after: position, limit: 2)
        #expect(page.deliveries.count == 2 || page.next == nil)
        found += page.deliveries
        position = page.next
      } while position != nil
      #expect(Set(found.compactMap(\.version)) == Set(1...7) && found.count == 7)
      #expect(found.map(\.created) == found.map(\.created).sorted(by: >))
      #expect(try await hooks.store.webhookDeliveries(of: UUID(1), limit: 7).next == nil)
      #expect(try await hooks.store.webhookDeliveries(of: UUID(1), limit: 6).next?.id == found[5].id)
      let newest = try #require(found.first)
      _ = try await hooks.sql.query(
        """
        INSERT INTO webhook_attempts (delivery, number, at, status, milliseconds)
        SELECT \(newest.id), n, \(Self.start), 500, n FROM generate_series(1, 25) AS s (n)
        """)
      let log = try await hooks.log(1)
      #expect(log.first?.attempts.map(\.number) == Array(6...25))
      #expect(log.dropFirst().allSatisfy { $0.attempts.isEmpty })
      await #expect(throws: StoreError.notFound) { try await hooks.store.webhookDeliveries(of: UUID(2), limit: 1) }
    }
  }

  @Test("The erasure of an item deletes its log, but not a retraction that receivers do not know yet")
  func erasure() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      for number in [7, 8] {
        try await hooks.sql.publish([UUID(number)])
        try await hooks.sql.publish(
          [UUID(number)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(number))")
      }
      try await hooks.insert(.change(7, version: 1, .published), .change(8, version: 2, .published))
      try await hooks.insert(.change(7, version: 3, .retracted), .change(8, version: 4, .retracted), at: Self.start + 1)
      for _ in 0..<2 { try await hooks.finish(.delivered, at: Self.start) }
      _ = try await hooks.store.erase(UUID(7), reason: nil, if: .exists)
      #expect(
        Set(try await hooks.log(1).map { "\($0.version ?? 0) \($0.state)" }) == ["3 due", "2 delivered", "4 due"])
      try await hooks.finish(.retried(after: 0), at: Self.start + 1)
      #expect(try await hooks.log(1).contains { $0.version == 3 && $0.state == .due })
      try await hooks.finish(.delivered, at: Self.start + 1)
      try await hooks.finish(.delivered, at: Self.start + 1)
      #expect(Set(try await hooks.log(1).compactMap(\.version)) == [2, 4])
      _ = try await hooks.sql.query("DELETE FROM items WHERE id = \(UUID(8))")
      #expect(try await hooks.log(1).isEmpty)
      #expect(try await hooks.sql.query("SELECT 1 FROM webhook_attempts").isEmpty)
    }
  }

  @Test("Deliveries are deleted after 30 days, with their attempts")
  func purge() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      try await hooks.finish(.delivered)
      try await hooks.insert(.change(1, version: 2), at: Self.start + 1)
      _ = try await hooks.sql.query(
        """
        INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state)
        SELECT gen_random_uuid(), \(UUID(1)), 'webhook.test', \(Self.start), \(Self.start), 'failed'
        FROM generate_series(1, 1200)
        """)
      try await hooks.store.purgeWebhookDeliveries(at: Self.start + 30 * 86_400)
      #expect(try await hooks.log(1).map(\.version) == [2])
      #expect(try await hooks.sql.query("SELECT 1 FROM webhook_attempts").isEmpty)
      // A row that another transaction has locked is left for the next time.
      try await hooks.sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM webhook_deliveries FOR UPDATE")
        try await hooks.store.purgeWebhookDeliveries(at: Self.start + 30 * 86_400 + 1)
      }
      #expect(try await hooks.log(1).map(\.version) == [2])
      try await hooks.store.purgeWebhookDeliveries(at: Self.start + 30 * 86_400 + 1)
      #expect(try await hooks.log(1).isEmpty)
    }
  }

  @Test("The times of webhooks and their deliveries are whole milliseconds, like the positions of pages")
  func milliseconds() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1), .change(2, version: 2), at: Self.start + 0.2504)
      let test = try await hooks.store.testWebhook(UUID(1), at: Self.start + 0.5004)
      #expect(test.created == Self.start + 0.5)
      let (log, times) = (try await hooks.log(1), [0.5, 0.25, 0.25].map { Self.start + $0 })
      #expect(log.map(\.created) == times && log.compactMap(\.nextAttempt) == times)
      try await hooks.finish(.delivered, at: Self.start + 0.7504)
      try await hooks.finish(.failed, at: Self.start + 0.8754)
      let webhook = try await hooks.store.webhook(UUID(1))
      #expect(webhook.lastSuccess == Self.start + 0.75 && webhook.failingSince == Self.start + 0.875)
      let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
      let made = try await hooks.store.createWebhook(
        UUID(2), WebhookContent(url: "https://b.example/"), secret: .random(), at: now + 0.1254)
      let rotated = try await hooks.store.rotateWebhook(UUID(2), to: .random(), at: now + 0.1254)
      #expect(made.created == now + 0.125 && rotated.previousSecretUntil == now + 86_400.125)
    }
  }

  @Test("The deletion of a webhook deletes its log, also during an attempt")
  func deletion() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1), .change(1, version: 2))
      try await hooks.finish(.delivered)
      let message = try await hooks.only()
      try await hooks.store.removeWebhook(UUID(1), if: .exists)
      #expect(
        try await hooks.store.recordOutcome(WebhookStore.outcome(.gone), of: message, at: Self.start) == nil)
      #expect(try await hooks.sql.query("SELECT 1 FROM webhook_deliveries").isEmpty)
      #expect(try await hooks.sql.query("SELECT 1 FROM webhook_attempts").isEmpty)
    }
  }

  @Test("The numbers for metrics leave out what waits for a pause to end")
  func counts() async throws {
    try await WebhookStore.with { hooks in
      for number in 1...3 { try await hooks.add(number, url: "https://a.example/") }
      try await hooks.insert(.change(1, version: 1))
      let message = try #require(try await hooks.claim(1).first)
      _ = try await hooks.store.recordOutcome(WebhookStore.outcome(.retried(after: 40)), of: message, at: Self.start)
      try await hooks.store.countWebhooks(at: Self.start + 10)
      var counts = WebhookCounts()
      (counts.working, counts.failing, counts.due, counts.overdueSeconds) = (2, 1, 3, 10)
      #expect(hooks.store.webhookActivity.counts == counts)
      for webhook in try await hooks.store.webhooks() where webhook.failingSince == nil {
        _ = try await hooks.store.modifyWebhook(webhook.id, if: .exists) { webhook in
          var content = WebhookContent(webhook)
          content.paused = true
          return content
        }
      }
      try await hooks.store.countWebhooks(at: Self.start + 50)
      (counts.working, counts.paused, counts.due, counts.overdueSeconds) = (0, 2, 1, 10)
      #expect(hooks.store.webhookActivity.counts == counts)
      // A delivery that is due later is not overdue.
      try await hooks.store.countWebhooks(at: Self.start + 30)
      counts.overdueSeconds = 0
      #expect(hooks.store.webhookActivity.counts == counts)
      _ = try await hooks.store.modifyWebhook(message.webhook, if: .exists) { webhook in
        var content = WebhookContent(webhook)
        content.paused = true
        return content
      }
      try await hooks.store.countWebhooks(at: Self.start + 50)
      (counts.failing, counts.paused, counts.due) = (0, 3, 0)
      #expect(hooks.store.webhookActivity.counts == counts)
    }
  }

  @Test("What was delivered is due no more, and the delivery that waits longest tells how late they are")
  func overdue() async throws {
    try await WebhookStore.with { hooks in
      for number in 1...2 { try await hooks.add(number) }
      try await hooks.insert(.change(1, version: 1))
      let message = try #require(try await hooks.claim(1).first)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.delivered), of: message, at: Self.start)
      try await hooks.insert(.change(1, version: 2), at: Self.start + 20)
      try await hooks.store.countWebhooks(at: Self.start + 30)
      var counts = WebhookCounts()
      (counts.working, counts.due, counts.overdueSeconds) = (2, 3, 30)
      #expect(hooks.store.webhookActivity.counts == counts)
    }
  }
}
