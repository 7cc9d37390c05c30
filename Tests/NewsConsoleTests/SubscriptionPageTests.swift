import FaultServer
import Foundation
import News
import NewsAPI
import NewsFollower
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct SubscriptionPageTests {
  private static let list = "/console/subscriptions"
  private static let new = "/console/subscriptions/new"

  private static func path(_ subscription: Subscription, _ page: String = "") -> String {
    "\(list)/\(subscription.id.uuidString.lowercased())\(page)"
  }

  /// Returns the form of a new subscription, filled in with an address.
  private static func form(_ url: String, _ browser: ConsoleBrowser) async throws -> ConsoleForm {
    var form = try await browser.get(new).form(list)
    form["url"] = url
    return form
  }

  @Test(
    "The address of a feed or of its page is previewed, nothing is stored before it is followed",
    arguments: ["", "feed"])
  func preview(path: String) async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts", "Two", "Three", "Four", "Five", "Six"])
      try await fed.console.server.makeTopics(["harbour"])
      let empty = try await browser.get(Self.new)
      try empty.check()
      #expect(try empty.form(Self.list).actions == ["preview"])
      var form = try await Self.form("\(fed.feeds.url)/\(path)", browser)
      form["state"] = "draft"
      let page = try await browser.submit(form, "preview")
      try page.check()
      #expect(try page.texts(ofClass: "feed") == ["Port"])
      #expect(try page.texts(ofClass: "address") == ["\(fed.feeds.url)/feed"])
      #expect(try page.texts(ofClass: "title") == ["Fog lifts", "Two", "Three", "Four", "Five"])
      #expect(try page.texts(ofClass: "excerpt").first == "About Fog lifts")
      #expect(try page.texts(ofClass: "state").allSatisfy { $0 == "Draft" })
      #expect(page.text.contains("Topics: boats") && page.text.contains("Entries: 6"))
      #expect(try await fed.store.subscriptions().isEmpty)
      #expect(try await fed.items() == 0)
      #expect(try await fed.store.topics().topics.map(\.slug) == ["harbour"])
      var subscription = try page.form(Self.list)
      #expect(subscription["url"] == "\(fed.feeds.url)/feed" && subscription["state"] == "draft")
      subscription.add("topics", "harbour")
      subscription["title"] = "The port"
      let again = try await browser.submit(subscription, "preview")
      #expect(again.text.contains("Topics: harbour"))
      let done = try await browser.submit(try again.form(Self.list), "subscribe")
      try done.check()
      #expect(try done.texts(ofClass: "good").first?.hasPrefix("The feed is followed.") ?? false)
      let stored = try #require(try await fed.store.subscriptions().first)
      #expect(stored.url == "\(fed.feeds.url)/feed" && stored.title == "The port" && stored.state == .draft)
      #expect(stored.topics == ["harbour"])
      // The poll stores what the preview has shown.
      _ = try await fed.follower.poll(stored.id)
      let items = try await fed.store.editorialItems(EditorialQuery()).items
      #expect(items.count == 6 && items.allSatisfy { $0.state == .draft && $0.item.topics == ["harbour"] })
    }
  }

  @Test("An address that was changed after its preview is previewed again")
  func changedAddress() async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts"])
      let form = try await Self.form("\(fed.feeds.url)/feed", browser)
      #expect(try await browser.submit(form, "subscribe").status == 200)
      #expect(try await fed.store.subscriptions().isEmpty)
      var previewed = try await browser.submit(form, "preview").form(Self.list)
      previewed["url"] = "\(fed.feeds.url)/"
      let page = try await browser.submit(previewed, "subscribe")
      #expect(try page.texts(ofClass: "feed") == ["Port"])
      #expect(try await fed.store.subscriptions().isEmpty)
      previewed["url"] = "\(fed.feeds.url)/nothing"
      #expect(try await browser.submit(previewed, "subscribe").status == 422)
      #expect(try await fed.store.subscriptions().isEmpty)
    }
  }

  @Test("An address without a feed is refused with a sentence beside it")
  func failures() async throws {
    try await FeedConsole.with { fed, browser in
      let page = Data(#"<html><head><link rel="alternate" type="application/rss+xml" href="/gone"></head></html>"#.utf8)
      fed.feeds.respond { request in
        switch request.target {
        case "/page": FaultResponse(headers: [("Content-Type", "text/html")], body: page)
        case "/text": FaultResponse(headers: [("Content-Type", "text/html")], body: Data("<p>Hello</p>".utf8))
        case "/half": FaultResponse(body: Data("<rss version=\"2.0\"><channel><item><guid>1</guid>".utf8))
        default: FaultResponse(status: 404)
        }
      }
      let url = fed.feeds.url
      for (address, reason) in [
        ("\(url)/x", "The server has answered with the status 404."),
        ("\(url)/page", "whose feed cannot be read:"), ("\(url)/text", "neither a feed nor a page that links to one"),
        ("\(url)/half", "is not a complete feed:"), ("http://127.0.0.2:1/", "127.0.0.2"),
        ("http://[fe80::1]/feed", "No feed can be read at this address."),
        ("ftp://example.org/", "begins with http://"),
        ("", "Is required."), ("not an address", "begins with http://"),
      ] {
        let form = try await Self.form(address, browser)
        let refused = try await browser.submit(form, "preview")
        try refused.check(status: 422)
        let detail = try refused.scan.all("span").filter { $0["lang"] == "en" }.map(\.text).joined()
        #expect(((try refused.error(of: "url") ?? "") + detail).contains(reason), "\(address)")
        #expect(try refused.form(Self.list)["url"] == address)
        let isRequested = address.hasPrefix("http")
        #expect(try refused.form(Self.list).actions == (isRequested ? ["preview", "subscribe"] : ["preview"]))
      }
      var form = try await Self.form("\(url)/feed", browser)
      form["language"] = "not a language"
      form["title"] = "a\u{1}b"
      form.add("topics", "Not a slug")
      let refused = try await browser.submit(form, "preview")
      try refused.check(status: 422)
      #expect(try refused.error(of: "language") == "Must be a language tag such as en or pt-BR.")
      #expect(try refused.error(of: "title") == "Must not contain control characters.")
      #expect(try refused.scan.tags.contains { $0["id"] == "topics-error" })
      #expect(try await fed.store.subscriptions().isEmpty)
    }
  }

  @Test("A feed that cannot be read at present is followed on demand, with the reason shown")
  func anyway() async throws {
    try await FeedConsole.with { fed, browser in
      fed.feeds.respond { _ in FaultResponse(status: 503) }
      var form = try await Self.form("\(fed.feeds.url)/feed", browser)
      form["title"] = "The port"
      form["state"] = "draft"
      // Without a preview before, there is none to do without.
      let refused = try await browser.submit(form, "subscribe")
      try refused.check(status: 422)
      #expect(refused.text.contains("503") && refused.text.contains("Follow it anyway"))
      #expect(try await fed.store.subscriptions().isEmpty)
      // Another address is requested first.
      var changed = try refused.form(Self.list)
      changed["url"] = "\(fed.feeds.url)/other"
      #expect(try await browser.submit(changed, "subscribe").status == 422)
      #expect(try await fed.store.subscriptions().isEmpty)
      let done = try await browser.submit(try refused.form(Self.list), "subscribe")
      try done.check()
      let stored = try #require(try await fed.store.subscriptions().first)
      #expect(stored.url == "\(fed.feeds.url)/feed" && stored.title == "The port" && stored.state == .draft)
      let known = try await browser.submit(form, "preview")
      #expect(try known.error(of: "url") == "This feed is already followed.")
      #expect(try known.form(Self.list).actions == ["preview"])
      fed.serve(["Fog lifts"])
      _ = try await fed.follower.poll(stored.id)
      #expect(try await fed.items() == 1)
    }
  }

  @Test("A feed that does not answer is refused after the time limit")
  func timeLimit() async throws {
    try await FeedConsole.with(timeLimit: .milliseconds(1)) { fed, browser in
      fed.feeds.respond { _ in FaultResponse(body: Data("x".utf8)).hanging(at: .body(0)) }
      let page = try await browser.submit(try await Self.form("\(fed.feeds.url)/feed", browser), "preview")
      try page.check(status: 422)
      #expect(try page.error(of: "url") == "No feed can be read at this address. ")
      #expect(try page.scan.all("span").contains { $0["lang"] == "en" && $0.text.contains("could not be read within") })
    }
  }

  @Test("A feed that is followed already is not followed twice")
  func followedAlready() async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts"])
      let form = try await Self.form("\(fed.feeds.url)/feed", browser)
      let page = try await browser.submit(form, "preview")
      _ = try await fed.subscribe("/feed")
      let taken = try await browser.submit(try page.form(Self.list), "subscribe")
      try taken.check(status: 409)
      #expect(try taken.error(of: "url") == "This feed is already followed.")
      let known = try await browser.submit(form, "preview")
      #expect(try known.error(of: "url") == "This feed is already followed.")
      #expect(try known.form(Self.list).actions == ["preview"])
      #expect(try await fed.store.subscriptions().count == 1)
    }
  }

  @Test("Without a previewer, a feed is followed at once")
  func withoutPreviews() async throws {
    try await FeedConsole.with(hasPreviews: false) { fed, browser in
      let form = try await Self.form("https://feeds.example/news", browser)
      #expect(form.actions == ["subscribe"])
      #expect(try await browser.submit(form, "subscribe").status == 200)
      #expect(try await fed.store.subscriptions().map(\.url) == ["https://feeds.example/news"])
      #expect(fed.feeds.requests.isEmpty)
    }
  }

  @Test("The list shows the health of each feed: its polls, its failures and its hub")
  func health() async throws {
    try await FeedConsole.with { fed, browser in
      try await browser.get(Self.list).check()
      fed.serve(["Fog lifts"])
      let good = try await fed.subscribe("/feed", title: "B Port")
      let bad = try await fed.subscribe("/x", title: "A Gone")
      let new = try await fed.subscribe("/y")
      _ = try await fed.follower.poll(good.id)
      for _ in 0..<2 { _ = try await fed.follower.poll(bad.id) }
      _ = try await fed.console.server.sql.query(
        """
        INSERT INTO hub_leases (token, subscription, state, hub, topic, callback, secret, expires_at, next_request)
        VALUES (repeat('x', 22), \(good.id), 'active', 'https://hub.example/', \(good.url), '', '', now(), now())
        """)
      let page = try await browser.get(Self.list)
      try page.check()
      #expect(try page.texts(ofClass: "state") == ["Failing", "Works", "Waits for the first poll"])
      #expect(
        try page.texts(ofClass: "failure").first?.hasPrefix("The server has answered with the status 404.") ?? false)
      #expect(try page.texts(ofClass: "count") == ["3", "1", "0", "Failed polls: 2"])
      #expect(page.text.contains("WebSub: active") && page.text.contains("https://hub.example/"))
      #expect(page.text.contains("Not polled yet"))
      #expect(try page.scan.all("time").count > 5)
      let failing = try await browser.get(Self.path(bad))
      try failing.check()
      #expect(try failing.texts(ofClass: "count") == ["Failed polls: 2"])
      try await browser.get(Self.path(new)).check()
    }
  }

  @Test("A feed is polled, paused, resumed and removed")
  func actions() async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve(["Fog lifts"])
      let subscription = try await fed.subscribe("/feed")
      _ = try await fed.follower.poll(subscription.id)
      let next = try #require(try await fed.store.subscription(subscription.id).nextPoll)
      var page = try await browser.get(Self.list)
      page = try await browser.submit(try page.form(Self.path(subscription, "/poll")))
      try page.check()
      #expect(try page.texts(ofClass: "good").first?.hasPrefix("The feed will be read") ?? false)
      #expect(try #require(try await fed.store.subscription(subscription.id).nextPoll) < next)
      let poll = try page.form(Self.path(subscription, "/poll"))
      page = try await browser.submit(try page.form(Self.path(subscription, "/pause")))
      try page.check()
      #expect(try await fed.store.subscription(subscription.id).paused)
      #expect(try page.texts(ofClass: "state") == ["Paused"])
      #expect(try page.texts(ofClass: "good") == ["The feed is no longer read until you resume it."])
      let refused = try await browser.submit(poll)
      try refused.check(status: 409)
      #expect(refused.text.contains("The feed is paused."))
      page = try await browser.submit(try page.form(Self.path(subscription, "/pause")))
      #expect(try await fed.store.subscription(subscription.id).paused == false)
      #expect(try page.texts(ofClass: "good") == ["The feed is read again."])
      let removal = try await browser.get(Self.path(subscription, "/remove"))
      try removal.check()
      _ = try await fed.console.server.send(
        "PATCH", "/v1/editorial/subscriptions/\(subscription.id.uuidString.lowercased())",
        key: try await fed.store.createKey(name: "api", permissions: [.admin]),
        headers: [("If-Match", "*")], body: #"{"title": "Other"}"#)
      let conflict = try await browser.submit(try removal.form(Self.path(subscription, "/remove")))
      try conflict.check(status: 412)
      #expect(try conflict.texts(ofClass: "subject") == ["Other"])
      #expect(try conflict.texts(ofClass: "bad").first?.contains("It was not removed.") == true)
      page = try await browser.submit(try conflict.form(Self.path(subscription, "/remove")))
      try page.check()
      #expect(try page.texts(ofClass: "good") == ["The feed is no longer followed. Its items stay."])
      #expect(try await fed.store.subscriptions().isEmpty)
      #expect(try await fed.items() == 1)
      for target in ["", "/remove"] {
        #expect(try await browser.get(Self.path(subscription, target)).status == 404)
      }
      #expect(try await browser.submit(poll).status == 404)
    }
  }

  @Test("The settings of a feed are changed; one that someone else has changed is shown beside the form")
  func settings() async throws {
    try await FeedConsole.with { fed, browser in
      try await fed.console.server.makeTopics(["harbour"])
      let subscription = try await fed.subscribe("/feed", title: "Port")
      let other = try await fed.subscribe("/other")
      let target = Self.path(subscription)
      var form = try await browser.get(target).form(target)
      #expect(form["title"] == "Port" && form["url"] == subscription.url && form["state"] == "published")
      #expect(try await browser.submit(form).status == 200)
      #expect(try await fed.store.subscription(subscription.id) == subscription)
      form["title"] = " "
      form["language"] = "de"
      form["state"] = "draft"
      form.add("topics", "harbour")
      let saved = try await browser.submit(form)
      #expect(try saved.texts(ofClass: "good") == ["The subscription was saved."])
      let changed = try await fed.store.subscription(subscription.id)
      #expect(changed.title == nil && changed.language == "de" && changed.state == .draft)
      #expect(changed.topics == ["harbour"] && changed.revision == 2)
      form["title"] = "Mine"
      let conflict = try await browser.submit(form)
      try conflict.check(status: 412)
      #expect(try conflict.texts(ofClass: "bad").first?.hasPrefix("Someone else has changed") ?? false)
      var again = try conflict.form(target)
      #expect(again["title"] == "Mine")
      #expect(try await browser.submit(again).status == 200)
      #expect(try await fed.store.subscription(subscription.id).title == "Mine")
      again = try await browser.get(target).form(target)
      again["url"] = other.url
      #expect(try await browser.submit(again).error(of: "url") == "This feed is already followed.")
      again["url"] = "x"
      let refused = try await browser.submit(again)
      try refused.check(status: 422)
      #expect(try refused.error(of: "url") != nil && refused.form(target)["url"] == "x")
      again["revision"] = ""
      try await browser.submit(again).check(status: 412)
      #expect(try await fed.store.subscription(subscription.id).url == subscription.url)
    }
  }

  @Test("Only an administrator sees and changes subscriptions, and only with the token of the session")
  func access() async throws {
    try await FeedConsole.with { fed, admin in
      let subscription = try await fed.subscribe("/feed")
      let pages = [Self.list, Self.new, Self.path(subscription), Self.path(subscription, "/remove")]
      var forms = [try await Self.form("\(fed.feeds.url)/feed2", admin)]
      for target in [Self.path(subscription), Self.path(subscription, "/remove")] {
        forms.append(try await admin.get(target).form(target))
      }
      let list = try await admin.get(Self.list)
      for target in ["/poll", "/pause"] { forms.append(try list.form(Self.path(subscription, target))) }
      let browser = try await fed.console.signedIn()
      let start = try await browser.get("/console/items")
      #expect(try !start.scan.addresses.contains(Self.list))
      for page in pages { #expect(try await browser.get(page).status == 403, "\(page)") }
      let token = try start.form("/console/sign-out")["csrf"]
      for var form in forms {
        form["title"] = "Forged"
        form["csrf"] = "x"
        #expect(try await admin.post(form, "preview").status == 403, "\(form.action)")
        form["csrf"] = token
        #expect(try await admin.post(form, "preview").status == 403, "\(form.action)")
        #expect(try await browser.post(form, "preview").status == 403, "\(form.action)")
      }
      #expect(fed.feeds.requests.isEmpty)
      #expect(try await fed.store.subscriptions() == [subscription])
    }
  }

  @Test("Texts of feeds and typed texts are shown as they are", arguments: HostileText.all)
  func escaping(text: String) async throws {
    try await FeedConsole.with { fed, browser in
      fed.serve([text], feedTitle: text)
      let form = try await Self.form("\(fed.feeds.url)/feed", browser)
      let page = try await browser.submit(form, "preview")
      try page.check()
      #expect(try page.texts(ofClass: "feed") == [text])
      #expect(try page.texts(ofClass: "title") == [text])
      #expect(try page.texts(ofClass: "excerpt").first?.contains(text) ?? false)
      var typed = form
      for name in ["url", "title", "language", "state", "previewed", "topics"] { typed[name] = text }
      typed.add("previewed", text)
      let refused = try await browser.submit(typed, "subscribe")
      #expect(refused.status == 422)
      #expect(try refused.form(Self.list)["title"] == text && refused.form(Self.list)["url"] == text)
      let subscription = try await fed.subscribe("/x", title: text)
      _ = try await fed.console.server.sql.query(
        "UPDATE subscriptions SET error_at = now(), error_message = \(text), failures = 1 WHERE id = \(subscription.id)"
      )
      for target in [Self.list, Self.path(subscription), Self.path(subscription, "/remove")] {
        let page = try await browser.get(target)
        try page.check()
        #expect(try page.scan.text.contains(text), "\(target)")
      }
      var edit = try await browser.get(Self.path(subscription)).form(Self.path(subscription))
      for name in ["url", "language", "revision"] { edit[name] = text }
      #expect(try await browser.submit(edit).scan.tags.count > 9)
    }
  }

  @Test("The pages are in the language of the installation")
  func german() async throws {
    try await FeedConsole.with(settings: { $0.language = .german }) { fed, browser in
      fed.serve(["Nebel"])
      let page = try await browser.submit(try await Self.form("\(fed.feeds.url)/feed", browser), "preview")
      try page.check()
      #expect(page.text.contains("So würden die ersten Einträge gespeichert:"))
      let subscription = try await fed.subscribe("/feed")
      for target in [Self.list, Self.new, Self.path(subscription), Self.path(subscription, "/remove")] {
        let page = try await browser.get(target)
        try page.check()
        #expect(page.text.contains("Abonnements"))
      }
    }
  }
}
