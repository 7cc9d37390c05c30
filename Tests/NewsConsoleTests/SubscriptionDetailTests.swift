import FaultServer
import Foundation
import News
import PostgresClient
import TestSupport
import Testing

/// The facts that the pages of subscriptions show of a feed, and of its entries in a preview.
@Suite struct SubscriptionDetailTests {
  private static let list = "/console/subscriptions"

  /// Returns the page with the preview of an address.
  private static func preview(
    _ url: String, language: String = "", _ browser: ConsoleBrowser
  ) async throws -> ConsolePage {
    var form = try await browser.get("\(list)/new").form(list)
    form["url"] = url
    form["language"] = language
    return try await browser.submit(form, "preview")
  }

  @Test("An entry without title and language has its first sentence and the language of the form in a preview")
  func untitled() async throws {
    try await FeedConsole.with { fed, browser in
      let feed = """
        <rss version="2.0"><channel><title>Port</title><item><guid>1</guid>
        <description>The fog lifts over the harbour. Two ferries sail again.</description>
        <enclosure url="https://port.example/fog.mp3" length="9" type="audio/mpeg"/>
        <pubDate>Mon, 05 Jan 2026 08:30:00 GMT</pubDate></item></channel></rss>
        """
      fed.feeds.respond { _ in FaultResponse(body: Data(feed.utf8)) }
      let page = try await Self.preview("\(fed.feeds.url)/feed", language: "de", browser)
      try page.check()
      #expect(try page.texts(ofClass: "title") == ["The fog lifts over the harbour."])
      #expect(try page.texts(ofClass: "excerpt") == ["Two ferries sail again."])
      let languages = try page.scan.tags.filter { ["title", "excerpt"].contains($0["class"]) }.map { $0["lang"] }
      #expect(languages == ["de", "de"])
      let times = try page.scan.all("time").compactMap { $0["datetime"] }
      #expect(times.contains { $0.hasPrefix("2026-01-05T08:30:00") }, "\(times)")
      #expect(page.text.contains("Attachments: 1"))
    }
  }

  @Test("The title and the text of a long entry are shortened in a preview")
  func longEntry() async throws {
    try await FeedConsole.with { fed, browser in
      func words(_ count: Int) -> String { Array(repeating: "ferry", count: count).joined(separator: " ") }
      let feed = """
        <rss version="2.0"><channel><title>Port</title><item><guid>1</guid><title>\(words(60))</title>
        <description>\(words(150))</description></item></channel></rss>
        """
      fed.feeds.respond { _ in FaultResponse(body: Data(feed.utf8)) }
      let page = try await Self.preview("\(fed.feeds.url)/feed", browser)
      for (name, limit) in [("title", 160), ("excerpt", 400)] {
        let texts = try page.texts(ofClass: name)
        // An ellipsis follows.
        #expect(texts.count == 1 && texts.allSatisfy { limit / 2...limit + 1 ~= $0.count }, "\(texts)")
      }
    }
  }

  @Test("A page whose feed is followed already is not followed as well")
  func followedPage() async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts"])
      _ = try await fed.subscribe("/feed")
      let page = try await Self.preview("\(fed.feeds.url)/", browser)
      #expect(page.text.contains("Language: en"))
      // The address of a feed without a title is its name.
      let list = try await browser.get(Self.list)
      #expect(try list.texts(ofClass: "address").isEmpty && list.text.contains("\(fed.feeds.url)/feed"))
      #expect(try page.error(of: "url") == "This feed is already followed.")
      #expect(try page.form(Self.list).actions == ["preview"])
    }
  }

  @Test("The topics of a feed, its next poll, its losses and the lease at its hub are shown, in short in the list")
  func hub() async throws {
    try await FeedConsole.with { fed, browser in
      let title = Array(repeating: "Port", count: 25).joined(separator: " ")
      let subscription = try await fed.subscribe("/feed", title: title)
      let reason = "busy" + String(repeating: " again", count: 20)
      let hub = "https://hub.example/" + String(repeating: "a", count: 100)
      let topics = (0...9).map { "harbour-\($0)" }
      try await fed.console.server.makeTopics(topics)
      _ = try await fed.console.server.sql.query(
        """
        UPDATE subscriptions SET topics = \(topics), state = 'draft', next_poll = '2026-01-02T03:04:00Z',
          pushed_at = '2026-01-03T04:05:00Z',
          losses = '{"at": "2026-01-04T05:06:00Z", "count": 1, "messages": ["an entry has no text"]}'
        """)
      _ = try await fed.console.server.sql.query(
        """
        INSERT INTO hub_leases
          (token, subscription, state, hub, topic, callback, secret, error, expires_at, next_request)
        VALUES (repeat('x', 22), \(subscription.id), 'pending', \(hub), \(subscription.url), '', '',
          \(reason), '2026-01-05T06:07:00Z', now())
        """)
      let target = "\(Self.list)/\(subscription.id.uuidString.lowercased())"
      for (target, isWhole) in [(Self.list, false), (target, true)] {
        let page = try await browser.get(target)
        try page.check()
        let times = try page.scan.all("time").compactMap { $0["datetime"] }
        for time in ["2026-01-02T03:04:00", "2026-01-03T04:05:00", "2026-01-04T05:06:00", "2026-01-05T06:07:00"] {
          #expect(times.contains { $0.hasPrefix(time) }, "\(time) in \(target): \(times)")
        }
        for text in ["Topics: harbour-0, harbour-1", "New items: Draft", "WebSub: not confirmed yet", "(busy again"] {
          #expect(page.text.contains(text), "\(text) in \(target)")
        }
        for text in [title, reason, hub, topics.joined(separator: ", ")] {
          #expect(page.text.contains(text) == isWhole, "\(text) in \(target)")
        }
      }
      let page = try await browser.get(target)
      #expect(try page.scan.all("h1").contains { $0.text == title })
    }
  }

  @Test("A feed that fails after a success has the times of both, and long texts are shortened in the list only")
  func failing() async throws {
    try await FeedConsole.with { fed, browser in
      let long = String(repeating: "a", count: 200)
      let subscription = try await fed.subscribe("/\(long)", title: "Port")
      let reason = "the connection was lost: \(long)"
      _ = try await fed.console.server.sql.query(
        """
        UPDATE subscriptions SET last_success = '2026-01-02T03:04:00Z', error_at = '2026-01-03T04:05:00Z',
          error_message = \(reason), failures = 2
        WHERE id = \(subscription.id)
        """)
      let target = "\(Self.list)/\(subscription.id.uuidString.lowercased())"
      for (target, isWhole) in [(Self.list, false), (target, true)] {
        let page = try await browser.get(target)
        try page.check()
        let times = try page.scan.all("time").compactMap { $0["datetime"] }
        for time in ["2026-01-02T03:04:00", "2026-01-03T04:05:00"] {
          #expect(times.contains { $0.hasPrefix(time) }, "\(target): \(times)")
        }
        let text = try page.scan.text
        #expect(text.contains(subscription.url) == isWhole && text.contains(reason) == isWhole, "\(target)")
      }
    }
  }
}
