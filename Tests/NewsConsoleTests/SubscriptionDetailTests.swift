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
        <pubDate>Mon, 05 Jan 2026 08:30:00 GMT</pubDate></item></channel></rss>
        """
      fed.feeds.respond { _ in FaultResponse(body: Data(feed.utf8)) }
      let page = try await Self.preview("\(fed.feeds.url)/feed", language: "de", browser)
      try page.check()
      #expect(try page.texts(ofClass: "title") == ["The fog lifts over the harbour."])
      #expect(try page.texts(ofClass: "excerpt") == ["Two ferries sail again."])
      let languages = try page.scan.tags.filter { ["title", "excerpt"].contains($0["class"]) }.map { $0["lang"] }
      #expect(languages == ["de", "de"])
    }
  }

  @Test("A page whose feed is followed already is not followed as well")
  func followedPage() async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts"])
      _ = try await fed.subscribe("/feed")
      let page = try await Self.preview("\(fed.feeds.url)/", browser)
      #expect(try page.error(of: "url") == "This feed is already followed.")
      #expect(try page.form(Self.list).actions == ["preview"])
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
