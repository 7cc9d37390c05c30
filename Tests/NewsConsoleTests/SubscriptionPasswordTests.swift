import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import TestSupport
import Testing

@Suite struct SubscriptionPasswordTests {
  private static let list = "/console/subscriptions"

  @Test("A feed with a password is previewed and followed, and its page names what was lost of it")
  func passwordAndLosses() async throws {
    try await FeedConsole.with { fed, browser in
      let right = "Basic " + Data("ann:s3cret".utf8).base64EncodedString()
      let feed = Data(
        "<rss version='2.0'><channel><title>x</title><item><guid>1</guid><title>a</title><pubDate>soon</pubDate></item></channel></rss>"
          .utf8)
      fed.feeds.respond { $0["Authorization"] == right ? FaultResponse(body: feed) : FaultResponse(status: 401) }
      let address = "\(fed.feeds.url)/feed"
      var form = try await browser.get("\(Self.list)/new").form(Self.list)
      form["url"] = address.replacing("://", with: "://ann:s3cret@")
      let preview = try await browser.submit(form, "preview")
      try preview.check()
      var subscription = try preview.form(Self.list)
      #expect(subscription["url"] == address && subscription["user"] == "ann" && subscription["password"] == "")
      #expect(try await browser.submit(subscription, "subscribe").status == 422)
      subscription["password"] = "s3cret"
      #expect(try await browser.submit(subscription, "subscribe").text.contains("The feed is followed."))
      let stored = try #require(try await fed.store.subscriptions().first)
      _ = try await fed.follower.poll(stored.id)
      let path = "\(Self.list)/\(stored.id.uuidString.lowercased())"
      let page = try await browser.get(path)
      try page.check()
      #expect(page.text.contains("Skipped or changed") && page.text.contains("cannot be read"))
      #expect(try page.form(path)["password"] == "")
      // An empty field keeps the password.
      var edit = try page.form(path)
      edit["title"] = "Port"
      #expect(try await browser.submit(edit).status == 200)
      _ = try await fed.follower.poll(stored.id)
      let saved = try await fed.store.subscription(stored.id)
      #expect(saved.title == "Port" && saved.lastError == nil)
      let list = try await browser.get(Self.list)
      #expect(list.text.contains("Skipped or changed") && !list.text.contains("soon"))
    }
  }
}
