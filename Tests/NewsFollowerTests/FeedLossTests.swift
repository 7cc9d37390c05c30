import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite("What is lost of a feed") struct FeedLossTests {
  private static func feed(_ items: String) -> FaultResponse {
    FaultResponse(
      headers: [("ETag", "\"1\"")],
      body: Data("<rss version=\"2.0\"><channel><title>Port</title>\(items)</channel></rss>".utf8))
  }

  @Test("Skipped entries, omitted fields and dates that cannot be read are reported to editors until they are gone")
  func report() async throws {
    try await Followed.with { followed in
      let good = "<item><guid>1</guid><title>a</title><pubDate>2026-01-02</pubDate></item>"
      followed.server.respond { _ in
        Self.feed(
          good + "<item><guid>2</guid><title>b</title><pubDate>the other day</pubDate></item>"
            + "<item><guid>3</guid><pubDate>2026-01-02</pubDate></item>"
            + "<item><guid>4</guid><title>d</title><pubDate>2099-01-02</pubDate></item>"
            + "<item><guid>1</guid><title>e</title><pubDate>2026-01-02</pubDate></item>")
      }
      let id = try await followed.subscribe("/feed")
      let subscription = try await followed.poll(id)
      #expect(subscription.lastError == nil)
      let losses = try #require(subscription.losses)
      #expect(losses.at == Followed.start && losses.count == 4 && losses.messages.count == 4)
      for words in ["\"the other day\" cannot be read", "neither text nor title", "in the future", "same identifier"] {
        #expect(losses.messages.contains { $0.contains(words) }, "\(losses.messages)")
      }
      #expect(try await followed.titles() == ["a", "b", "d"])
      // The feed is unchanged, and so are its faults.
      followed.server.respond { _ in .notModified() }
      #expect(try await followed.poll(id).losses == losses)
      followed.server.respond { _ in FaultResponse(status: 500) }
      #expect(try await followed.poll(id).losses == losses)
      followed.server.respond { _ in Self.feed(good) }
      #expect(try await followed.poll(id).losses == nil)
    }
  }

  @Test(
    "The losses of a feed that breaks off, and of one with too many entries, are reported", arguments: [1, 1000])
  func reportOfFailure(newItems: Int) async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: newItems)) { followed in
      let items = ["<guid>1</guid><title>a</title>", "<guid>2</guid>", "<guid>3</guid><title>c</title>"].map {
        "<item>\($0)<pubDate>2026-01-02</pubDate></item>"
      }
      let feed = Self.feed(items.joined())
      followed.server.respond { _ in newItems == 1 ? feed : feed.withoutEnd }
      let subscription = try await followed.poll(try await followed.subscribe("/feed"))
      #expect(subscription.lastError != nil && subscription.paused == (newItems == 1))
      // The response with too many entries is not at fault.
      let status: Int? = newItems == 1 ? nil : 200
      #expect(subscription.lastError?.status == status)
      #expect(subscription.losses?.messages.contains { $0.contains("neither text nor title") } == true)
    }
  }

  @Test("A feed that cannot be read is named in the log with the reason, and so is a poll that cannot be stored")
  func log() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse(status: 503) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let lines = followed.log.text.split(separator: "\n")
      let line = try #require(lines.first { $0.contains("a feed could not be read") })
      for words in ["info ", id.uuidString.lowercased(), "the status 503"] { #expect(line.contains(words), "\(line)") }
      #expect(!followed.log.text.contains("a poll could not be finished"))
      for statement in Unstorable.outcome.statements { _ = try await followed.sql.query(.init(unsafeSQL: statement)) }
      followed.advance(1000)
      try await followed.follower.pollDue()
      #expect(followed.log.text.contains("warning a poll could not be finished"))
    }
  }

  @Test("The reason of a failure is that of the first line that cannot be read, and safe to print")
  func unsafeReason() async throws {
    try await Followed.with { followed in
      let line = String(decoding: Followed.unreadableLine.body, as: UTF8.self)
      let body = Data((line + "\n" + #"{"sourceDigest": ""}"# + "\n").utf8)
      followed.server.respond { _ in FaultResponse(body: body) }
      let message = try await followed.poll(try await followed.subscribe("/feed")).lastError?.message
      #expect(message?.contains("the topic's language \"de\" is not a language tag") == true, "\(message ?? "")")
    }
  }

  @Test("A report is short, whatever is lost")
  func bound() async throws {
    try await Followed.with { followed in
      let date = String(repeating: "\u{202E}\u{7}x", count: 5000)
      let items = (1...200).map { "<item><guid>\($0)</guid><title>a</title><pubDate>\(date)</pubDate></item>" }
      followed.server.respond { _ in Self.feed(items.joined()) }
      let losses = try #require(try await followed.poll(try await followed.subscribe("/feed")).losses)
      #expect(losses.count >= 200 && losses.messages.count == 10)
      #expect(losses.messages.allSatisfy { $0.count <= 300 && !$0.contains("\u{202E}") })
      // The reader of a feed shortens most texts in its messages itself.
      var long = PollLosses()
      for length in [299, 300, 301] { long.add(String(repeating: "x", count: length)) }
      #expect(long.count == 3 && long.messages.map(\.count) == [299, 300, 300])
    }
  }
}
