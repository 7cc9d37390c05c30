import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct WebhookPageTests {
  private typealias Hooks = WebhookConsole

  @Test("A new webhook has what was typed, and its secret is shown once")
  func creation() async throws {
    try await Hooks.withAdmin { console, browser in
      try await console.server.makeTopics(["harbour", "sport"])
      let start = try await browser.get(Hooks.list)
      try start.check()
      #expect(try start.texts(ofClass: "empty").first?.hasPrefix("There is no webhook yet.") == true)
      let empty = try await browser.get(Hooks.new)
      try empty.check()
      var form = try empty.form(Hooks.list)
      #expect(form.fields.filter { $0.name == "events" }.map(\.value) == Webhook.Event.allCases.map(\.rawValue))
      form["url"] = "HTTPS://Hooks.Example:443/a#x"
      form["events"] = "item.expired"
      form.add("events", "item.changed")
      form.add("topics", "sport")
      let page = try await browser.post(form)
      try page.check()
      let secret = try #require(try Hooks.secret(page))
      let webhook = try #require(try await console.store.webhooks().first)
      #expect(webhook.url == "https://hooks.example/a" && webhook.events == [.changed, .expired])
      #expect(webhook.topics == ["sport"] && !webhook.paused)
      #expect(try await console.store.webhook(webhook.id, withSecret: secret) == webhook)
      let list = try await browser.get(Hooks.list)
      #expect(list.text.contains("hooks.example/a") && list.text.contains("An item has changed, An item has expired"))
      for target in [Hooks.list, Hooks.path(webhook)]
        + ["/edit", "/rotate", "/remove"].map({ Hooks.path(webhook, $0) })
      {
        let page = try await browser.get(target)
        try page.check()
        #expect(!page.text.contains(secret.text.dropFirst(6)), "\(target)")
      }
      let answers = try await console.server.sql.query(
        "SELECT 1 FROM idempotency_answers WHERE convert_from(body, 'UTF8') LIKE '%whsec%'")
      #expect(answers.isEmpty)
    }
  }

  @Test("A form that is sent several times creates one webhook, and replaces one secret")
  func sentTwice() async throws {
    try await Hooks.withAdmin { console, browser in
      func sendFour(_ form: ConsoleForm) async throws -> [ConsolePage] {
        try await withThrowingTaskGroup(of: ConsolePage.self) { group in
          for _ in 0..<4 { group.addTask { try await browser.post(form) } }
          return try await group.reduce(into: [ConsolePage]()) { $0.append($1) }
        }
      }
      var form = try await browser.get(Hooks.new).form(Hooks.list)
      // A form that was refused is still the same form.
      form["url"] = "nowhere"
      form["once"] = try await browser.submit(form).form(Hooks.list)["once"]
      form["url"] = "https://hooks.example/"
      let pages = try await sendFour(form)
      #expect(pages.map(\.status).sorted() == [200, 409, 409, 409])
      let webhook = try #require(try await console.store.webhooks().first)
      #expect(try await console.store.webhooks().count == 1)
      for page in pages {
        try page.check(status: page.status)
        #expect(try (Hooks.secret(page) != nil) == (page.status == 200))
        if page.status == 409 { #expect(try page.scan.addresses.contains(Hooks.path(webhook, "/rotate"))) }
      }
      let rotation = try await browser.get(Hooks.path(webhook, "/rotate"))
      let rotations = try await sendFour(try rotation.form("/rotate"))
      #expect(rotations.map(\.status).sorted() == [200, 409, 409, 409])
      #expect(try await console.store.webhook(webhook.id).revision == 2)
      let shown = try rotations.compactMap { try Hooks.secret($0) }
      #expect(shown.count == 1)
      #expect(try await console.store.webhook(webhook.id, withSecret: try #require(shown.first)) != nil)
      let repeated = try #require(rotations.first { $0.status == 409 })
      try repeated.check(status: 409)
      #expect(repeated.text.contains("ends at once"))
      // The page after a repetition has another form, which replaces the secret again.
      #expect(try await browser.post(try repeated.form("/rotate")).status == 200)
      let another = try await browser.get(Hooks.new).form(Hooks.list)
      #expect(another["once"] != form["once"])
    }
  }

  @Test("A refused form has each error beside its field, and all that was typed")
  func errors() async throws {
    try await Hooks.withAdmin { console, browser in
      try await console.server.makeTopics(["sport"])
      func refused(_ change: (inout ConsoleForm) -> Void) async throws -> ConsolePage {
        var form = try await browser.get(Hooks.new).form(Hooks.list)
        form["url"] = "https://hooks.example/"
        form.add("topics", "sport")
        change(&form)
        let page = try await browser.submit(form)
        try page.check(status: 422)
        let again = try page.form(Hooks.list)
        for name in ["url", "events", "topics"] { #expect(again[name] == form[name], "\(name)") }
        return page
      }
      func text(of id: String, _ page: ConsolePage) throws -> String? {
        try page.scan.tags.first { $0["id"] == id }?.text
      }
      #expect(try await refused { $0["url"] = "" }.error(of: "url") == "Is required.")
      for url in ["nowhere", "ftp://a.example/", "https://a:b@a.example/", "https://0x7f.1/"] {
        #expect(
          try await refused { $0["url"] = url }.error(of: "url")?.contains("begins with http://") == true, "\(url)")
      }
      #expect(try text(of: "events-error", try await refused { $0["events"] = nil }) == "Choose at least one event.")
      let unknown = try await refused { $0["topics"] = "gone" }
      #expect(try text(of: "topics-error", unknown) == "These topics no longer exist: gone")
      let invalid = try await refused { $0["topics"] = "Not a slug" }
      #expect(try text(of: "topics-error", invalid)?.contains("at most 32") == true)
      let all = try await refused {
        $0["url"] = "nowhere"
        $0["events"] = nil
        $0["topics"] = "Not a slug"
      }
      #expect(
        try all.problemLinks == ["#url Address of the program", "#events Events", "#topics Only these topics"])
      #expect(try await console.store.webhooks().isEmpty)
    }
  }

  @Test("The settings are changed; those that someone else has changed are shown beside the form")
  func settings() async throws {
    try await Hooks.withAdmin { console, browser in
      try await console.server.makeTopics(["harbour", "sport"])
      let webhook = try await Hooks.webhook(console, topics: ["harbour"])
      let target = Hooks.path(webhook, "/edit")
      var form = try await browser.get(target).form(target)
      #expect(form["url"] == webhook.url && form["topics"] == "harbour")
      #expect(try await browser.submit(form).status == 200)
      #expect(try await console.store.webhook(webhook.id) == webhook)
      form["topics"] = nil
      form["events"] = "item.published"
      let saved = try await browser.submit(form)
      try saved.check()
      #expect(try saved.texts(ofClass: "good") == ["The webhook was saved."])
      let changed = try await console.store.webhook(webhook.id)
      #expect(changed.topics == nil && changed.events == [.published] && changed.revision == 2)
      form["url"] = "https://mine.example/"
      let conflict = try await browser.submit(form)
      try conflict.check(status: 412)
      #expect(try conflict.texts(ofClass: "address") == [webhook.url])
      let again = try conflict.form(target)
      #expect(again["url"] == "https://mine.example/")
      #expect(try await browser.submit(again).status == 200)
      #expect(try await console.store.webhook(webhook.id).url == "https://mine.example/")
      var wrong = try await browser.get(target).form(target)
      wrong["url"] = "x"
      let refused = try await browser.submit(wrong)
      try refused.check(status: 422)
      #expect(try refused.error(of: "url") != nil)
      wrong["revision"] = nil
      #expect(try await browser.submit(wrong).status == 412)
    }
  }

  @Test("A webhook that has lost its topics receives nothing until someone decides otherwise")
  func lostTopics() async throws {
    try await Hooks.withAdmin { console, browser in
      try await console.server.makeTopics(["sport"])
      let webhook = try await Hooks.webhook(console, topics: ["sport"])
      try await browser.submit(try await browser.get("/console/topics/sport/remove").form("/remove")).check()
      #expect(try await console.store.webhook(webhook.id).topics == [])
      #expect(try await browser.get(Hooks.list).text.contains("none, because all of them were deleted"))
      let target = Hooks.path(webhook, "/edit")
      var form = try await browser.get(target).form(target)
      form["url"] = "https://other.example/"
      try await browser.submit(form).check()
      #expect(try await console.store.webhook(webhook.id).topics == [])
      form = try await browser.get(target).form(target)
      form.add("allItems", "on")
      try await browser.submit(form).check()
      #expect(try await console.store.webhook(webhook.id).topics == nil)
      #expect(try await !browser.get(target).text.contains("allItems"))
    }
  }

  @Test("A webhook is paused, resumed, tested and removed")
  func actions() async throws {
    try await Hooks.withAdmin { console, browser in
      let webhook = try await Hooks.webhook(console)
      let test = try await browser.get(Hooks.path(webhook)).form("/test")
      for _ in 0..<2 {
        let page = try await browser.submit(test)
        try page.check()
        #expect(try page.texts(ofClass: "good").first?.hasPrefix("A test event") == true)
      }
      let log = try await Hooks.log(webhook, console)
      #expect(log.map(\.event) == [Webhook.testEvent])
      let other = try await browser.get(Hooks.path(webhook)).form("/test")
      #expect(try await browser.submit(other).status == 200)
      #expect(try await Hooks.log(webhook, console).count == 2)
      let paused = try await browser.submit(try await browser.get(Hooks.list).form("/pause"))
      try paused.check()
      #expect(try paused.texts(ofClass: "state").first == "Paused")
      #expect(try await console.store.webhook(webhook.id).paused)
      #expect(try !paused.forms.contains { $0.target.hasSuffix("/test") || $0.target.hasSuffix("/replay") })
      let late = try await browser.get(Hooks.list).form("/pause")
      var refused = try await browser.submit(try await Self.named(test))
      try refused.check(status: 409)
      #expect(refused.text.contains("The webhook is paused, and nothing is sent to it."))
      let resumed = try await browser.submit(late)
      #expect(try resumed.texts(ofClass: "good") == ["The webhook receives events again."])
      let removal = try await browser.get(Hooks.path(webhook, "/remove"))
      try removal.check()
      _ = try await console.store.modifyWebhook(webhook.id, if: .exists) { stored in
        var content = WebhookContent(stored)
        content.url = "https://other.example/"
        return content
      }
      refused = try await browser.submit(try removal.form("/remove"))
      try refused.check(status: 412)
      #expect(try refused.texts(ofClass: "address") == ["https://other.example/"])
      let removed = try await browser.submit(try refused.form("/remove"))
      try removed.check()
      #expect(try removed.texts(ofClass: "good") == ["The webhook was removed."])
      #expect(try await console.store.webhooks().isEmpty)
      for rest in ["", "/edit", "/rotate", "/remove"] {
        #expect(try await browser.get(Hooks.path(webhook, rest)).status == 404)
      }
      #expect(try await browser.submit(try await Self.named(test)).status == 404)
    }
  }

  /// Returns a form as another page would have it.
  private static func named(_ form: ConsoleForm) async throws -> ConsoleForm {
    var form = form
    form["once"] = UUID().uuidString.lowercased()
    return form
  }

  @Test("There are as many webhooks as the API allows")
  func limit() async throws {
    try await Hooks.withAdmin { console, browser in
      _ = try await console.server.sql.query(
        """
        INSERT INTO webhooks (id, url, events, secret, created_at)
        SELECT gen_random_uuid(), 'https://h' || n || '.example/', '{item.changed}', 'whsec_x', now()
        FROM generate_series(1, \(NewsStore.maximumWebhooks)) AS n
        """)
      var form = try await browser.get(Hooks.new).form(Hooks.list)
      form["url"] = "https://hooks.example/"
      let refused = try await browser.submit(form)
      try refused.check(status: 409)
      #expect(refused.text.contains("as many webhooks as are possible"))
      #expect(try refused.form(Hooks.list)["url"] == "https://hooks.example/")
      #expect(try await console.store.webhooks().count == NewsStore.maximumWebhooks)
      let last = try await browser.get("\(Hooks.list)?page=9")
      try last.check()
      #expect(try last.texts(ofClass: "title").count == 4)
    }
  }

  @Test("Only an administrator sees and changes webhooks, and only with the token of the session")
  func access() async throws {
    try await Hooks.withAdmin { console, admin in
      let webhook = try await Hooks.webhook(console)
      let pages = [Hooks.list, Hooks.new] + ["", "/edit", "/rotate", "/remove"].map { Hooks.path(webhook, $0) }
      var forms: [ConsoleForm] = []
      for page in pages {
        forms += try await admin.get(page).forms.map(\.form).filter { $0.action.hasPrefix(Hooks.list) }
      }
      #expect(Set(forms.map(\.action)).count == 6)
      let browser = try await console.signedIn([.itemsPublish, .mediaWrite, .pushSend])
      #expect(try await !browser.get("/console/items").scan.addresses.contains(Hooks.list))
      for page in pages { #expect(try await browser.get(page).status == 403, "\(page)") }
      let token = try await FullNewsroom.token(browser)
      for var form in forms {
        form["csrf"] = "x"
        #expect(try await admin.post(form).status == 403, "\(form.action)")
        form["csrf"] = token
        #expect(try await admin.post(form).status == 403, "\(form.action)")
        #expect(try await browser.post(form).status == 403, "\(form.action)")
      }
      #expect(try await console.store.webhooks() == [webhook])
      #expect(try await Hooks.log(webhook, console).isEmpty)
    }
  }

  @Test("The pages are in the language of the installation")
  func german() async throws {
    try await Hooks.withAdmin(language: .german) { console, browser in
      let webhook = try await Hooks.webhook(console)
      _ = try await console.item(#""state": "published", "text": "Nebel.""#)
      while try await console.store.collectOutbox(window: .zero) {}
      try await Hooks.finish(console, Hooks.failure())
      let pages = [Hooks.list, Hooks.new] + ["", "/edit", "/rotate", "/remove"].map { Hooks.path(webhook, $0) }
      for target in pages { try await browser.get(target).check() }
      let page = try await browser.get(Hooks.path(webhook))
      #expect(page.text.contains("Gestört seit") && page.text.contains("Noch einmal senden"))
    }
  }
}
