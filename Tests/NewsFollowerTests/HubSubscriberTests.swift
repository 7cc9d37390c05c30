import BackgroundWork
import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Leases at the hubs of followed feeds.
@Suite struct HubSubscriberTests {
  @Test("A feed that names a hub is leased, and a signed notice has it polled at once")
  func notice() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let requests = try await hubs.send()
      let request = try #require(requests.first)
      #expect(requests.count == 1 && request.path == "/hub" && request.mode == "subscribe")
      #expect(hubs.store.hubActivity.count(of: .subscribe, accepted: true) == 1)
      #expect(request.topic == "\(hubs.web.url)/topic" && request.form["hub.lease_seconds"] == "864000")
      #expect(request.form["hub.callback"]?.hasPrefix("\(hubs.server.url)/v1/websub/") == true)
      #expect(request.token.count == 22 && request.secret.count == 43)
      #expect(try await hubs.websub(id) == .init(hub: "\(hubs.web.url)/hub", state: .pending))

      #expect(try await hubs.verify(request, topic: "https://other.example/").status == 404)
      #expect(try await hubs.verify(request, mode: "unsubscribe").status == 404)
      #expect(try await hubs.verify(request, mode: "publish").status == 404)
      let answer = try await hubs.verify(request)
      #expect(answer.status == 200 && answer.text == "c+1" && answer["X-Content-Type-Options"] == "nosniff")
      let lease = try #require(try await hubs.websub(id))
      let time = try #require(lease.leaseEnds).timeIntervalSince(hubs.now)
      #expect(lease.state == .active && 863_000...864_000 ~= time)
      #expect(try await hubs.send().isEmpty)

      hubs.serve(Hubs.feed(["a", "b"], hubs: ["/hub"]))
      let before = try await hubs.store.subscription(id).nextPoll
      #expect(try await hubs.notify(request, secret: nil).status == 204)
      #expect(try await hubs.notify(request, secret: "guessed").status == 204)
      #expect(try await hubs.store.subscription(id).nextPoll == before)
      #expect(hubs.store.hubActivity.notices == (valid: 0, ignored: 2))

      // The last poll is longer ago than the minimum time between polls.
      _ = try await hubs.sql.query(
        "UPDATE subscriptions SET last_success = clock_timestamp() - interval '1 minute'")
      #expect(try await hubs.notify(request, secret: request.secret).status == 204)
      #expect(try await hubs.websub(id)?.lastNotice != nil)
      #expect(hubs.store.hubActivity.notices == (valid: 1, ignored: 2))
      try await hubs.follower.pollDue()
      #expect(hubs.web.takeRequests().map(\.path) == ["/feed"])
      let titles = try await hubs.store.editorialItems(EditorialQuery(state: .published)).items.map(\.item.title)
      #expect(Set(titles) == ["a", "b"])
    }
  }

  @Test("A lease is renewed before it ends, with the same callback and secret")
  func renewal() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let first = try #require(try await hubs.send().first)
      #expect(try await hubs.verify(first, seconds: 100_000).status == 200)
      hubs.advance(74_000)
      #expect(try await hubs.send().isEmpty)
      hubs.advance(7000)
      let renewals = try await hubs.send()
      #expect(renewals.map(\.form) == [first.form])
      #expect(try await hubs.websub(id)?.state == .active)
      #expect(
        try await hubs.store.confirmHubLease(
          first.token, .subscribe, topic: first.topic, seconds: 100_000, at: hubs.now))
      let end = try #require(try await hubs.websub(id)?.leaseEnds)
      #expect(end.timeIntervalSince(hubs.now) > 99_000)
      #expect(try await hubs.send().isEmpty)
    }
  }

  @Test("A denial leads to the next hub of the feed, and after the last one to the first, a day later")
  func denial() async throws {
    try await Hubs.with { hubs in
      hubs.serve(Hubs.feed(["a"], hubs: ["/hub1", "/hub2"]))
      let id = try await hubs.follow()
      let first = try #require(try await hubs.send().first)
      #expect(first.path == "/hub1")
      let target = "\(first.callback)?hub.mode=denied&hub.topic="
      #expect(try await hubs.server.get(target + "https://other.example/").status == 404)
      let answer = try await hubs.server.get(target + first.topic + "&hub.reason=not%0Ahere")
      #expect(answer.status == 200 && answer.text == "")
      #expect(try await hubs.websub(id)?.error == "the hub has denied the lease: not here")
      // Neither a late confirmation nor a further denial has an effect on the first lease.
      #expect(try await hubs.verify(first).status == 404)
      #expect(try await hubs.server.get(target + first.topic).status == 200)
      #expect(
        try await hubs.websub(id)
          == .init(
            hub: "\(hubs.web.url)/hub2", state: .pending, error: "the hub has denied the lease: not here"))
      let second = try #require(try await hubs.send().first)
      #expect(second.path == "/hub2" && second.token != first.token && second.secret != first.secret)
      #expect(try await hubs.server.get("\(second.callback)?hub.mode=denied&hub.topic=\(second.topic)").status == 200)
      #expect(try await hubs.send().isEmpty)
      hubs.advance(86_500)
      #expect(try await hubs.send().map(\.path) == ["/hub1"])
    }
  }

  @Test("The only hub of a feed is asked again a day after a denial")
  func onlyHub() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      #expect(try await hubs.server.get("\(request.callback)?hub.mode=denied&hub.topic=\(request.topic)").status == 200)
      #expect(try await hubs.send().isEmpty)
      hubs.advance(86_000)
      #expect(try await hubs.send().isEmpty)
      #expect(try await hubs.websub(id)?.error == "the hub has denied the lease")
      hubs.advance(500)
      #expect(try await hubs.send().map(\.form) == [request.form])
    }
  }

  @Test("After five failures, unconfirmed requests included, the next hub is used")
  func failures() async throws {
    try await Hubs.with { hubs in
      hubs.serve(Hubs.feed(["a"], hubs: ["/hub1", "/hub2"]))
      hubs.respond(503, at: "/hub1")
      let id = try await hubs.follow()
      var paths: [String] = []
      for round in 0..<3 {
        paths += try await hubs.send().map(\.path)
        #expect(try await hubs.websub(id)?.error == "the hub has answered with the status 503", "\(round)")
        hubs.advance(7200)
      }
      #expect(hubs.store.hubActivity.count(of: .subscribe, accepted: false) == 3)
      // This hub accepts requests and never confirms one.
      hubs.respond(202, at: "/hub1")
      for _ in 0..<4 {
        paths += try await hubs.send().map(\.path)
        hubs.advance(7200)
      }
      #expect(paths == ["/hub1", "/hub1", "/hub1", "/hub1", "/hub1", "/hub2", "/hub2"])
      // A lease is given up without a request.
      #expect(hubs.store.hubActivity.count(of: .subscribe, accepted: false) == 3)
      #expect(hubs.store.hubActivity.count(of: .subscribe, accepted: true) == 4)
      #expect(try await hubs.websub(id)?.hub == "\(hubs.web.url)/hub2")
    }
  }

  @Test("A hub that refuses is asked again after a wait that doubles, or after the one that it asks for")
  func waits() async throws {
    try await Hubs.with { hubs in
      hubs.respond(503, at: "/hub")
      _ = try await hubs.follow()
      #expect(try await hubs.send().count == 1)
      // The waits are 30 and 60 seconds, and up to a fifth more. The clock runs.
      for (early, late) in [(15.0, 25.0), (45.0, 35.0)] {
        hubs.advance(early)
        #expect(try await hubs.send().isEmpty)
        hubs.advance(late)
        #expect(try await hubs.send().count == 1)
      }
      hubs.web.respond { _ in FaultResponse(status: 503, headers: [("Retry-After", "1000")]) }
      hubs.advance(150)
      #expect(try await hubs.send().count == 1)
      hubs.advance(900)
      #expect(try await hubs.send().isEmpty)
      hubs.advance(110)
      #expect(try await hubs.send().count == 1)
    }
  }

  @Test("A request that a hub refuses is noted in the log with the hub, the mode and the reason")
  func log() async throws {
    try await Hubs.with { hubs in
      let log = RecordingLog()
      let subscriber = HubSubscriber(
        store: hubs.store, client: hubs.client, publicURL: hubs.server.url, logger: log.logger, clock: { hubs.now })
      hubs.respond(503, at: "/hub")
      _ = try await hubs.follow()
      try await subscriber.sendDue()
      let line = try #require(log.text.split(separator: "\n").first { $0.contains("a hub has not accepted a request") })
      for words in ["info ", "\(hubs.web.url)/hub", "subscribe", "the status 503"] {
        #expect(line.contains(words), "\(line)")
      }
    }
  }

  @Test("The lease of a feed that is paused or not followed any more is ended", arguments: [true, false])
  func end(pauses: Bool) async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      #expect(try await hubs.verify(request).status == 200)
      // The hubs of the feed were a reason for a signal, too.
      _ = hubs.store.hubActivity.wake.take()
      if pauses {
        _ = try await hubs.store.modifySubscription(id, if: .exists) { subscription in
          var content = SubscriptionContent(subscription)
          content.paused = true
          return content
        }
      } else {
        try await hubs.store.removeSubscription(id, if: .exists)
      }
      #expect(hubs.store.hubActivity.wake.take())
      let end = try #require(try await hubs.send().first)
      #expect(end.mode == "unsubscribe" && end.callback == request.callback && end.topic == request.topic)
      #expect(end.form["hub.secret"] == nil && end.form["hub.lease_seconds"] == nil)
      #expect(hubs.store.hubActivity.count(of: .unsubscribe, accepted: true) == 1)
      #expect(try await hubs.notify(request, secret: request.secret).status == 410)
      #expect(try await hubs.verify(request, mode: "subscribe").status == 404)
      #expect(try await hubs.verify(end, topic: "https://other.example/").status == 404)
      // The hub may ask again, because it has missed the answer.
      for _ in 0..<2 {
        #expect(try await hubs.verify(end, seconds: nil).status == 200)
        #expect(try await hubs.send().isEmpty)
      }
      hubs.advance(90_000)
      #expect(try await hubs.send().isEmpty)
      #expect(try await hubs.sql.query("SELECT 1 FROM hub_leases").isEmpty)
      #expect(try await hubs.verify(end).status == 404)
    }
  }

  @Test("A feed that names no hub any more loses its lease, and one with another hub changes")
  func otherHubs() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      #expect(try await hubs.verify(request).status == 200)
      hubs.serve(Hubs.feed(["a"], hubs: ["/hub2"]))
      _ = try await hubs.follower.poll(id)
      let changed = try await hubs.send()
      #expect(Set(changed.map { "\($0.mode) \($0.path)" }) == ["unsubscribe /hub", "subscribe /hub2"])
      hubs.serve(Followed.feed(["a"]))
      _ = try await hubs.follower.poll(id)
      #expect(try await hubs.websub(id) != nil)
      #expect(try await hubs.send().map { "\($0.mode) \($0.path)" } == ["unsubscribe /hub2"])
      #expect(try await hubs.websub(id) == nil)
    }
  }

  @Test("A feed that its hub knows under another address changes its lease")
  func otherTopic() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      #expect(try await hubs.send().count == 1)
      hubs.serve(
        Followed.feed(["a"], headers: [("Link", "</hub>; rel=\"hub\""), ("Link", "</other?a=1&b=c+d>; rel=\"self\"")]))
      _ = try await hubs.follower.poll(id)
      let changed = try await hubs.send()
      #expect(
        Set(changed.map { "\($0.mode) \($0.topic.dropFirst(hubs.web.url.count))" }) == [
          "unsubscribe /topic", "subscribe /other?a=1&b=c+d",
        ])
    }
  }

  @Test("A feed that cannot be read to its end keeps its lease")
  func brokenFeed() async throws {
    try await Hubs.with { hubs in
      let id = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      #expect(try await hubs.verify(request).status == 200)
      hubs.serve(Followed.feed(["a"]).withoutEnd)
      _ = try await hubs.follower.poll(id)
      #expect(try await hubs.store.subscription(id).lastError?.message.contains("not a complete feed") == true)
      #expect(try await hubs.send().isEmpty)
      #expect(try await hubs.websub(id)?.state == .active)
    }
  }

  @Test("Without a public address there are no leases, and those that exist are ended")
  func noAddress() async throws {
    try await Hubs.with { hubs in
      _ = try await hubs.follow()
      let request = try #require(try await hubs.send().first)
      let other = HubSubscriber(
        store: hubs.store, client: hubs.client, publicURL: nil, logger: NewsDatabase.logger, clock: { hubs.now })
      try await other.sendDue()
      let end = hubs.web.takeRequests().filter { $0.path == "/hub" }.map(Hubs.Request.init)
      #expect(end.map(\.mode) == ["unsubscribe"] && end.map(\.callback) == [request.callback])
    }
  }

  @Test("A process that is stopped during a request leaves it to another one at once")
  func stopped() async throws {
    try await Hubs.with { hubs in
      _ = try await hubs.follow()
      _ = hubs.web.takeRequests()
      hubs.web.respond(next: FaultResponse().hanging(at: .start))
      let stopped = Task { try await hubs.subscriber.sendDue() }
      try await eventually("the hub is asked") { !hubs.web.requests.isEmpty }
      stopped.cancel()
      await #expect(throws: (any Error).self) { try await stopped.value }
      _ = hubs.web.takeRequests()
      try await hubs.otherSubscriber.sendDue()
      #expect(hubs.web.takeRequests().map(\.path) == ["/hub"])
    }
  }

  @Test("Several processes send each request once")
  func severalProcesses() async throws {
    try await Hubs.with { hubs in
      for number in 0..<12 { _ = try await hubs.follow("/\(number)") }
      _ = hubs.web.takeRequests()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for subscriber in [hubs.subscriber, hubs.otherSubscriber, hubs.subscriber] {
          group.addTask { try await subscriber.sendDue() }
        }
        try await group.waitForAll()
      }
      // A row that another process holds is skipped, so that a request may be left.
      try await hubs.subscriber.sendDue()
      let tokens = hubs.web.requests.map { Hubs.Request($0).token }
      #expect(tokens.count == 12 && Set(tokens).count == 12)
    }
  }

  @Test(
    "Hubs are read from the header field or else from the feed",
    arguments: [
      (
        ["<https://h.example/>; rel=hub, <https://t.example/a>; rel=\"self\""], ["https://h.example/"],
        "https://t.example/a"
      ),
      (["<https://h.example/>; rel=\"x hub\""], ["https://h.example/"], "URL/feed"),
      (["<https://h.example/,;a>;title=\"a, <b>; \\\"rel=hub\";rel=HUB"], ["https://h.example/,;a"], "URL/feed"),
      (
        ["</h>; rel=hub", "<h2>; rel = hub , <https://h.example/>; rel=hub; anchor=\"/x\""], ["URL/h", "URL/h2"],
        "URL/feed"
      ),
      (["<https://h.example/>; rel=self; rel=hub"], [], nil),
      (["<https://h.example/> \t;title=x ; rel=hub"], ["https://h.example/"], "URL/feed"),
      (["<ftp://h.example/>; rel=hub", "<https://h.example/; rel=hub", "rel=hub", ""], [], nil),
      (["<https://h.example/>; rel=hub", "<https://h.example/>; rel=hub"], ["https://h.example/"], "URL/feed"),
    ] as [([String], [String], String?)])
  func links(fields: [String], expected: [String], topic: String?) async throws {
    try await Hubs.with { hubs in
      hubs.serve(Followed.feed(["a"], headers: fields.map { ("Link", $0) }))
      _ = try await hubs.follow()
      let row = try #require(try await hubs.sql.query("SELECT hubs, hub_topic FROM subscriptions").first)
      let url = hubs.web.url
      #expect(try row.decode("hubs", as: [String].self) == expected.map { $0.replacing("URL", with: url) })
      #expect(try row.decode("hub_topic", as: String?.self) == topic?.replacing("URL", with: url))
    }
  }

  private static func expectHubs(_ expected: [String], of fields: [String]) async throws {
    try await Hubs.with { hubs in
      hubs.serve(Followed.feed(["a"], headers: fields.map { ("Link", $0) }))
      _ = try await hubs.follow()
      let row = try #require(try await hubs.sql.query("SELECT hubs FROM subscriptions").first)
      #expect(try row.decode("hubs", as: [String].self) == expected)
    }
  }

  @Test("At most eight hubs are read")
  func manyHubs() async throws {
    let addresses = (1...9).map { "https://h\($0).example/" }
    try await Self.expectHubs(Array(addresses.prefix(8)), of: addresses.map { "<\($0)>; rel=hub" })
  }

  @Test("At most 16 KiB of all header fields are read")
  func longFields() async throws {
    let fields = [("a", 16_300), ("b", 200), ("c", 1)].map { name, bytes in
      "<https://\(name).example/>; rel=hub; title=\"\(String(repeating: "x", count: bytes))\""
    }
    try await Self.expectHubs(["https://a.example/", "https://c.example/"], of: fields)
  }

  @Test(
    "Hubs that only the document names are used, and an address in the header field precedes that of the document",
    arguments: [
      (nil, "https://hub.example/", "https://port.example/feed.json"),
      (
        "<https://h.example/>; rel=hub, <https://t.example/a>; rel=self", "https://h.example/", "https://t.example/a"
      ),
    ] as [(String?, String, String)])
  func document(link: String?, hub: String, topic: String) async throws {
    try await Hubs.with { hubs in
      let text = """
        {"version": "https://jsonfeed.org/version/1.1", "title": "Port", "feed_url": "https://port.example/feed.json",
        "items": [], "hubs": [{"type": "WebSub", "url": "https://u@hub.example/"},
        {"type": "WebSub", "url": "https://hub.example/"}]}
        """
      let fields = [(name: "Content-Type", value: "application/feed+json")] + (link.map { [("Link", $0)] } ?? [])
      hubs.serve(FaultResponse(headers: fields, body: Data(text.utf8)))
      _ = try await hubs.follow()
      let row = try #require(try await hubs.sql.query("SELECT hubs, hub_topic FROM subscriptions").first)
      #expect(try row.decode("hubs", as: [String].self) == [hub])
      #expect(try row.decode("hub_topic", as: String?.self) == topic)
    }
  }
}
