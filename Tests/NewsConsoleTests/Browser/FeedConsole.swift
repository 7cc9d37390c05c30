import FaultServer
import Foundation
import NetworkAddresses
import News
import NewsAPI
import NewsConsole
import NewsFollower
import NewsStore
import OutgoingHTTP
import TestKit
import TestSupport
import Testing

/// A console that can read the feeds of a server on loopback.
struct FeedConsole: Sendable {
  let console: ConsoleServer
  let feeds: FaultServer
  let follower: FeedFollower

  var store: NewsStore { console.store }

  /// Runs the body with a server and an administrator's browser.
  ///
  /// - Parameters:
  ///   - hasPreviews: Whether new subscriptions are previewed.
  ///   - timeLimit: The timeout of a preview.
  static func with(
    hasPreviews: Bool = true, timeLimit: Duration = .seconds(300),
    settings change: @escaping @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    _ body: @Sendable (FeedConsole, ConsoleBrowser) async throws -> Void
  ) async throws {
    var policy = AddressPolicy()
    policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
    policy.allowsPlainHTTP = true
    let client = OutgoingClient(policy: policy, userAgent: "Tidings")
    try await withResource(client, release: { await $0.shutdown() }) { client in
      try await FaultServer.with { feeds in
        try await TestServer.with(
          settings: change,
          modules: { api in
            var settings = NewsConsole.Settings()
            settings.signInsPerMinute = 1_000_000
            if hasPreviews { settings.feedPreviewer = FeedPreviewer(client: client, timeLimit: timeLimit) }
            return [NewsConsole(api: api, settings: settings)]
          },
          { server in
            let console = ConsoleServer(server: server)
            let follower = FeedFollower(store: server.store, client: client, logger: NewsDatabase.logger)
            let fed = FeedConsole(console: console, feeds: feeds, follower: follower)
            try await body(fed, try await console.signedIn([.admin], name: "admin"))
          })
      }
    }
  }

  /// Serves an RSS feed at `/feed`, a page that links to it at `/`, and 404 elsewhere.
  func serve(_ titles: [String], feedTitle: String = "Port", language: String = "en") {
    // Readers take the texts of RSS for HTML.
    func escaped(_ text: String) -> String {
      (0..<2).reduce(text) { text, _ in text.replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
    }
    let items = titles.enumerated().map { index, title in
      """
      <item><guid>\(index)</guid><title>\(escaped(title))</title><description>About \(escaped(title))</description>
      <category>Boats</category><pubDate>Mon, 05 Jan 2026 08:30:00 GMT</pubDate></item>
      """
    }
    let rss = """
      <rss version="2.0"><channel><title>\(escaped(feedTitle))</title><link>https://port.example/</link>
      <language>\(language)</language>\(items.joined())</channel></rss>
      """
    let page = #"<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head><p>Hello</p></html>"#
    feeds.respond { request in
      switch request.target {
      case "/feed": FaultResponse(body: Data(rss.utf8))
      case "/": FaultResponse(headers: [("Content-Type", "text/html")], body: Data(page.utf8))
      default: FaultResponse(status: 404)
      }
    }
  }

  /// Creates a subscription without the console.
  func subscribe(_ path: String, title: String? = nil) async throws -> Subscription {
    try await store.createSubscription(
      UUID(), SubscriptionContent(url: try OutgoingURL("\(feeds.url)\(path)").text, title: title))
  }

  /// The number of stored items.
  func items() async throws -> Int { try await store.editorialItems(EditorialQuery()).items.count }
}
