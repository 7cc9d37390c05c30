import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A considerate client") struct PolitenessTests {
  @Test(
    "sends no request before Retry-After is over, for any reason and in any process",
    arguments: [429, 503], [RetryAfter.seconds(600), .text("600 ")])
  func retryAfter(status: Int, value: RetryAfter) async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      installation.feed.fault(next: .busy(status, retryAfter: value))
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests().count == 1)
      for client in [client, try installation.client()] {
        #expect(await client.performFetch(.manual).result == .failed)
        #expect(await client.performFetch(.scheduled).result == .failed)
        await client.receive(RemoteNotification())
      }
      #expect(installation.requests() == [])
      #expect(try client.schedule.failures == 1, "a fetch without a request is no further failure")
      installation.clock.advance(by: 599)
      #expect(await client.performFetch().requests == 0)
      installation.clock.advance(by: 2)
      #expect(await client.performFetch().result == .newData)
    }
  }

  @Test("evaluates a date of Retry-After by the server's clock")
  func skewedDate() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let theirs = installation.clock.now.date + 86_400 * 365
      installation.feed.fault(next: .response(.busy(503, retryAfter: .date(theirs + 300)).dated(theirs)))
      #expect(await client.performFetch().result == .failed)
      #expect(try client.schedule.holdRemaining(at: installation.clock.now) == .seconds(300))
    }
  }

  @Test("limits Retry-After to a day, and ignores an invalid one", arguments: RetryAfter.absurd)
  func absurd(value: String) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      installation.feed.fault(next: .busy(503, retryAfter: .text(value)))
      #expect(await client.performFetch().result == .failed)
      #expect(try client.schedule.holdRemaining(at: installation.clock.now) <= .seconds(86_400))
    }
  }

  @Test("ignores Retry-After of a response that is no refusal", arguments: [200, 304])
  func noRefusal(status: Int) async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      if status == 200 { installation.feed.publish("two") }
      installation.feed.fault(next: .header("Retry-After", "600"))
      #expect(await client.performFetch().result == (status == 200 ? .newData : .noData))
      #expect(await client.performFetch().requests == 1)
    }
  }

  @Test(
    "delays only scheduled wakes by X-Poll-Interval and max-age, whichever is longer",
    arguments: [
      (10_800, "no-store"), (nil, "public, max-age=10800"), (10_800, "max-age=60"), (60, "s-maxage=1,MAX-AGE=10800"),
    ] as [(Int?, String)])
  func proposals(interval: Int?, cacheControl: String) async throws {
    try await Installation.with { installation in
      (installation.feed.pollInterval, installation.feed.cacheControl) = (interval, cacheControl)
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.minimum) }
      await client.performFetch()
      guard case .wait(let date, _) = try client.schedule.decision(at: installation.clock.now) else {
        Issue.record("it would wake at once")
        return
      }
      #expect(date >= installation.clock.now.date + 3 * 3600)
      #expect(await client.performFetch(.manual).requests == 1)
    }
  }

  @Test("sends its name, no cookies and at most one tag")
  func headers() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      installation.feed.fault(next: .header("Set-Cookie", "a=b"))
      await client.performFetch()
      await client.performFetch()
      for request in installation.server.requests {
        let names = Set(request.headers.map { $0.name.lowercased() })
        #expect(names.isSubset(of: ["host", "user-agent", "accept", "accept-encoding", "if-none-match", "connection"]))
        #expect(request["User-Agent"] == "tests/1 (+https://example.org)")
        #expect(request["If-None-Match"]?.contains(",") != true)
      }
    }
  }

  @Test("repeats a request once if a cache sends 304 for an unconditional request")
  func strangeNotModified() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      installation.feed.fault(next: .response(.notModified(etag: "\"x\"")))
      #expect(await client.performFetch().result == .newData)
      try FileManager.default.removeItem(at: installation.folder)
      let other = try installation.client()
      _ = installation.requests()
      installation.feed.fault(next: .response(.notModified(etag: "\"x\"")), times: 9)
      #expect(await other.performFetch().result == .failed)
      #expect(installation.requests().count == 2)
    }
  }

  @Test("follows a few redirects, and sends its conditions to no other origin")
  func redirections() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      let token = try #require(feed.token().description as String?)
      _ = installation.requests()
      feed.fault(next: .redirect(.sameOrigin("/v1/changes?limit=200&since=\(token)")))
      #expect(await client.performFetch().result == .noData)
      #expect(installation.requests() == ["*/v1/changes", "*/v1/changes"])
      let mirror = try await FaultServer.start(handler: feed.respond)
      feed.publish("two")
      feed.fault(next: .redirect(.other(mirror, "/v1/changes?limit=200&since=\(token)")))
      #expect(await client.performFetch().inserted == 1)
      #expect(mirror.requests.map(\.isConditional) == [false])
      await mirror.stop()
    }
  }

  @Test("follows no redirects in circles, without a target, with a password or with a wait")
  func badRedirections() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let client = try installation.client()
      for redirect: FaultRedirect in [
        .loop, .chase, .missing, .credentials("/v1/items"), .text(""), .text("file:///etc/passwd"), .text("http://"),
      ] {
        feed.fault(next: .redirect(redirect), times: 50)
        #expect(await client.performFetch().result == .failed)
        feed.removeFaults()
        #expect(installation.requests().count <= 6)
      }
      feed.fault(
        next: .init { _, request in
          .redirect(.relative("/v1/items"), from: request, status: 307, retryAfter: .seconds(60))
        })
      #expect(await client.performFetch().requests == 1)
      #expect(try client.schedule.holdRemaining(at: installation.clock.now) == .seconds(60))
    }
  }

  @Test("wakes less often where wakes are expensive")
  func constraints() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.minimum) }
      let dear = try installation.client(constraints: FetchConstraints(isMetered: true, isLowPower: true))
      var wakes = (free: 0, dear: 0)
      for _ in 0..<(7 * 96) {
        installation.clock.advance(by: 900)
        guard case .wake = try client.decision() else { continue }
        wakes.free += 1
        guard case .wake = try dear.decision() else { continue }
        wakes.dear += 1
        await dear.performFetch(.scheduled)
      }
      #expect(wakes.dear > 0)
      #expect(wakes.dear < wakes.free)
    }
  }
}
