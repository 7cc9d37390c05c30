import FaultServer
import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// The requests of webhooks.
@Suite struct WebhookServiceTests {
  @Test(
    "A signature is that of the specification's examples",
    arguments: [
      // Standard Webhooks, the test vectors of the reference libraries.
      (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330,
        #"{"test": 2432232314}"#, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
      )
    ])
  func vector(secret: String, id: String, timestamp: Int, body: String, expected: String) throws {
    let secret = try #require(WebhookSecret(secret))
    #expect(
      WebhookSignature.fieldValue(id: id, timestamp: timestamp, body: Array(body.utf8), secrets: [secret]) == expected)
    let both = WebhookSignature.fieldValue(
      id: id, timestamp: timestamp, body: Array(body.utf8), secrets: [.random(), secret])
    #expect(both.split(separator: " ").count == 2 && both.hasSuffix(" \(expected)"))
  }

  @Test("An event is sent as signed JSON with the address of the item, if the server has a public one")
  func request() async throws {
    for publicURL in [Receiver.publicURL, nil] {
      try await Receiver.with(publicURL: publicURL) { receiver in
        let secret = try await receiver.add()
        try await receiver.insert(receiver.event(7, version: 36, .published, topics: ["harbour", "sport"]))
        receiver.advance(9.5)
        let epoch = try await receiver.epoch()
        let request = try #require(try await receiver.send().first)
        let item = "00000000-0000-0000-0000-000000000007"
        let url = publicURL.map { #","url":"\#($0)/v1/items/\#(item)""# } ?? ""
        #expect(
          request.text == """
            {"data":{"id":"\(item)","token":"\(SyncToken(epoch: epoch, scope: .feed, version: 36))",\
            "topics":["harbour","sport"]\(url),"version":36},"timestamp":"2033-05-18T03:33:20.000Z",\
            "type":"item.published"}
            """)
        #expect(request.method == "POST" && request.target == "/hook" && request["Content-Type"] == "application/json")
        #expect(request["webhook-timestamp"] == "2000000009" && request["User-Agent"] == "Tidings")
        #expect(request.isSigned(by: secret) && request.signatures.count == 1)
        let delivery = try await receiver.delivery()
        #expect(request["webhook-id"] == delivery.id.uuidString.lowercased())
        #expect(delivery.state == .delivered && delivery.attempts.map(\.status) == [204])
        #expect(try await receiver.webhook().lastSuccess == receiver.now)
        #expect(try await receiver.send().isEmpty)
      }
    }
  }

  @Test("Any status from 200 to 299 is a success, and no other", arguments: [200, 201, 204, 299, 304, 400, 404, 500])
  func statuses(status: Int) async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: status) }
      #expect(try await receiver.send().count == 1)
      let delivery = try await receiver.delivery()
      #expect(delivery.state == (status < 300 ? .delivered : .due))
      #expect(delivery.attempts.map(\.status) == [status])
      let attempts = receiver.store.webhookActivity.attempts
      #expect(attempts == (status < 300 ? (delivered: 1, failed: 0) : (delivered: 0, failed: 1)))
    }
  }

  @Test("A redirect is a failure and is not followed", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: status, headers: [("Location", "/other")]) }
      #expect(try await receiver.send().map(\.path) == ["/hook"])
      let attempt = try #require(try await receiver.delivery().attempts.first)
      #expect(attempt.status == status && attempt.error?.contains("redirected") == true)
    }
  }

  @Test("The status counts, whatever the body is")
  func bodies() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      let body = FaultResponse(body: Data("accepted".utf8))
      let responses = [
        FaultResponse.huge(bytes: 1 << 20), .gzipBomb(expandingTo: 1 << 24), body.truncated(at: .body(2)),
        body.hanging(at: .body(2)), body.resetting(at: .body(2)), body.setting("Content-Encoding", "br"),
      ]
      for (index, response) in responses.enumerated() {
        try await receiver.insert(receiver.event(1, version: index + 1))
        receiver.server.respond(next: response)
        #expect(try await receiver.send().count == 1)
        #expect(try await receiver.deliveries().allSatisfy { $0.state == .delivered }, "\(index)")
      }
    }
  }

  @Test("A response that is missing, malformed or late is a failure")
  func noResponse() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      let responses = [
        FaultResponse().truncated(at: .start), FaultResponse().resetting(at: .start),
        FaultResponse().truncated(at: .inHead), FaultResponse().hanging(at: .start),
        FaultResponse.raw(Data("SSH-2.0-OpenSSH_9\r\n".utf8)),
      ]
      for (index, response) in responses.enumerated() {
        try await receiver.insert(receiver.event(1, version: index + 1))
        receiver.server.respond(next: response)
        #expect(try await receiver.send().count == 1)
        let attempts = try await receiver.deliveries().flatMap(\.attempts)
        #expect(attempts.count == index + 1 && attempts.allSatisfy { $0.status == nil && $0.error != nil })
      }
      // One receiver has let the whole second pass.
      let times = try await receiver.deliveries().flatMap(\.attempts).map(\.milliseconds)
      #expect(times.contains { $0 >= 990 } && times.allSatisfy { 0..<600_000 ~= $0 })
    }
  }

  @Test("Addresses that are not public are refused, also after a change of the name's address")
  func privateAddresses() async throws {
    try await Receiver.with { receiver in
      try await receiver.add(1, host: "private.example")
      try await receiver.add(2, host: "rebinding.example")
      try await receiver.insert(receiver.event(1, version: 1))
      #expect(try await receiver.send().count == 1)
      try await receiver.insert(receiver.event(1, version: 2))
      #expect(try await receiver.send().isEmpty)
      // Both were made at the same time of the test's clock, so their order is not known.
      let states = try await receiver.deliveries(2).map(\.state)
      #expect(states.count == 2 && states.contains(.due) && states.contains(.delivered))
      let refusals = try await receiver.deliveries(1).compactMap(\.attempts.first?.error)
      #expect(refusals.allSatisfy { $0 == "private.example has a private address, which is not allowed" })
      #expect(refusals.count == 2)
      let rebound = try await receiver.deliveries(2).compactMap(\.attempts.first?.error)
      #expect(rebound == ["rebinding.example has a link-local address, which is not allowed"])
    }
  }

  @Test("The versions of an item tell the order of its events, which a failure changes")
  func order() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(
        receiver.event(1, version: 4, .published), receiver.event(1, version: 5), receiver.event(1, version: 6))
      receiver.server.respond(next: FaultResponse(status: 503))
      var versions = try await receiver.send().compactMap(\.version)
      receiver.advance(5)
      versions += try await receiver.send().compactMap(\.version)
      #expect(versions == [4, 5, 6, 4])
    }
  }

  @Test("Two processes send each event once")
  func twoProcesses() async throws {
    try await Receiver.with { receiver in
      for number in 1...4 { try await receiver.add(number, host: "h\(number).example") }
      for version in 1...10 { try await receiver.insert(receiver.event(version, version: version)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for service in [receiver.service, receiver.otherService] { group.addTask { try await service.sendDue() } }
        try await group.waitForAll()
      }
      let ids = receiver.server.requests.compactMap { $0["webhook-id"] }
      #expect(ids.count == 40 && Set(ids).count == 40)
      for number in 1...4 { #expect(try await receiver.deliveries(number).allSatisfy { $0.state == .delivered }) }
    }
  }

  @Test("What a killed process has claimed is sent by another one after its time")
  func takeover() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1), receiver.event(2, version: 2))
      let claimed = try await receiver.store.leaseWebhookDeliveries(limit: 1, for: 60, at: receiver.now)
      #expect(claimed.count == 1)
      #expect(try await receiver.send().isEmpty)
      receiver.advance(60)
      #expect(try await receiver.send().compactMap(\.version).sorted() == [1, 2])
    }
  }

  @Test("An outcome that cannot be recorded is in the log, and the event is sent again after the time of its claim")
  func unrecorded() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      _ = try await receiver.sql.query("ALTER TABLE webhook_attempts RENAME TO hidden_attempts")
      #expect(try await receiver.send().count == 1)
      #expect(receiver.log.text.contains("warning the outcome of a webhook was not recorded"))
      _ = try await receiver.sql.query("ALTER TABLE hidden_attempts RENAME TO webhook_attempts")
      receiver.advance(59)
      #expect(try await receiver.send().isEmpty)
      receiver.advance(1)
      #expect(try await receiver.send().count == 1)
      #expect(try await receiver.delivery().state == .delivered)
    }
  }

  @Test(
    "An outcome that the database does not take at once is recorded later, and the event is not sent again",
    arguments: [
      // No memory, no disk, and the end of the connection during COMMIT.
      "RAISE EXCEPTION USING MESSAGE = 'full', ERRCODE = '53200'",
      "RAISE EXCEPTION USING MESSAGE = 'full', ERRCODE = '53100'", "PERFORM pg_terminate_backend(pg_backend_pid())",
    ])
  func recordedLater(fault: String) async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      _ = try await receiver.sql.query("CREATE SEQUENCE refusals")
      _ = try await receiver.sql.query(
        """
        CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF nextval('refusals') = 1 THEN \(unsafeSQL: fault); END IF;
          RETURN NEW;
        END $$
        """)
      _ = try await receiver.sql.query(
        """
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON webhook_attempts DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION refuse_once()
        """)
      let start = ContinuousClock.now
      #expect(try await receiver.send().count == 1)
      // A database that restarts needs some time.
      #expect(ContinuousClock.now - start >= .seconds(2))
      let delivery = try await receiver.delivery()
      #expect(delivery.state == .delivered && delivery.attempts.count == 1)
      #expect(try await receiver.sql.query("SELECT 1 FROM refusals WHERE last_value > 1").count == 1)
    }
  }

  @Test("A process that stops gives back what it has not sent, and counts no failure")
  func shutdown() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond(next: FaultResponse().hanging(at: .start))
      let sending = Task { try await receiver.service.sendDue() }
      try await eventually("the request has arrived") { !receiver.server.requests.isEmpty }
      sending.cancel()
      _ = await sending.result
      #expect(try await receiver.delivery().attempts.isEmpty)
      try await receiver.otherService.sendDue()
      #expect(receiver.server.requests.compactMap(\.version) == [1, 1])
      #expect(try await receiver.delivery().state == .delivered)
    }
  }

  @Test("A request that fails after the end of the process counts as no failure")
  func failureAfterEnd() async throws {
    try await Receiver.with { receiver in
      // The address is refused at once, also for a task that is cancelled.
      _ = try await receiver.store.createWebhook(
        Receiver.id(1), WebhookContent(url: "http://10.1.2.3/"), secret: .random(), at: receiver.now)
      try await receiver.insert(receiver.event(1, version: 1))
      let (calls, start) = (Count(), Barrier())
      let sending = Mutex<Task<Void, any Error>?>(nil)
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger,
        clock: {
          // The first call is that of the claim.
          if calls.next() == 2 { sending.withLock { $0 }?.cancel() }
          return receiver.now
        })
      let task = Task {
        await start.wait()
        try await service.sendDue()
      }
      sending.withLock { $0 = task }
      start.open()
      _ = await task.result
      #expect(calls.value >= 2)
      #expect(try await receiver.delivery().attempts.isEmpty)
    }
  }

  @Test("A response that has arrived before the end of the process is recorded")
  func responseBeforeEnd() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      try await receiver.insert(receiver.event(1, version: 1))
      receiver.server.respond { _ in FaultResponse(status: 500) }
      let start = Barrier()
      let sending = Mutex<Task<Void, any Error>?>(nil)
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger, clock: { receiver.now },
        random: {
          // The wait after the response is determined.
          sending.withLock { $0 }?.cancel()
          return 0
        })
      let task = Task {
        await start.wait()
        try await service.sendDue()
      }
      sending.withLock { $0 = task }
      start.open()
      _ = await task.result
      #expect(try await receiver.delivery().attempts.map(\.status) == [500])
    }
  }

  @Test("A running service sends events as they become due, and ends with its task")
  func run() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger)
      _ = try await receiver.sql.query(
        """
        INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state)
        SELECT gen_random_uuid(), \(Receiver.id(1)), 'webhook.test', c.at, c.at, 'failed'
        FROM (SELECT now() - interval '31 days' AS at) AS c
        """)
      let running = Task { await service.run() }
      try await eventually("deliveries of the last month are deleted") { try await receiver.deliveries().isEmpty }
      try await eventually("the webhooks are counted") { receiver.store.webhookActivity.counts.working == 1 }
      for version in 1...3 {
        try await receiver.insert(receiver.event(1, version: version))
        _ = try await receiver.sql.query(
          "UPDATE webhook_deliveries SET due_at = clock_timestamp() WHERE state = 'due' AND lease IS NULL")
        try await eventually("the event has arrived") { receiver.server.requests.count == version }
      }
      _ = try await receiver.store.testWebhook(Receiver.id(1))
      try await eventually("the test has arrived") {
        receiver.server.requests.last?.text.contains("webhook.test") == true
      }
      try await eventually("the outcome is known") {
        try await receiver.deliveries().allSatisfy { $0.state == .delivered }
      }
      running.cancel()
      await running.value
    }
  }

  @Test("What another process makes due is sent within seconds, also while the next attempt is due in an hour")
  func otherProcess() async throws {
    try await Receiver.with { receiver in
      try await receiver.add()
      func insert(afterHours hours: Int32) async throws {
        _ = try await receiver.sql.query(
          """
          INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state, due_at)
          SELECT gen_random_uuid(), \(Receiver.id(1)), 'webhook.test', c.at, c.at, 'due',
            c.at + make_interval(hours => \(hours))
          FROM (SELECT now() AS at) AS c
          """)
      }
      try await insert(afterHours: 1)
      let (calls, begun) = (Count(), ContinuousClock.now)
      let service = WebhookService(
        store: receiver.store, client: receiver.client, logger: receiver.log.logger,
        clock: {
          _ = calls.next()
          return nil
        })
      try await whileRunning({ await service.run() }) {
        for count in 1...2 {
          try await insert(afterHours: 0)
          let start = ContinuousClock.now
          try await eventually("the event has arrived") { receiver.server.requests.count == count }
          #expect(ContinuousClock.now - start < .seconds(30))
          try await eventually("the outcome is known") {
            try await receiver.deliveries().count { $0.state == .delivered } == count
          }
          // The webhook has nothing else that is due, and the service rests.
          try await Task.sleep(for: .milliseconds(500))
        }
      }
      // Each statement asks for the time. There are a few in a second.
      #expect(Double(calls.value) < 60 + 20 * ((ContinuousClock.now - begun) / .seconds(1)))
    }
  }
}
