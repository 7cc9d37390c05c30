import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Writes of editors, requests and the reader of the outbox that meet at one webhook.
@Suite struct WebhookRaceTests {
  private static let start = WebhookStore.start

  /// Waits until statements wait for locks of other transactions.
  private static func untilBlocked(_ sql: PostgresPool, _ count: Int = 1) async throws {
    try await eventually("statements wait for locks") {
      try await sql.value(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """) == count
    }
  }

  @Test("Two processes that claim at the same time send one event to a webhook")
  func twoClaims() async throws {
    try await withTwoStores { first, second, sql in
      let (hooks, others) = (WebhookStore(store: first, sql: sql), WebhookStore(store: second, sql: sql))
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      let claiming = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM webhook_deliveries FOR UPDATE")
        let claim = Task { try await hooks.claim() }
        try await Self.untilBlocked(sql)
        // The second process would choose an older event, which no claim has locked.
        try await hooks.insert(.change(2, version: 2), at: Self.start - 10)
        let other = Task { try await others.claim() }
        try await Self.untilBlocked(sql, 2)
        return [claim, other]
      }
      var versions: [Int?] = []
      for claim in claiming { versions += try await claim.value.map { $0.change?.version } }
      #expect(versions == [1])
    }
  }

  @Test("A change that waits for another one is refused if its revision is no longer the current one")
  func twoChanges() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      let changing = try await hooks.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE webhooks SET url = 'https://new.example/', revision = revision + 1")
        let changing = Task {
          try await hooks.store.modifyWebhook(UUID(1), if: .revisions([1])) { webhook in
            var content = WebhookContent(webhook)
            content.paused = true
            return content
          }
        }
        try await Self.untilBlocked(hooks.sql)
        return changing
      }
      await #expect(throws: StoreError.preconditionFailed) { try await changing.value }
      let webhook = try await hooks.store.webhook(UUID(1))
      #expect(webhook.url == "https://new.example/" && !webhook.paused && webhook.revision == 2)
    }
  }

  @Test("The end of a receiver that is reported while an editor pauses the webhook is not the reason of the pause")
  func pausedDuringOutcome() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      let message = try await hooks.only()
      let recording = try await hooks.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE webhooks SET paused = true, revision = revision + 1")
        let recording = Task {
          try await hooks.store.recordOutcome(WebhookStore.outcome(.gone), of: message, at: Self.start + 1)
        }
        try await Self.untilBlocked(hooks.sql)
        return recording
      }
      let reason = try await recording.value
      let webhook = try await hooks.store.webhook(UUID(1))
      #expect(reason == nil && webhook.paused && webhook.disabledReason == nil && webhook.revision == 2)
    }
  }

  @Test("A webhook that is deleted while changes are read from the outbox receives none, and others receive theirs")
  func deletedDuringCollection() async throws {
    try await WebhookStore.with { hooks in
      for number in 1...2 { try await hooks.add(number) }
      try await hooks.sql.publish([UUID(7)])
      let collecting = try await hooks.sql.transaction { transaction in
        _ = try await transaction.query("DELETE FROM webhooks WHERE id = \(UUID(1))")
        let collecting = Task { try await hooks.store.collectOutbox(window: .seconds(60)) }
        try await Self.untilBlocked(hooks.sql)
        return collecting
      }
      let hasMore = try await collecting.value
      #expect(!hasMore)
      #expect(try await hooks.log(2).map(\.event) == ["item.published"])
    }
  }

  @Test("A late success after the end of the receiver leaves the webhook paused for the same reason")
  func lateSuccess() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1), .change(1, version: 2))
      let late = try await hooks.only()
      // Its claim has ended. The other event has been due for a longer time.
      let next = try await hooks.only(at: Self.start + 60)
      #expect(late.change?.version == 1 && next.change?.version == 2)
      let gone = try await hooks.store.recordOutcome(WebhookStore.outcome(.gone), of: next, at: Self.start + 61)
      #expect(gone == .gone)
      let success = try await hooks.store.recordOutcome(
        WebhookStore.outcome(.delivered), of: late, at: Self.start + 62)
      #expect(success == nil)
      let webhook = try await hooks.store.webhook(UUID(1))
      #expect(webhook.paused && webhook.disabledReason == .gone && webhook.revision == 2)
      #expect(webhook.lastSuccess == Self.start + 62)
    }
  }

  @Test("An event whose late success is recorded during its next claim is not sent again")
  func lateSuccessDuringClaim() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      _ = try await hooks.only()
      let claiming = try await hooks.sql.transaction { transaction in
        _ = try await transaction.query(
          "UPDATE webhook_deliveries SET state = 'delivered', due_at = NULL, lease = NULL")
        let claiming = Task { try await hooks.claim(at: Self.start + 60) }
        try await Self.untilBlocked(hooks.sql)
        return claiming
      }
      let claimed = try await claiming.value
      #expect(claimed.isEmpty)
    }
  }

  @Test("A replay concerns its delivery alone, and a late outcome of the attempt before it does not count")
  func lateOutcomeAfterReplay() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1), .change(1, version: 2))
      try await hooks.finish(.failed)
      let late = try await hooks.only(at: Self.start + 1)
      _ = try await hooks.store.replayDelivery(late.id, of: UUID(1), at: Self.start + 61)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.delivered), of: late, at: Self.start + 62)
      let log = try await hooks.log(1).map { "\($0.version ?? 0) \($0.state) \($0.attempts.count)" }
      #expect(Set(log) == ["1 failed 1", "2 due 0"])
    }
  }
}
