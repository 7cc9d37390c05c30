import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The time of the next poll, by what a feed and its server ask for. The test starts on Monday 2 February 2026, 02:40 UTC.
@Suite struct PollHintTests {
  private static func date(_ seconds: Double) -> String { RetryAfter.date(Followed.start + seconds).fieldValue }

  struct Case: Sendable, CustomTestStringConvertible {
    var headers: [(name: String, value: String)] = []
    var channel = ""
    /// The wait in seconds. Without hints it is half of the hour between two entries. Polls are spread over a tenth of it.
    var wait: Double

    var testDescription: String { headers.map { "\($0.name): \($0.value)" }.joined() + channel }
  }

  private static let spread = 1.05

  @Test(
    "The next poll is not earlier than the hints allow",
    arguments: [
      Case(wait: 1800 * spread),
      Case(headers: [("Cache-Control", "public, max-age=40000")], wait: 40_000 * spread),
      Case(headers: [("Cache-Control", "max-age=40000"), ("Age", "10000")], wait: 30_000 * spread),
      Case(headers: [("Cache-Control", "max-age=31536000")], wait: 86_400 * spread),
      Case(headers: [("Cache-Control", "max-age=60")], wait: 1800 * spread),
      Case(headers: [("Expires", date(40_000)), ("Date", date(0))], wait: 40_000 * spread),
      Case(headers: [("Expires", "0"), ("Date", date(0))], wait: 1800 * spread),
      Case(headers: [("Retry-After", "9000")], wait: 9000 * spread),
      Case(channel: "<ttl>120</ttl>", wait: 7200 * spread),
      Case(channel: "<ttl>500000</ttl>", wait: 7 * 86_400 * spread),
      Case(channel: "<sy:updatePeriod>hourly</sy:updatePeriod>", wait: 3600 * spread),
      Case(channel: "<sy:updatePeriod>yearly</sy:updatePeriod>", wait: 7 * 86_400 * spread),
      Case(
        channel: "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
        wait: 21_600 * spread),
      Case(
        channel:
          "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>2026-01-01T05:00+00:00</sy:updateBase>",
        wait: 8400 * spread),
      Case(
        channel:
          "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>2030-01-01T05:00+00:00</sy:updateBase>",
        wait: 8400 * spread),
      // 06:00, and some minutes more.
      Case(channel: "<skipHours><hour>3</hour><hour>4</hour><hour>5</hour></skipHours>", wait: 12_000 + 150),
      Case(channel: "<skipDays><day>Monday</day></skipDays>", wait: 76_800 + 150),
    ])
  func hints(hint: Case) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b"], headers: hint.headers, channel: hint.channel) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      #expect(abs(try await followed.wait(id) - hint.wait) < 0.01)
    }
  }

  @Test("The hints of a feed apply after it has not changed, and after a failure its hours")
  func hintsLast() async throws {
    try await Followed.with { followed in
      let channel = "<ttl>240</ttl><skipHours><hour>3</hour></skipHours>"
      followed.server.respond { _ in
        Followed.feed(["a", "b"], headers: [("ETag", "\"1\""), ("Cache-Control", "max-age=20000")], channel: channel)
      }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      #expect(abs(try await followed.wait(id) - 20_000 * 1.05) < 0.01)
      followed.server.respond { _ in FaultResponse(status: 304) }
      _ = try await followed.poll(id)
      #expect(abs(try await followed.wait(id) - 20_000 * 1.05) < 0.01)
      followed.server.respond { _ in FaultResponse(status: 304, headers: [("Cache-Control", "no-cache")]) }
      _ = try await followed.poll(id)
      #expect(abs(try await followed.wait(id) - 14_400 * 1.05) < 0.01)
      // The fourth failure would be repeated at about 03:23.
      followed.server.respond { _ in FaultResponse(status: 500) }
      for _ in 0..<4 { _ = try await followed.poll(id) }
      #expect(abs(try await followed.wait(id) - 4800 - 150) < 0.01)
    }
  }

  @Test("Retry-After is a number of seconds or a date by the server's clock", arguments: [429, 503])
  func retryAfter(status: Int) async throws {
    try await Followed.with { followed in
      let later = Followed.start + 1_000_000
      let values: [(RetryAfter, Double)] = [
        (.seconds(5000), 5000), (.date(later + 6000), 6000), (.rfc850Date(later + 6000), 6000),
        (.asctimeDate(later + 6000), 6000), (.seconds(100_000_000), 7 * 86_400), (.text("soon"), 300),
        (.seconds(0), 300),
      ]
      for (index, (value, wait)) in values.enumerated() {
        followed.server.respond { _ in .busy(status, retryAfter: value).dated(later) }
        let id = try await followed.subscribe("/\(index)")
        _ = try await followed.poll(id)
        let found = try await followed.wait(id)
        #expect(abs(found - wait * 1.1) < 0.01, "\(value.fieldValue): \(found)")
      }
    }
  }

  @Test("Absurd values of Retry-After neither end the server nor stop polling", arguments: RetryAfter.absurd)
  func absurd(value: String) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in .busy(retryAfter: .text(value)) }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      #expect(300...7 * 86_400 * 1.2 ~= (try await followed.wait(id)))
    }
  }

  @Test("A feed that has become silent is polled after an eighth of its silence")
  func silent() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b"]) }
      let id = try await followed.subscribe("/feed")
      for wait in [1800.0, 5450, 10_450] {
        _ = try await followed.poll(id)
        #expect(abs(try await followed.wait(id) - wait * 1.05) < 0.01)
        followed.advance(40_000)
      }
    }
  }

  /// A feed of entries with the given ages in seconds.
  private static func feed(_ ages: [Double]) -> FaultResponse {
    let items = ages.map { age in
      let date = Followed.start.addingTimeInterval(-age).formatted(.iso8601)
      return "<item><guid>\(age)</guid><title>a</title><pubDate>\(date)</pubDate></item>"
    }
    let text = "<rss version=\"2.0\"><channel><title>Port</title>\(items.joined())</channel></rss>"
    return FaultResponse(body: Data(text.utf8))
  }

  private static let uneven: [Double] = (1...10).map { 400 * Double($0 * $0) }
  private static let oldAndRecent: [Double] = [40_000_000] + (1...10).map { 3600 * Double($0) }

  @Test(
    "A feed is polled after half of the time between its ten newest entries, from five minutes to half a day",
    arguments: [
      ([60, 120], 300), ([600, 1800], 600), ([100_000, 300_000], 43_200), ([3600], 3600),
      (oldAndRecent, 1800), (uneven, 2200),
    ] as [([Double], Double)])
  func cadence(ages: [Double], wait: Double) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Self.feed(ages) }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      let found = try await followed.wait(id)
      #expect(abs(found - wait * Self.spread) < 0.01, "\(found)")
    }
  }

  @Test("A feed with a single date is polled like one without dates")
  func singleDate() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Self.feed([3600]) }
      let id = try await followed.subscribe("/feed")
      for wait in [3600.0, 5400, 8100] {
        _ = try await followed.poll(id)
        #expect(abs(try await followed.wait(id) - wait * Self.spread) < 0.01)
      }
    }
  }

  @Test(
    "The wait doubles with each failure, up to half a day",
    arguments: [(0, 300), (1, 600), (7, 38_400), (8, 43_200), (5000, 43_200)] as [(Int, Double)])
  func backoff(failures: Int, wait: Double) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse(status: 500) }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.sql.query("UPDATE subscriptions SET failures = \(failures) WHERE id = \(id)")
      _ = try await followed.poll(id)
      let found = try await followed.wait(id)
      #expect(abs(found - wait * 1.1) < 0.01, "\(found)")
    }
  }

  @Test("A poll that fails after it was cancelled is repeated after a minute, and is no failure of its feed")
  func cancelled() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse(status: 500) }
      let id = try await followed.subscribe("/feed")
      let follower = FeedFollower(
        store: followed.store, client: followed.client, logger: followed.log.logger, clock: { followed.now },
        random: {
          // The number is needed once the response has arrived.
          _ = withUnsafeCurrentTask { $0?.cancel() }
          return 0.5
        })
      try await follower.pollDue()
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.lastError == nil && subscription.nextPoll == Followed.start + 60)
      #expect(!followed.log.text.contains("a feed could not be read"), "\(followed.log.text)")
    }
  }

  @Test("Retry-After of a feed that was read binds polls by hand, too")
  func retryAfterSuccess() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"], headers: [("Retry-After", "9000")]) }
      let id = try await followed.subscribe("/feed")
      #expect(try await followed.poll(id).lastError == nil)
      guard case .notBefore(let end) = try await followed.follower.poll(id) else {
        throw Unexpected(description: "the wait was not respected")
      }
      #expect(end == Followed.start + 9000)
    }
  }

  @Test("An entry whose date is in the future has no effect on the time of the next poll")
  func future() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Self.feed([-864_000, 3600, 7200]) }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      #expect(abs(try await followed.wait(id) - 1800 * Self.spread) < 0.01)
    }
  }

  @Test("The interval of a feed without dates follows the changes that polls find")
  func undated() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"], hasDates: false) }
      let id = try await followed.subscribe("/feed")
      var waits: [Double] = []
      let all = ["a", "b", "c", "d", "e", "f"]
      let lists = (1...6).map { Array(all.prefix($0)) } + [all, all, ["a", "b", "c", "d", "e", "f2"]]
      for titles in lists {
        followed.server.respond { _ in Followed.feed(titles, hasDates: false) }
        _ = try await followed.poll(id)
        waits.append(try await followed.wait(id) / 1.05)
      }
      let expected = [3600, 1800, 900, 450, 300, 300, 450, 675, 337.5]
      #expect(zip(waits, expected).allSatisfy { abs($0 - $1) < 0.01 }, "\(waits)")
    }
  }

  @Test("The interval of a feed without dates grows when it has not changed (304), up to half a day")
  func longestInterval() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        request["If-None-Match"] == nil
          ? Followed.feed(["a"], headers: [("ETag", "\"1\"")], hasDates: false) : FaultResponse(status: 304)
      }
      let id = try await followed.subscribe("/feed")
      var waits: [Double] = []
      for _ in 0..<9 {
        _ = try await followed.poll(id)
        waits.append(try await followed.wait(id) / Self.spread)
      }
      followed.server.respond { _ in Followed.feed(["a", "b"], hasDates: false) }
      _ = try await followed.poll(id)
      waits.append(try await followed.wait(id) / Self.spread)
      let expected = [3600, 5400, 8100, 12_150, 18_225, 27_337.5, 41_006.25, 43_200, 43_200, 21_600]
      #expect(zip(waits, expected).allSatisfy { abs($0 - $1) < 0.01 }, "\(waits)")
    }
  }
}
