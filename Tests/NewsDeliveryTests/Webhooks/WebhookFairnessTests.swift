import FaultServer
import Foundation
import News
import NewsDelivery
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Webhooks whose receivers are slow, their effect on others, and a service that rests.
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
      #expect(WebhookService.limits.totalTime == .seconds(20) && WebhookService.limits.bodyBytes == 64 << 10)
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

  @Test("After a response the next event of the same webhook follows, also while another one has an older event")
  func nextEvent() async throws {
    try await Receiver.with(timeout: .seconds(3600)) { receiver in
      try await receiver.add(1, path: "/good")
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: 204).hanging(at: .start) }
      let sending = Task { try await receiver.service.sendDue() }
      try await eventually("the first event has arrived") { receiver.server.requests.count == 1 }
      try await receiver.add(2, path: "/slow")
      try await receiver.insert(receiver.event(2, version: 2))
      _ = try await receiver.sql.query(
        "UPDATE webhook_deliveries SET due_at = due_at - interval '1 second' WHERE webhook = \(Receiver.id(2))")
      receiver.server.respond { request in
        request.path == "/slow" ? FaultResponse().hanging(at: .start) : FaultResponse(status: 204)
      }
      receiver.server.release()
      try await eventually("the second event has arrived") {
        receiver.server.requests.count { $0.path == "/good" } == 2
      }
      sending.cancel()
      _ = await sending.result
    }
  }

  /// The times at which the statements of a running service begin, until there are a number of them.
  private static func statements(_ count: Int, of receiver: Receiver) async throws -> [ContinuousClock.Instant] {
    let calls = Calls()
    let service = WebhookService(
      store: receiver.store, client: receiver.client, logger: receiver.log.logger,
      clock: {
        calls.add()
        return nil
      })
    return try await whileRunning({ await service.run() }) {
      try await eventually("the service has made its statements") { calls.times.count >= count }
      return Array(calls.times.prefix(count))
    }
  }

  @Test("After a change of the feed a service reads the database several times a second, because events will follow")
  func active() async throws {
    try await Receiver.with { receiver in
      receiver.store.stateCache.isFollowed = true
      _ = try await receiver.store.snapshot()
      // Two are those of the counts and of the deletion. Otherwise, one asks for the next event before each rest.
      let times = try await Self.statements(6, of: receiver)
      let rests = zip(times.dropFirst(), times).map { $0 - $1 }
      let isStill = times[5] - times[0] > .seconds(10)
      // Without a change, a rest lasts two seconds.
      let hasShortRest = rests.contains { $0 > .milliseconds(200) && $0 < .milliseconds(1900) }
      #expect(hasShortRest || isStill)
    }
  }

  @Test("A service looks at its signals ten times a second at most")
  func ticks() async throws {
    try await Receiver.with { receiver in
      let times = try await whileRunning({
        while !Task.isCancelled { _ = try? await receiver.store.testWebhook(Receiver.id(9)) }
      }) { try await Self.statements(14, of: receiver) }
      // Two are those of the counts and of the deletion, and two follow each of six looks.
      #expect(times[13] - times[0] >= .milliseconds(400))
    }
  }

  @Test("A service that rests sends at once what its own process makes due")
  func signal() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger)
      try await whileRunning({ await service.run() }) {
        let start = ContinuousClock.now
        for count in 1...18 {
          _ = try await receiver.store.testWebhook(Receiver.id(1))
          try await eventually("the test was accepted") {
            try await receiver.deliveries().count { $0.state == .delivered } == count
          }
        }
        // A rest lasts two seconds.
        #expect(ContinuousClock.now - start < .seconds(30))
      }
    }
  }
}

/// The times at which a service has asked for the time.
private final class Calls: Sendable {
  private let all = Mutex<[ContinuousClock.Instant]>([])

  var times: [ContinuousClock.Instant] { all.withLock { $0 } }

  func add() { all.withLock { $0.append(.now) } }
}
