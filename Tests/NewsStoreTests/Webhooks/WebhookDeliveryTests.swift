import BackgroundWork
import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The events that webhooks receive, and the order of their requests.
@Suite struct WebhookDeliveryTests {
  private static let start = WebhookStore.start

  @Test("A change becomes a delivery for each webhook that wants its type and topics")
  func selection() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.sql.makeTopics("a", "b", "c")
      try await hooks.add(1)
      try await hooks.add(2, events: [.retracted, .expired])
      try await hooks.add(3, topics: ["b", "c"])
      try await hooks.add(4, paused: true)
      try await hooks.insert(
        .change(1, version: 5, .published, topics: ["a"], at: Self.start + 0.25),
        .change(2, version: 6, .retracted, topics: ["a", "b"]), .change(3, version: 7, .expired),
        .change(1, version: 8, topics: ["c"]))
      func events(_ number: Int) async throws -> Set<String> {
        Set(try await hooks.log(number).map { "\($0.event) \($0.version ?? 0)" })
      }
      #expect(
        try await events(1) == ["item.published 5", "item.retracted 6", "item.expired 7", "item.changed 8"])
      #expect(try await events(2) == ["item.retracted 6", "item.expired 7"])
      #expect(try await events(3) == ["item.retracted 6", "item.changed 8"])
      #expect(try await events(4) == [])
      let message = try #require(
        try await hooks.claim().first { $0.webhook == UUID(1) })
      #expect(message.event == "item.published" && message.at == Self.start + 0.25 && message.webhook == UUID(1))
      let change = try #require(message.change)
      #expect(change.item == UUID(1) && change.version == 5 && change.topics == ["a"])
      #expect(change.url == "https://news.example/v1/items/00000000-0000-0000-0000-000000000001")
      let epoch: String = try await hooks.sql.value("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")
      #expect(change.token == SyncToken(epoch: epoch, scope: .feed, version: 5).description)
    }
  }

  @Test("Publications reach the webhooks through the outbox, with the topics that an item has left")
  func outbox() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.sql.makeTopics("a", "b")
      try await hooks.add(1)
      try await hooks.add(2, topics: ["a"])
      try await hooks.sql.publish([UUID(7)], topics: ["a"])
      while try await hooks.store.collectOutbox(window: .seconds(60)) {}
      try await hooks.sql.publish([UUID(7)], after: "UPDATE items SET topics = '{b}' WHERE id = \(UUID(7))")
      while try await hooks.store.collectOutbox(window: .seconds(60)) {}
      try await hooks.sql.publish([UUID(7)], after: "UPDATE items SET text = 'y' WHERE id = \(UUID(7))")
      while try await hooks.store.collectOutbox(window: .seconds(60)) {}
      try await hooks.sql.publish([UUID(7)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(7))")
      while try await hooks.store.collectOutbox(window: .seconds(60), at: Self.start) {}
      #expect(try await hooks.log(1).first { $0.version == 4 }?.created == Self.start)
      func log(_ number: Int) async throws -> [String] {
        try await hooks.sql.query(
          """
          SELECT event || ' ' || version || ' ' || array_to_string(topics, ',') FROM webhook_deliveries
          WHERE webhook = \(UUID(number)) ORDER BY version
          """
        ).map { try $0.decode(0) }
      }
      #expect(
        try await log(1) == ["item.published 1 a", "item.changed 2 a,b", "item.changed 3 b", "item.retracted 4 b"])
      #expect(try await log(2) == ["item.published 1 a", "item.changed 2 a,b"])
    }
  }

  @Test("A webhook has one request at a time, whatever others at its host have, and events are sent in their order")
  func oneRequest() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1, url: "https://a.example/1")
      try await hooks.add(2, url: "https://a.example:8443/2", events: [.expired])
      try await hooks.add(3, url: "https://b.example/")
      try await hooks.insert(.change(1, version: 9), .change(1, version: 8), .change(2, version: 10, .expired))
      let first = try await hooks.claim()
      #expect(Set(first.map(\.webhook)) == [UUID(1), UUID(2), UUID(3)])
      #expect(try await hooks.claim().isEmpty)
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start) == 0)
      var versions: [UUID: [Int]] = [:]
      var pending = first
      while let message = pending.popLast() {
        versions[message.webhook, default: []].append(message.change?.version ?? 0)
        try await hooks.store.recordOutcome(WebhookStore.outcome(.delivered), of: message, at: Self.start)
        let next = try await hooks.claim()
        #expect(next.allSatisfy { $0.webhook == message.webhook })
        pending += next
      }
      #expect(versions == [UUID(1): [8, 9, 10], UUID(2): [10], UUID(3): [8, 9, 10]])
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start) == nil)
    }
  }

  @Test("With few places, the webhook goes first whose event has been due for the longest time")
  func order() async throws {
    try await WebhookStore.with { hooks in
      let events: [(Webhook.Event, OutboxEvent.Kind, delay: Double)] = [
        (.published, .published, 2), (.changed, .changed, 1), (.retracted, .retracted, 3),
      ]
      for (index, (event, kind, delay)) in events.enumerated() {
        try await hooks.add(index + 1, events: [event])
        try await hooks.insert(.change(index + 1, version: 1, kind), at: Self.start + delay)
      }
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start + 9) == 0)
      #expect(Set(try await hooks.claim(2, at: Self.start + 9).map(\.webhook)) == [UUID(1), UUID(2)])
      #expect(try await hooks.claim(2, at: Self.start + 9).map(\.webhook) == [UUID(3)])
    }
  }

  @Test("The claim of a dead process is taken over after its time, and its late outcome is ignored")
  func takeover() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      let lost = try await hooks.only()
      #expect(try await hooks.claim(at: Self.start + 59).isEmpty)
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start + 59) == 1)
      let taken = try await hooks.only(at: Self.start + 60)
      #expect(taken.id == lost.id)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.failed), of: lost, at: Self.start + 61)
      try await hooks.store.releaseDelivery(lost, at: Self.start + 61)
      #expect(try await hooks.claim(at: Self.start + 61).isEmpty)
      #expect(try await hooks.log(1).map(\.state) == [.due])
      try await hooks.store.recordOutcome(WebhookStore.outcome(.delivered), of: taken, at: Self.start + 62)
      let delivery = try #require(try await hooks.log(1).first)
      #expect(delivery.state == .delivered && delivery.nextAttempt == nil)
      #expect(delivery.attempts == [WebhookAttempt(number: 1, at: Self.start + 62, status: 200, milliseconds: 7)])
      #expect(hooks.store.webhookActivity.attempts == (delivered: 1, failed: 0))
      #expect(try await hooks.store.webhook(UUID(1)).lastSuccess == Self.start + 62)
    }
  }

  @Test("A claim that is given back is due at once")
  func release() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      let message = try await hooks.only()
      try await hooks.store.releaseDelivery(message, at: Self.start + 1)
      #expect(try await hooks.only(at: Self.start + 1).id == message.id)
      #expect(try await hooks.log(1).first?.attempts == [])
    }
  }

  @Test("A failure is tried again after its wait, and counted until a success")
  func failures() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      try await hooks.finish(.retried(after: 5))
      #expect(try await hooks.claim(at: Self.start + 4.9).isEmpty)
      let again = try await hooks.only(at: Self.start + 5)
      #expect(again.failures == 1)
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == Self.start)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.failed), of: again, at: Self.start + 5)
      let delivery = try #require(try await hooks.log(1).first)
      #expect(delivery.state == .failed && delivery.nextAttempt == nil && delivery.attempts.map(\.number) == [1, 2])
      #expect(delivery.attempts.first?.error == "busy" && delivery.attempts.first?.status == 503)
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == Self.start)
      try await hooks.insert(.change(1, version: 2))
      try await hooks.finish(.delivered, at: Self.start + 6)
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == nil)
      try await hooks.insert(.change(1, version: 3))
      try await hooks.finish(.failed, at: Self.start + 7)
      #expect(try await hooks.store.webhook(UUID(1)).lastSuccess == Self.start + 6)
      #expect(hooks.store.webhookActivity.attempts == (delivered: 1, failed: 3))
    }
  }

  @Test("A new address of a webhook has not failed yet, and has asked for no wait")
  func newReceiver() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      try await hooks.finish(.retried(after: 5), retryAfter: 1000)
      // Any other change does not make it a new receiver.
      let narrowed = try await hooks.store.modifyWebhook(UUID(1), if: .exists) { webhook in
        var content = WebhookContent(webhook)
        content.events = [.changed]
        return content
      }
      #expect(narrowed.failingSince == Self.start)
      #expect(try await hooks.claim(at: Self.start + 5).isEmpty)
      let webhook = try await hooks.store.modifyWebhook(UUID(1), if: .exists) { webhook in
        var content = WebhookContent(webhook)
        content.url = "https://other.example/"
        return content
      }
      #expect(webhook.failingSince == nil)
      #expect(try await hooks.only(at: Self.start + 5).url == "https://other.example/")
    }
  }

  @Test("A webhook that an editor pauses during a request stays paused by the editor, whatever the response is")
  func pausedMeanwhile() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      let message = try await hooks.only()
      let paused = try await Self.setPaused(true, 1, hooks)
      #expect(try await hooks.store.recordOutcome(WebhookStore.outcome(.gone), of: message, at: Self.start + 1) == nil)
      let webhook = try await hooks.store.webhook(UUID(1))
      #expect(webhook.paused && webhook.disabledReason == nil && webhook.revision == paused.revision)
    }
  }

  @Test("While a receiver asks for a wait, nothing is sent to its webhook")
  func retryAfter() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      try await hooks.finish(.retried(after: 5), retryAfter: 100)
      try await hooks.insert(.change(1, version: 2), at: Self.start + 1)
      #expect(try await hooks.claim(at: Self.start + 99).isEmpty)
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start + 99) == 1)
      try await hooks.finish(.delivered, at: Self.start + 100)
      try await hooks.finish(.delivered, at: Self.start + 100)
      // After the last attempt, there is nothing that the wait puts off.
      try await hooks.insert(.change(1, version: 3), at: Self.start + 200)
      try await hooks.finish(.failed, retryAfter: 100, at: Self.start + 200)
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start + 200) == nil)
    }
  }

  @Test("The end of a receiver pauses its webhook, and so do five days of failures")
  func disabled() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.insert(.change(1, version: 1))
      #expect(try await hooks.finish(.gone) == .gone)
      let gone = try await hooks.store.webhook(UUID(1))
      #expect(gone.paused && gone.disabledReason == .gone && gone.revision == 2)
      #expect(try await hooks.log(1).first?.state == .failed)
      // A paused webhook receives no events.
      try await hooks.insert(.change(1, version: 2))
      #expect(try await hooks.log(1).count == 1)
      _ = hooks.store.webhookActivity.wake.take()
      let resumed = try await Self.setPaused(false, 1, hooks)
      #expect(hooks.store.webhookActivity.wake.take())
      #expect(!resumed.paused && resumed.disabledReason == nil && resumed.failingSince == nil)

      let days: Double = 86_400
      try await hooks.insert(.change(1, version: 3))
      #expect(try await hooks.finish(.retried(after: 5)) == nil)
      #expect(try await hooks.finish(.retried(after: 5), at: Self.start + 5 * days - 5) == nil)
      #expect(try await hooks.finish(.retried(after: 5), at: Self.start + 5 * days) == .failing)
      #expect(try await hooks.store.webhook(UUID(1)).disabledReason == .failing)
      // Events that are due wait for the end of the pause.
      #expect(try await hooks.claim(at: Self.start + 6 * days).isEmpty)
      #expect(try await hooks.store.nextWebhookDelivery(at: Self.start + 6 * days) == nil)
      // A change of a paused webhook does not resume it.
      let changed = try await hooks.store.modifyWebhook(UUID(1), if: .exists) { webhook in
        var content = WebhookContent(webhook)
        content.events = [.changed]
        return content
      }
      #expect(changed.paused && changed.disabledReason == .failing && changed.failingSince == Self.start)
      _ = try await Self.setPaused(false, 1, hooks)
      #expect(try await hooks.finish(.retried(after: 5), at: Self.start + 6 * days) == nil)
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == Self.start + 6 * days)
      // A success pauses nothing, however late it is.
      #expect(try await hooks.finish(.delivered, at: Self.start + 20 * days) == nil)
      #expect(try await !hooks.store.webhook(UUID(1)).paused)
    }
  }

  @Test("A test that fails is no failure of a webhook, and pauses it only if its receiver wants no events")
  func failedTests() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      let days: Double = 86_400
      func test(_ result: WebhookOutcome.Result, at day: Double) async throws -> Webhook.DisabledReason? {
        _ = try await hooks.store.testWebhook(UUID(1), at: Self.start + day * days)
        return try await hooks.finish(result, at: Self.start + day * days)
      }
      for day in [0.0, 5] { #expect(try await test(.failed, at: day) == nil) }
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == nil)
      // Nor does it end a webhook's failures, and those of events count on.
      try await hooks.insert(.change(1, version: 1), at: Self.start + 6 * days)
      #expect(try await hooks.finish(.failed, at: Self.start + 6 * days) == nil)
      #expect(try await test(.failed, at: 11) == nil)
      #expect(try await hooks.store.webhook(UUID(1)).failingSince == Self.start + 6 * days)
      try await hooks.insert(.change(1, version: 2), at: Self.start + 11 * days)
      #expect(try await hooks.finish(.retried(after: 5), at: Self.start + 11 * days) == .failing)
      _ = try await Self.setPaused(false, 1, hooks)
      try await hooks.finish(.delivered, at: Self.start + 12 * days)
      #expect(try await test(.gone, at: 13) == .gone)
    }
  }

  private static func setPaused(_ isPaused: Bool, _ number: Int, _ hooks: WebhookStore) async throws -> Webhook {
    try await hooks.store.modifyWebhook(UUID(number), if: .exists) { webhook in
      var content = WebhookContent(webhook)
      content.paused = isPaused
      return content
    }
  }

  @Test("A replay has the same id and all attempts again, and does not repeat an attempt that is under way")
  func replay() async throws {
    try await WebhookStore.with { hooks in
      try await hooks.add(1)
      try await hooks.add(2)
      try await hooks.insert(.change(1, version: 1))
      let id = try #require(try await hooks.log(1).first?.id)
      let message = try #require(try await hooks.claim().first { $0.webhook == UUID(1) })
      let underway = try await hooks.store.replayDelivery(id, of: UUID(1), at: Self.start + 1)
      #expect(underway.nextAttempt == Self.start + 60)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.failed), of: message, at: Self.start + 2)
      let replayed = try await hooks.store.replayDelivery(id, of: UUID(1), at: Self.start + 3)
      #expect(replayed.state == .due && replayed.nextAttempt == Self.start + 3 && replayed.attempts.count == 1)
      #expect(hooks.store.webhookActivity.wake.take())
      let again = try await hooks.only(at: Self.start + 3)
      #expect(again.id == id && again.failures == 0)
      try await hooks.store.recordOutcome(WebhookStore.outcome(.delivered), of: again, at: Self.start + 4)
      #expect(try await hooks.log(1).first?.attempts.map(\.number) == [1, 2])
      #expect(try await hooks.store.replayDelivery(id, of: UUID(1), at: Self.start + 5).state == .due)
      for (delivery, webhook) in [(id, UUID(2)), (id, UUID(3)), (UUID(9), UUID(1))] {
        await #expect(throws: StoreError.notFound) { try await hooks.store.replayDelivery(delivery, of: webhook) }
      }
      // The attempt of a process that has died is repeated.
      let dead = try #require(try await hooks.log(2).first?.id)
      let revived = try await hooks.store.replayDelivery(dead, of: UUID(2), at: Self.start + 61)
      #expect(revived.nextAttempt == Self.start + 61)
      _ = try await Self.setPaused(true, 1, hooks)
      await #expect(throws: StoreError.webhookPaused) { try await hooks.store.replayDelivery(id, of: UUID(1)) }
      await #expect(throws: StoreError.notFound) { try await hooks.store.replayDelivery(UUID(9), of: UUID(1)) }
      await #expect(throws: StoreError.webhookPaused) { try await hooks.store.testWebhook(UUID(1)) }
      await #expect(throws: StoreError.notFound) { try await hooks.store.testWebhook(UUID(3)) }
    }
  }
}
