import FaultServer
import Foundation
import News
import NewsAPI
import NewsFollower
import NewsPages
import NewsStore
import TestSupport
import Testing

/// The explanations of feeds that cannot be read. The exact reasons are in English, and marked so.
@Suite struct FeedFailureTests {
  private static func details(_ page: ConsolePage) throws -> [String] {
    try page.scan.all("span").filter { $0["lang"] == "en" }.map(\.text)
  }

  @Test(
    "The failure of a poll is explained in German",
    arguments: [
      (404, "Der Server hat mit dem Status 404 geantwortet.", ""),
      (410, "Den Feed gibt es nicht mehr (410).", ""),
      (200, "Die Antwort ist kein vollständiger Feed.", "the response is neither a feed"),
      (0, "Der letzte Abruf ist fehlgeschlagen.", "127.0.0.1"),
    ])
  func polls(status: Int, sentence: String, detail: String) async throws {
    try await FeedConsole.with(settings: { $0.language = .german }) { fed, browser in
      fed.feeds.respond { _ in FaultResponse(status: status, body: Data("<p>Hello</p>".utf8)) }
      // Nothing listens at port 1.
      let url = status == 0 ? "http://127.0.0.1:1/" : "\(fed.feeds.url)/feed"
      let subscription = try await fed.store.createSubscription(UUID(), SubscriptionContent(url: url))
      _ = try await fed.follower.poll(subscription.id)
      let page = try await browser.get("/console/subscriptions")
      try page.check()
      #expect(try page.texts(ofClass: "failure").first?.hasPrefix(sentence) ?? false)
      let details = try Self.details(page)
      #expect(detail.isEmpty ? details.isEmpty : details.joined().contains(detail))
    }
  }

  @Test("An address without a preview is explained in German")
  func previews() async throws {
    try await FeedConsole.with(settings: { $0.language = .german }) { fed, browser in
      fed.feeds.respond { request in
        FaultResponse(status: request.target == "/gone" ? 404 : 200, body: Data("<p>Hello</p>".utf8))
      }
      for (path, sentence, hasDetail) in [
        ("/gone", "Unter dieser Adresse ist kein Feed lesbar. Der Server hat mit dem Status 404 geantwortet.", false),
        ("/page", "Unter dieser Adresse ist kein Feed lesbar. Die Antwort ist kein vollständiger Feed.", true),
      ] {
        var form = try await browser.get("/console/subscriptions/new").form("/console/subscriptions")
        form["url"] = fed.feeds.url + path
        let page = try await browser.submit(form, "preview")
        try page.check(status: 422)
        #expect(try page.error(of: "url")?.hasPrefix(sentence) ?? false, "\(path)")
        #expect(try Self.details(page).isEmpty != hasDetail, "\(path)")
      }
    }
  }
  @Test("A preview of a page tries its first three links")
  func manyLinks() async throws {
    try await FeedConsole.with { fed, browser in
      fed.feeds.respond { request in
        let links = (1...9).map { #"<link rel="alternate" type="application/rss+xml" href="/\#($0)">"# }
        return request.path == "/"
          ? FaultResponse(headers: [("Content-Type", "text/html")], body: Data("<html>\(links.joined())".utf8))
          : FaultResponse(status: 404)
      }
      var form = try await browser.get("/console/subscriptions/new").form("/console/subscriptions")
      form["url"] = fed.feeds.url + "/"
      try await browser.submit(form, "preview").check(status: 422)
      #expect(fed.feeds.requests.map(\.path) == ["/", "/1", "/2", "/3"])
    }
  }
}
