import FaultServer
import Foundation
import News
import NewsDelivery
import NewsStore
import TestSupport
import Testing

/// The attempts after failures, and the end of a webhook.
@Suite struct WebhookRetryTests {
  private static let waits: [Double] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

  @Test(
    "An event is sent ten times over three days, with one id and a signature of its own each time",
    arguments: [0, 1] as [Double])
  func schedule(jitter: Double) async throws {
    try await Receiver.with(jitter: jitter) { receiver in
      let secret = try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: 500) }
      var requests = try await receiver.send()
      for wait in Self.waits {
        let wait = wait * (1 + jitter / 10)
        let due = try #require(try await receiver.delivery().nextAttempt)
        #expect(abs(due.timeIntervalSince(receiver.now) - wait) < 0.01)
        receiver.advance(wait - 0.5)
        #expect(try await receiver.send().isEmpty)
        receiver.advance(0.51)
        requests += try await receiver.send()
      }
      #expect(requests.count == 10)
      #expect(Set(requests.compactMap { $0["webhook-id"] }).count == 1 && Set(requests.map(\.body)).count == 1)
      #expect(Set(requests.compactMap { $0["webhook-timestamp"] }).count == 10)
      #expect(Set(requests.flatMap(\.signatures)).count == 10 && requests.allSatisfy { $0.isSigned(by: secret) })
      let delivery = try await receiver.delivery()
      #expect(delivery.state == .failed && delivery.attempts.map(\.number) == Array(1...10))
      receiver.advance(10 * 86_400)
      #expect(try await receiver.send().isEmpty)
      #expect(try await !receiver.webhook().paused)
    }
  }

  @Test(
    "The later of the schedule and of Retry-After counts, at most a day",
    arguments: [
      (.seconds(100), 100), (.seconds(3), 5), (.text("soon"), 5), (.text("-1"), 5), (.seconds(200_000), 86_400),
      (.text("99999999999999999999"), 86_400), (.date(Receiver.start + 120), 120), (.date(Receiver.start - 120), 5),
    ] as [(RetryAfter, Double)])
  func retryAfter(field: RetryAfter, wait: Double) async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond(next: .busy(429, retryAfter: field))
      #expect(try await receiver.send().count == 1)
      let due = try #require(try await receiver.delivery().nextAttempt)
      #expect(abs(due.timeIntervalSince(receiver.now) - wait) < 0.01)
      // The receiver has asked for no request at all.
      try await receiver.insert(receiver.event(2, version: 2))
      receiver.advance(wait - 1)
      #expect(try await receiver.send().count == (wait > 5 ? 0 : 1))
      receiver.advance(1.1)
      #expect(try await receiver.send().contains { $0.version == 1 })
    }
  }

  @Test("A date in Retry-After is relative to the clock of the receiver")
  func otherClock() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      let date = Receiver.start + 86_400
      receiver.server.respond(next: .busy(429, retryAfter: .date(date)).dated(date - 600))
      #expect(try await receiver.send().count == 1)
      let due = try #require(try await receiver.delivery().nextAttempt)
      #expect(abs(due.timeIntervalSince(receiver.now) - 600) < 0.01)
    }
  }

  @Test("The status 410 pauses the webhook at once, and five days without a success do")
  func disabled() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1), receiver.event(2, version: 2))
      receiver.server.respond(next: FaultResponse(status: 410))
      #expect(try await receiver.send().count == 1)
      #expect(try await receiver.webhook().disabledReason == .gone)
      let lines = receiver.log.text.split(separator: "\n")
      let line = try #require(lines.first { $0.hasPrefix("warning a webhook was paused") })
      #expect(line.contains("gone") && line.contains("00000000-0000-0000-0000-000000000001"))
      receiver.advance(86_400)
      #expect(try await receiver.send().isEmpty)
      try await receiver.resume()
      receiver.server.respond { _ in FaultResponse(status: 503) }
      #expect(try await receiver.send().compactMap(\.version) == [2])
      for day in 1...5 {
        #expect(try await !receiver.webhook().paused, "day \(day)")
        receiver.advance(86_400)
        try await receiver.insert(receiver.event(3, version: 10 + day))
        #expect(try await !receiver.send().isEmpty)
      }
      #expect(try await receiver.webhook().disabledReason == .failing)
    }
  }

  @Test("A success ends the time of failures")
  func recovery() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      for day in 0..<8 {
        try await receiver.insert(receiver.event(1, version: 1 + day))
        receiver.server.respond { _ in FaultResponse(status: day == 4 ? 200 : 503) }
        _ = try await receiver.send()
        receiver.advance(86_400)
      }
      let webhook = try await receiver.webhook()
      #expect(!webhook.paused && webhook.failingSince == Receiver.start + 5 * 86_400)
      #expect(webhook.lastSuccess == Receiver.start + 4 * 86_400)
    }
  }

  @Test("A replay sends the same event with the same id and a new timestamp")
  func replay() async throws {
    try await Receiver.with { receiver in
      let secret = try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      let first = try #require(try await receiver.send().first)
      receiver.advance(86_400)
      let id = try await receiver.delivery().id
      _ = try await receiver.store.replayDelivery(id, of: Receiver.id(1), at: receiver.now)
      let again = try #require(try await receiver.send().first)
      #expect(again["webhook-id"] == first["webhook-id"] && again.body == first.body && again.isSigned(by: secret))
      #expect(again["webhook-timestamp"] == "2000086400" && first["webhook-timestamp"] == "2000000000")
      #expect(try await receiver.delivery().attempts.count == 2)
    }
  }

  @Test("After a rotation both secrets sign for a day, then the new one alone")
  func rotation() async throws {
    try await Receiver.with { receiver in
      let (old, new) = (try await receiver.add(), WebhookSecret.random())
      _ = try await receiver.store.rotateWebhook(Receiver.id(1), to: new, at: receiver.now)
      try await receiver.insert(receiver.event(1, version: 1))
      let both = try #require(try await receiver.send().first)
      #expect(both.signatures.count == 2 && both.isSigned(by: old) && both.isSigned(by: new))
      receiver.advance(86_400)
      try await receiver.insert(receiver.event(1, version: 2))
      let one = try #require(try await receiver.send().first)
      #expect(one.signatures.count == 1 && one.isSigned(by: new))
    }
  }

  @Test("A test has its own type and one attempt")
  func test() async throws {
    try await Receiver.with { receiver in
      let secret = try await receiver.add()
      receiver.server.respond(next: FaultResponse(status: 500))
      _ = try await receiver.store.testWebhook(Receiver.id(1), at: receiver.now)
      let request = try #require(try await receiver.send().first)
      #expect(
        request.text == """
          {"data":{"webhook":"00000000-0000-0000-0000-000000000001"},"timestamp":"2033-05-18T03:33:20.000Z",\
          "type":"webhook.test"}
          """)
      #expect(request.isSigned(by: secret))
      #expect(try await receiver.delivery().state == .failed)
      receiver.advance(86_400)
      #expect(try await receiver.send().isEmpty)
    }
  }

  @Test("The log has neither secrets nor the path of an address")
  func log() async throws {
    try await Receiver.with { receiver in
      let secret = try await receiver.add(path: "/T0KEN-in-the-path")
      receiver.server.respond { _ in FaultResponse(status: 410) }
      try await receiver.insert(receiver.event(1, version: 1))
      let request = try #require(try await receiver.send().first)
      let text = receiver.log.text
      #expect(
        text.contains("info a webhook has not accepted an event")
          && text.contains("00000000-0000-0000-0000-000000000001"))
      let id = try #require(request["webhook-id"])
      #expect(text.contains(id) && text.contains("the receiver is gone for good (410)"))
      for hidden in ["T0KEN", secret.text, String(secret.text.dropFirst(6)), try #require(request.signatures.first)] {
        #expect(!text.contains(hidden))
      }
    }
  }

  @Test("A webhook that accepts nothing has one line a minute in the log, which counts the others")
  func lines() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      receiver.server.respond { _ in FaultResponse(status: 500) }
      for version in 1...3 {
        try await receiver.insert(receiver.event(version, version: version))
        receiver.advance(100_000)
        _ = try await receiver.send()
      }
      #expect(receiver.log.text.split(separator: "a webhook has not accepted an event").count == 2)
    }
    let (lines, now) = (WebhookFailureLines(), ContinuousClock.now)
    let (one, other) = (Receiver.id(1), Receiver.id(2))
    #expect(lines.line(of: one, at: now)?.isEmpty == true && lines.line(of: other, at: now)?.isEmpty == true)
    for second in 1..<60 { #expect(lines.line(of: one, at: now + .seconds(second)) == nil) }
    let next = try #require(lines.line(of: one, at: now + .seconds(60)))
    #expect(next.map { "\($0.key) \($0.value)" } == ["suppressed 59"])
    #expect(lines.line(of: other, at: now + .seconds(60))?.isEmpty == true)
    // A line about one webhook does not forget what was left out about another one.
    for second in 61..<70 { #expect(lines.line(of: one, at: now + .seconds(second)) == nil) }
    #expect(lines.line(of: other, at: now + .seconds(7200))?.isEmpty == true)
    let last = try #require(lines.line(of: one, at: now + .seconds(7201)))
    #expect(last.map { "\($0.key) \($0.value)" } == ["suppressed 9"])
    // The count of suppressed failures is kept for two days after the minute of the last line.
    for (second, left) in [(7202, 1), (180_061, 0)] {
      #expect(lines.line(of: one, at: now + .seconds(second)) == nil)
      let later = now + .seconds(second == 7202 ? 7261 + 172_799 : 180_120 + 172_800)
      #expect(lines.line(of: other, at: later) != nil)
      let kept = try #require(lines.line(of: one, at: later))
      #expect(kept.map { "\($0.value)" } == Array(repeating: "1", count: left))
    }
  }

  @Test("A line in the log says how many were left out since the last one")
  func suppressedLines() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: 500) }
      let (calls, begun) = (Count(), ContinuousClock.now)
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger, clock: { receiver.now },
        lineTime: { begun + .seconds(40 * calls.next()) })
      for _ in 0..<3 {
        try await service.sendDue()
        receiver.advance(1000)
      }
      let lines = receiver.log.text.split(separator: "\n").filter { $0.contains("has not accepted an event") }
      #expect(calls.value == 3 && lines.map { $0.contains("suppressed") } == [false, true])
    }
  }

  @Test("An error has at most 1,000 characters in the log of a webhook")
  func longError() async throws {
    try await Receiver.with { receiver in
      let url = "http://203.0.114.1/" + String(repeating: "x", count: 2000)
      _ = try await receiver.store.createWebhook(
        Receiver.id(1), WebhookContent(url: url), secret: .random(), at: receiver.now)
      try await receiver.insert(receiver.event(1, version: 1))
      try await receiver.service.sendDue()
      #expect(try await receiver.delivery().attempts.first?.error == String(url.prefix(1000)))
    }
  }

  @Test("An address that is refused for its scheme is not logged with its path")
  func refusedAddress() async throws {
    try await Receiver.with { receiver in
      let url = "http://203.0.114.1/T0KEN"
      _ = try await receiver.store.createWebhook(
        Receiver.id(1), WebhookContent(url: url), secret: .random(), at: receiver.now)
      try await receiver.insert(receiver.event(1, version: 1))
      try await receiver.service.sendDue()
      #expect(try await receiver.delivery().attempts.first?.error == "\(url) uses http; https is required")
      let text = receiver.log.text
      #expect(!text.contains("T0KEN") && text.contains("203.0.114.1 uses http; https is required"))
    }
  }
}

extension Receiver {
  fileprivate func resume() async throws {
    _ = try await store.modifyWebhook(Self.id(1), if: .exists) { webhook in
      var content = WebhookContent(webhook)
      content.paused = false
      return content
    }
  }
}
