import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Webhooks of a newsroom with a console.
enum WebhookConsole {
  static let list = "/console/webhooks"
  static let new = "/console/webhooks/new"

  static func path(_ webhook: Webhook, _ rest: String = "") -> String {
    "\(list)/\(webhook.id.uuidString.lowercased())\(rest)"
  }

  /// Runs the body with a server and a browser of an administrator.
  static func withAdmin(
    language: InterfaceLanguage = .english,
    _ body: @escaping @Sendable (ConsoleServer, ConsoleBrowser) async throws -> Void
  ) async throws {
    try await ConsoleServer.with(settings: { $0.language = language }) { console in
      try await body(console, try await console.signedIn([.admin], name: "admin"))
    }
  }

  static func webhook(
    _ console: ConsoleServer, url: String = "https://hooks.example/x", topics: [String]? = nil
  ) async throws -> Webhook {
    try await console.store.createWebhook(UUID(), WebhookContent(url: url, topics: topics), secret: .random())
  }

  /// The secret that a page shows; nil if it shows none.
  static func secret(_ page: ConsolePage) throws -> WebhookSecret? {
    try page.scan.all("code").first.flatMap { WebhookSecret($0.text) }
  }

  /// Claims the delivery that is due, and records an outcome of it.
  static func finish(_ console: ConsoleServer, _ outcome: WebhookOutcome) async throws {
    let claimed = try await console.store.leaseWebhookDeliveries(limit: 1, for: 60)
    try await console.store.recordOutcome(outcome, of: try #require(claimed.first))
  }

  static let success = WebhookOutcome(status: 204, milliseconds: 12, result: .delivered)

  static func failure(_ text: String = "no route") -> WebhookOutcome {
    WebhookOutcome(status: nil, milliseconds: 20_000, error: text, result: .retried(after: 300))
  }

  static func log(_ webhook: Webhook, _ console: ConsoleServer) async throws -> [WebhookDelivery] {
    try await console.store.webhookDeliveries(of: webhook.id, limit: 200).deliveries
  }
}
