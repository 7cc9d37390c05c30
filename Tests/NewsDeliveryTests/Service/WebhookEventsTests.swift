import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The events that a delivery service hands to webhooks.
@Suite struct WebhookEventsTests {
  @Test("Without any push service the events of items reach webhooks, with an address below that of the installation")
  func events() async throws {
    try await Deliveries.with { deliveries in
      _ = try await deliveries.store.createWebhook(
        UUID(), WebhookContent(url: "https://hooks.example/"), secret: .random(), at: deliveries.now)
      try await deliveries.withService([], publicURL: "https://news.example") {
        let item = try await deliveries.publish()
        let url = "https://news.example/v1/items/\(item.uuidString.lowercased())"
        try await eventually("the event is due") {
          try await deliveries.count("SELECT count(*) FROM webhook_deliveries WHERE url = \(url)") == 1
        }
      }
    }
  }
}
