import FaultServer
import NewsFollower
import NewsStore
import TestKit
import TestSupport
import Testing

/// The tasks of a server that follow feeds, while nothing else is due.
@Suite struct RunningFollowerTests {
  /// The maximum time until a change is noticed on a busy machine. A task that misses it rests for a minute.
  private static let limit: Duration = .seconds(40)

  @Test("A feed that is followed while the follower rests is polled within seconds")
  func newFeed() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        request.path == "/1" ? FaultResponse().hanging(at: .start) : Followed.feed(["a"])
      }
      let looks = Count()
      let follower = FeedFollower(
        store: followed.store, client: followed.client, logger: followed.log.logger,
        clock: {
          _ = looks.next()
          return followed.now
        }, countTime: .seconds(1000))
      _ = try await followed.subscribe("/1")
      let running = Task { await follower.run() }
      defer { running.cancel() }
      // The client waits a second for the first feed.
      try await eventually("the first feed is given up") { followed.store.polls.failed == 1 }
      #expect(looks.value < 40, "the follower does not rest")
      let began = ContinuousClock.now
      _ = try await followed.subscribe("/2")
      try await eventually("the second feed is polled") { followed.server.requests.count == 2 }
      #expect(ContinuousClock.now - began < Self.limit)
    }
  }

  @Test("Subscriptions are counted again and again")
  func counts() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      let follower = FeedFollower(
        store: followed.store, client: followed.client, logger: followed.log.logger, clock: { followed.now },
        countTime: .milliseconds(20))
      let running = Task { await follower.run() }
      defer { running.cancel() }
      for number in 1...2 {
        _ = try await followed.subscribe("/\(number)")
        try await eventually("feed \(number) is counted") { followed.store.polls.subscriptions.working == number }
      }
    }
  }

  @Test("The hub of a feed that is followed while the subscriber rests is asked at once")
  func newHub() async throws {
    try await Hubs.with { hubs in
      _ = try await hubs.follow("/1")
      let running = Task { await hubs.subscriber.run() }
      defer { running.cancel() }
      try await eventually("the first request is sent") { hubs.web.requests.count { $0.path == "/hub" } == 1 }
      let began = ContinuousClock.now
      _ = try await hubs.follow("/2")
      try await eventually("the second request is sent") { hubs.web.requests.count { $0.path == "/hub" } == 2 }
      #expect(ContinuousClock.now - began < Self.limit)
    }
  }
}
