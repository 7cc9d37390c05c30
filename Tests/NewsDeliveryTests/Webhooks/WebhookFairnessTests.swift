import FaultServer
import Foundation
import News
import NewsDelivery
import NewsStore
import TestKit
import TestSupport
import Testing

/// Webhooks whose receivers are slow, and their effect on others.
@Suite struct WebhookFairnessTests {
  @Test("Receivers that never answer delay no other webhook, also at their host, whatever is due")
  func slowReceivers() async throws {
    try await Receiver.with(timeout: .seconds(3600)) { receiver in
      let (slow, events) = (20, 20)
      for number in 1...slow { try await receiver.add(number, host: "h\(number % 2).example", path: "/slow") }
      try await receiver.add(slow + 1, host: "h0.example", path: "/good")
      try await receiver.add(slow + 2, host: "h1.example", path: "/good")
      for version in 1...events { try await receiver.insert(receiver.event(version, version: version)) }
      receiver.server.respond { request in
        request.path == "/slow" ? FaultResponse().hanging(at: .start) : FaultResponse(status: 204)
      }
      let sending = Task { try await receiver.service.sendDue() }
      try await eventually("the other webhooks have all events") {
        receiver.server.requests.count { $0.path == "/good" } == 2 * events
      }
      #expect(receiver.server.requests.count { $0.path == "/slow" } <= slow)
      sending.cancel()
      _ = await sending.result
      #expect(try await receiver.deliveries(slow + 1).allSatisfy { $0.state == .delivered })
    }
  }
}
