import FaultServer
import NewsFollower
import NewsStore
import TestKit
import Testing

/// The tasks of a server that follow feeds, while nothing else is due.
@Suite struct RunningFollowerTests {
  /// The maximum time until a change is noticed on a busy machine. A task that misses it rests for a minute.
  private static let limit: Duration = .seconds(40)

  @Test("A feed that is followed while the follower rests is polled within seconds")
  func newFeed() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      _ = try await followed.subscribe("/1")
      let running = Task { await followed.follower.run() }
      defer { running.cancel() }
      try await eventually("the first feed is polled") { followed.store.polls.changed == 1 }
      let began = ContinuousClock.now
      _ = try await followed.subscribe("/2")
      try await eventually("the second feed is polled") { followed.server.requests.count == 2 }
      #expect(ContinuousClock.now - began < Self.limit)
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
