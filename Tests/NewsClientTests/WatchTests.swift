import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A client that follows events") struct WatchTests {
  /// Runs the body while a client watches, with the reports of its fetches so far.
  private func watching(
    _ installation: Installation, _ client: NewsFetcher, _ body: (Reports) async throws -> Void
  ) async throws {
    let reports = Reports()
    let task = Task { await client.watch { reports.add($0) } }
    func end(_ task: Task<Void, Never>) async {
      task.cancel()
      await task.value
    }
    try await withResource(task, release: end) { _ in try await body(reports) }
  }

  /// Waits for a condition. The clock advances whenever the client waits before it connects.
  private func eventually(
    _ what: String, _ installation: Installation, _ condition: () async throws -> Bool
  ) async throws {
    try await TestKit.eventually(what) {
      if let shortest = installation.clock.sleeping.first {
        // A sleep of up to a minute may be the timeout of a connection that is being opened.
        let isPatience = 24...60 ~= shortest
        if !isPatience || installation.feed.eventStreams == 0 {
          installation.clock.advance(by: min(shortest, isPatience ? 0.05 : 0.5))
        }
      }
      return try await condition()
    }
  }

  /// Runs the body once a client with one item listens, with the reports of its fetches so far.
  private func listening(
    _ body: (_ installation: Installation, _ client: NewsFetcher, _ reports: Reports) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      try await watching(installation, client) { reports in
        try await eventually("it listens", installation) { installation.feed.eventStreams == 1 }
        try await body(installation, client, reports)
      }
    }
  }

  @Test("fetches an announced change once, at the announced token")
  func fetches() async throws {
    try await listening { installation, client, reports in
      let feed = installation.feed
      #expect(installation.requests() == ["/v1/items", "/v1/events"])
      feed.publish("two")
      try await eventually("it is stored", installation) { try client.count == 2 }
      let requests = installation.server.takeRequests()
      #expect(requests.map(\.path) == ["/v1/changes"])
      #expect(requests.first?.query["at"] == feed.token().description)
      feed.sendHeartbeat()
      feed.publish("three")
      feed.retract(feed.items[0].id)
      try await eventually("it is equal", installation) { try client.allNewsItems == feed.items }
      #expect(reports.all.allSatisfy { $0.result == .newData })
    }
  }

  @Test("begins at the token of the store, with one request")
  func resumes() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      let feed = installation.feed
      feed.publish("one", topics: ["sport"])
      await (try installation.client()).performFetch()
      let held = feed.token(topics: ["sport"])
      _ = installation.requests()
      feed.publish("of others", topics: ["politics"])
      try await watching(installation, try installation.client()) { reports in
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
        feed.sendHeartbeat()
        let requests = installation.server.takeRequests()
        #expect(requests.map(\.target) == ["/v1/events?topics=sport"])
        #expect(requests.first?["Last-Event-ID"] == held.description)
        #expect(reports.all.isEmpty)
      }
    }
  }

  @Test(
    "misses no change over many connections, and reports none twice", arguments: [EventOrder.faithful, .twice])
  func reconnects(order: EventOrder) async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      feed.eventOrder = order
      feed.publish("first")
      let client = try installation.client()
      let (received, connections) = (Reports(), rounds(100))
      let observation = client.changes.add { changes in
        for item in changes.inserted { received.note(item.text) }
      }
      try await watching(installation, client) { _ in
        for number in 0..<connections {
          try await eventually("it listens", installation) { feed.eventStreams == 1 }
          feed.publish("before \(number)")
          feed.endStreams([nil, .reset, .close][number % 3])
          feed.publish("after \(number)")
        }
        try await eventually("it is equal", installation) { try client.allNewsItems == feed.items }
        // Observers are notified behind the transaction.
        try await eventually("the last ones are reported", installation) { received.texts.count > 2 * connections }
      }
      withExtendedLifetime(observation) {}
      #expect(received.texts.count == 2 * connections + 1)
      #expect(Set(received.texts).count == 2 * connections + 1)
    }
  }

  @Test(
    "receives the announcement again if a fetch did not store the change",
    arguments: [
      FeedFault.reset(at: .body(20)), .truncate(at: .body(20)), .json(.cut), .busy(500, retryAfter: nil),
      .response(.captivePortal()),
    ])
  func failures(fault: FeedFault) async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      try await watching(installation, client) { reports in
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
        feed.fault(next: fault, times: 3, path: "/v1/changes")
        feed.publish("two")
        try await eventually("it is reported", installation) {
          reports.all.last?.result == .newData && reports.all.count > 1
        }
        #expect(try client.count == 2)
        #expect(reports.all.map(\.result) == [.newData, .failed, .failed, .failed, .newData])
      }
    }
  }

  @Test("connects again before it repeats a fetch that has received the response of an outdated cache")
  func outdatedCache() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      try await watching(installation, client) { _ in
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
        let held = feed.token()
        let outdated = FeedFault { original, _ in
          original.body { _ in Data(#"{"changes":[],"more":false,"token":"\#(held)"}"#.utf8) }
            .removing("Content-Encoding").setting("ETag", "\"x\"").framed(.chunked)
        }
        feed.fault(next: outdated, times: 2, path: "/v1/changes")
        _ = installation.requests()
        feed.publish("two")
        try await eventually("it is stored", installation) { try client.count == 2 }
        let paths = installation.server.takeRequests().map(\.path)
        #expect(paths == ["/v1/changes", "/v1/events", "/v1/changes", "/v1/events", "/v1/changes"])
      }
    }
  }

  @Test("reports a fetch once that a push and an event have joined")
  func joinedFetch() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      let sender = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .push))
      try await watching(installation, client) { reports in
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
        #expect(reports.all.count == 1)
        _ = installation.requests()
        // The response arrives after the push has joined the fetch of the event.
        feed.fault(next: .drip(over: .seconds(3)), path: "/v1/changes")
        feed.publish("two")
        try await TestKit.eventually("it fetches") { client.waitingCallers == 1 }
        let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(feed.token())"}"#
        async let report = sender.deliver(Data(push.utf8))
        try await TestKit.eventually("the push has joined") { client.waitingCallers == 2 }
        #expect(await report.inserted == 1)
        try await TestKit.eventually("it is reported") { reports.all.count == 2 }
        feed.publish("three")
        try await eventually("the next one is reported", installation) { reports.all.count >= 3 }
        #expect(reports.all.map(\.inserted) == [1, 1, 1])
        #expect(installation.requests().count == 2)
      }
    }
  }

  @Test("reports no fetch that its end interrupts")
  func ended() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      var reported: Reports?
      try await watching(installation, client) { reports in
        reported = reports
        try await eventually("it listens", installation) { installation.feed.eventStreams == 1 }
        _ = installation.requests()
        installation.feed.fault(next: .hang(at: .start))
        installation.feed.publish("two")
        try await TestKit.eventually("it fetches") { !installation.requests().isEmpty }
      }
      #expect(reported?.all == [])
    }
  }

  @Test("begins again with a new epoch of the server")
  func resync() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let before = feed.snapshot
      let client = try installation.client()
      try await watching(installation, client) { _ in
        try await eventually("it is stored", installation) { try client.count == 1 && feed.eventStreams == 1 }
        feed.publish("lost")
        try await eventually("it is stored", installation) { try client.count == 2 }
        feed.restore(before)
        try await eventually("it is gone", installation) { try client.allNewsItems == feed.items }
        feed.moveEpoch(keepingHistory: false)
        feed.publish("two")
        try await eventually("it is equal", installation) { try client.allNewsItems == feed.items }
      }
    }
  }

  @Test("sends no request before the Retry-After of a stream is over", arguments: [429, 503])
  func retryAfter(status: Int) async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      _ = installation.requests()
      feed.fault(next: .busy(status, retryAfter: .seconds(600)), path: "/v1/events")
      try await watching(installation, client) { _ in
        try await eventually("it was refused", installation) {
          try client.schedule.holdRemaining(at: installation.clock.now) > .zero
        }
        _ = installation.requests()
        for _ in 0..<5 {
          installation.clock.advance(by: 100)
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await client.performFetch().result == .failed)
        #expect(installation.requests() == [])
        installation.clock.advance(by: 130)
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
      }
    }
  }

  /// Waits until the client guards its connection, by a timer of a minute.
  private func guarding(_ installation: Installation) async throws {
    try await TestKit.eventually("it guards") { installation.clock.sleeping.contains { $0 > 50 } }
  }

  @Test("closes a connection after a minute without data, and no other")
  func silence() async throws {
    try await listening { installation, _, _ in
      let feed = installation.feed
      try await guarding(installation)
      _ = installation.requests()
      for _ in 0..<3 {
        installation.clock.advance(by: 50)
        // The client shows nothing of a heartbeat: on a busy machine the first ones may still be on their way.
        for _ in 0..<30 {
          feed.sendHeartbeat()
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      #expect(installation.requests() == [])
      installation.clock.advance(by: 61)
      try await eventually("it connects anew", installation) {
        installation.server.requests.contains { $0.path == "/v1/events" }
      }
    }
  }

  @Test("keeps its connection during a fetch that goes on when a minute has passed")
  func longFetch() async throws {
    try await listening { installation, client, _ in
      let feed = installation.feed
      try await guarding(installation)
      installation.clock.advance(by: 45)
      _ = installation.requests()
      feed.fault(next: .hang(at: .start), path: "/v1/changes")
      feed.publish("two")
      try await TestKit.eventually("it fetches") { installation.server.requests.count == 1 }
      // The timeout of the connection is checked now, that of the fetch is not over.
      installation.clock.advance(by: 20)
      try await guarding(installation)
      installation.server.release()
      try await eventually("it is stored", installation) { try client.count == 2 }
      #expect(installation.server.requests.map(\.path) == ["/v1/changes"])
    }
  }

  @Test("reconnects after the time that the server sets")
  func hint() async throws {
    try await listening { installation, _, _ in
      let feed = installation.feed
      feed.sendToStreams("retry: 20000\n\n")
      feed.endStreams()
      try await TestKit.eventually("it waits") { installation.clock.sleeping.contains { 20..<24 ~= $0 } }
      _ = installation.requests()
      installation.clock.advance(by: 19)
      try await Task.sleep(for: .milliseconds(20))
      #expect(installation.requests() == [])
      try await eventually("it listens", installation) { feed.eventStreams == 1 }
    }
  }

  @Test("sends its token to no other origin, and follows no page that is not a stream")
  func elsewhere() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let other = try await FaultServer.start { _ in .captivePortal() }
      feed.fault(next: .redirect(.other(other, "/elsewhere")), path: "/v1/events")
      let client = try installation.client()
      try await watching(installation, client) { _ in
        try await eventually("it listens", installation) { feed.eventStreams == 1 }
      }
      #expect(other.requests.map(\.path) == ["/elsewhere"])
      #expect(other.requests.allSatisfy { $0["Last-Event-ID"] == nil })
      await other.stop()
    }
  }

  @Test("reconnects later after each failure, up to five minutes")
  func delay() {
    var delay = ReconnectDelay()
    #expect((0..<12).map { _ in delay.next(random: 1) } == [1, 2, 4, 8, 16, 32, 64, 128, 256, 301, 301, 301])
    delay.reset()
    delay.setServerDelay(milliseconds: 2500)
    #expect(delay.next(random: 0.5) == 2.5)
    #expect(delay.next(random: 0.5) == 3)
    delay.setServerDelay(milliseconds: .max)
    #expect(delay.next(random: 0) == ReconnectDelay.maximum)
  }
}
