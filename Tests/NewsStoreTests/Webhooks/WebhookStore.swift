import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// A store with webhooks, and a time that a test chooses for each call.
struct WebhookStore: Sendable {
  static let start = Date(timeIntervalSince1970: 2_000_000_000)

  let store: NewsStore
  let sql: PostgresPool

  static func with(_ body: @Sendable (WebhookStore) async throws -> Void) async throws {
    try await NewsDatabase.withStore { store, sql in try await body(WebhookStore(store: store, sql: sql)) }
  }

  /// Creates a webhook.
  func add(
    _ number: Int, url: String? = nil, events: [Webhook.Event] = Webhook.Event.allCases, topics: [String]? = nil,
    paused: Bool = false
  ) async throws {
    let content = WebhookContent(
      url: url ?? "https://h\(number).example/", events: events, topics: topics, paused: paused)
    _ = try await store.createWebhook(UUID(number), content, secret: .random(), at: Self.start)
  }

  /// Inserts the deliveries of events, as the reader of the outbox does.
  func insert(_ events: OutboxEvent..., at now: Date = WebhookStore.start) async throws {
    _ = try await sql.query(NewsStore.webhookInsertion(of: events, publicURL: "https://news.example", at: now))
  }

  func claim(_ limit: Int = 10, at now: Date = WebhookStore.start) async throws -> [WebhookMessage] {
    try await store.leaseWebhookDeliveries(limit: limit, for: 60, at: now)
  }

  /// Claims the only delivery that is due.
  func only(at now: Date = WebhookStore.start) async throws -> WebhookMessage {
    let claimed = try await claim(at: now)
    #expect(claimed.count == 1)
    return try #require(claimed.first)
  }

  /// Claims the only delivery that is due, and records an outcome of it.
  @discardableResult
  func finish(
    _ result: WebhookOutcome.Result, retryAfter: Double? = nil, at now: Date = WebhookStore.start
  ) async throws -> Webhook.DisabledReason? {
    try await store.recordOutcome(Self.outcome(result, retryAfter: retryAfter), of: try await only(at: now), at: now)
  }

  static func outcome(_ result: WebhookOutcome.Result, retryAfter: Double? = nil) -> WebhookOutcome {
    WebhookOutcome(
      status: result == .delivered ? 200 : 503, milliseconds: 7, error: result == .delivered ? nil : "busy",
      result: result, retryAfter: retryAfter)
  }

  func log(_ number: Int) async throws -> [WebhookDelivery] {
    try await store.webhookDeliveries(of: UUID(number), limit: 200).deliveries
  }
}

extension OutboxEvent {
  static func change(
    _ item: Int, version: Int, _ kind: Kind = .changed, topics: [String] = [], at: Date = WebhookStore.start
  ) -> OutboxEvent {
    OutboxEvent(item: UUID(item), version: version, kind: kind, at: at, topics: topics)
  }
}
