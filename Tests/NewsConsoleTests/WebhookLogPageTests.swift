import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct WebhookLogPageTests {
  private typealias Hooks = WebhookConsole

  @Test("The log has each event with its attempts, and sends an event again")
  func deliveries() async throws {
    try await Hooks.withAdmin { console, browser in
      let webhook = try await Hooks.webhook(console)
      #expect(
        try await browser.get(Hooks.path(webhook)).texts(ofClass: "empty").first?.hasPrefix("No event yet.") == true)
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      while try await console.store.collectOutbox(window: .zero) {}
      try await Hooks.finish(console, Hooks.failure("no route to the host"))
      var page = try await browser.get(Hooks.path(webhook))
      try page.check()
      #expect(try page.texts(ofClass: "state") == ["Failing", "To be sent"])
      #expect(page.text.contains("no route to the host") && page.text.contains("20,000 ms"))
      #expect(page.text.contains("Next attempt") && page.text.contains("Failing since"))
      #expect(try page.scan.all("h3").map(\.text) == ["An item was published"])
      #expect(try page.scan.addresses.contains(ConsoleServer.path(item)))
      let list = try await browser.get(Hooks.list)
      try list.check()
      #expect(try list.texts(ofClass: "state") == ["Failing"])
      let replay = try page.form("/replay")
      page = try await browser.submit(replay)
      try page.check()
      #expect(try page.texts(ofClass: "good").first?.hasPrefix("The event is sent again") == true)
      try await Hooks.finish(console, Hooks.success)
      // The same form has no further effect.
      #expect(try await browser.submit(replay).status == 200)
      #expect(try await Hooks.log(webhook, console).map(\.state) == [.delivered])
      page = try await browser.get(Hooks.path(webhook))
      try page.check()
      #expect(try page.texts(ofClass: "state") == ["Works", "Delivered"])
      #expect(try page.scan.all("summary").map(\.text) == ["Attempts: 2"])
      #expect(try await browser.submit(try page.form("/replay")).status == 200)
      #expect(try await Hooks.log(webhook, console).map(\.state) == [.due])
      let unknown = Hooks.path(webhook, "/deliveries/\(UUID())/replay")
      #expect(try await browser.post(replay, to: unknown).status == 404)
    }
  }

  @Test(
    "The reasons of failed attempts are in the language of the pages", arguments: [InterfaceLanguage.english, .german])
  func language(language: InterfaceLanguage) async throws {
    try await Hooks.withAdmin(language: language) { console, browser in
      let webhook = try await Hooks.webhook(console)
      let isEnglish = language == .english
      let expected: [(status: Int?, english: String, german: String)] = [
        (503, "The program has answered with the status 503.", "Das Programm hat mit dem Status 503 geantwortet."),
        (
          302, "The program has redirected the request (302), which is not followed.",
          "Das Programm hat die Anfrage umgeleitet (302), was nicht verfolgt wird."
        ),
        (
          nil, "The program could not be reached, or has not answered completely.",
          "Das Programm war nicht zu erreichen oder hat nicht vollständig geantwortet."
        ),
        (410, "The program wants no events any more (410).", "Das Programm will keine Ereignisse mehr (410)."),
      ]
      for (status, english, german) in expected {
        _ = try await console.store.testWebhook(webhook.id)
        try await Hooks.finish(
          console,
          WebhookOutcome(
            status: status, milliseconds: 1, error: "the exact reason", result: status == 410 ? .gone : .failed))
        let page = try await browser.get(Hooks.path(webhook))
        try page.check()
        #expect(try page.texts(ofClass: "failure").contains { $0.hasPrefix(isEnglish ? english : german) })
        // Only the reason without an answer has more to say, in the words of other programs.
        let details = try page.scan.all("span").filter { $0["lang"] == "en" }.map(\.text)
        #expect(details == (status == nil || status == 410 ? ["(the exact reason)"] : []))
      }
    }
  }

  @Test("All deliveries of a long log are on pages, and a replay returns to its page")
  func longLog() async throws {
    try await Hooks.withAdmin { console, browser in
      let webhook = try await Hooks.webhook(console)
      _ = try await console.server.sql.query(
        """
        INSERT INTO webhook_deliveries (id, webhook, event, at, item, version, token, topics, created_at, state)
        SELECT gen_random_uuid(), \(webhook.id), 'item.changed', now(), gen_random_uuid(), n, 't', '{}',
          date_trunc('milliseconds', now()) + n * interval '1 second', 'failed' FROM generate_series(1, 60) AS n
        """)
      _ = try await console.server.sql.query(
        """
        INSERT INTO webhook_attempts (delivery, number, at, status, milliseconds, error)
        SELECT d.id, n, now(), NULL, 7, repeat('broken ', 100) FROM webhook_deliveries AS d, generate_series(1, 20) AS n
        WHERE d.version BETWEEN 20 AND 40
        """)
      var page = try await browser.get(Hooks.path(webhook))
      var versions: [Int] = []
      var count = 0
      while true {
        try page.check()
        count += 1
        versions += try page.scan.all("span").compactMap { $0.text.wholeMatch(of: /Version ([0-9]+)/) }
          .compactMap { Int($0.1) }
        guard let next = try page.scan.all("a").first(where: { $0["rel"] == "next" })?["href"], count < 40 else {
          break
        }
        page = try await browser.get(next)
      }
      #expect(versions == Array((1...60).reversed()))
      #expect(try page.scan.addresses.contains(Hooks.path(webhook)))
      let answer = try await browser.post(try page.form("/replay"))
      #expect(answer.status == 303)
      let location = try #require(answer["Location"])
      #expect(location.hasPrefix(page.target) && location.hasSuffix("done=webhook-replayed"))
      try await browser.get(location).check()
    }
  }

  @Test("Webhooks that fail come first, with the reason for which the server has paused them")
  func health() async throws {
    try await Hooks.withAdmin { console, browser in
      let first = try await Hooks.webhook(console, url: "https://first.example/")
      let gone = try await Hooks.webhook(console, url: "https://gone.example/")
      _ = try await Hooks.webhook(console, url: "https://last.example/")
      _ = try await console.store.testWebhook(gone.id)
      try await Hooks.finish(console, WebhookOutcome(status: 410, milliseconds: 1, error: "gone", result: .gone))
      _ = try await console.store.testWebhook(first.id)
      try await Hooks.finish(console, Hooks.success)
      let page = try await browser.get(Hooks.list)
      try page.check()
      #expect(
        try page.scan.all("a").map(\.text).filter { $0.contains(".example") } == [
          "https://gone.example/", "https://first.example/", "https://last.example/",
        ])
      #expect(try page.texts(ofClass: "state") == ["Paused", "Works", "No event yet"])
      #expect(try page.texts(ofClass: "failure").first?.contains("wants no events any more (410)") == true)
    }
  }

  @Test("Typed texts and reasons of failures are shown as they are", arguments: HostileText.all)
  func escaping(text: String) async throws {
    try await Hooks.withAdmin { console, browser in
      var form = try await browser.get(Hooks.new).form(Hooks.list)
      for name in ["url", "events", "topics", "once", "revision"] { form[name] = text }
      form.add("topics", text)
      let refused = try await browser.submit(form)
      #expect(refused.status == 422)
      #expect(try refused.form(Hooks.list)["url"] == text)
      let webhook = try await Hooks.webhook(console)
      _ = try await console.store.testWebhook(webhook.id)
      try await Hooks.finish(console, Hooks.failure(text))
      // A newer version may have other events.
      _ = try await console.server.sql.query("UPDATE webhook_deliveries SET event = \(text)")
      let page = try await browser.get(Hooks.path(webhook))
      #expect(page.status == 200)
      #expect(try page.scan.all("span").contains { $0["lang"] == "en" && $0.text == "(\(text))" })
      #expect(try page.scan.all("h3").map(\.text) == [text])
      var edit = try await browser.get(Hooks.path(webhook, "/edit")).form("/edit")
      for name in ["url", "events", "revision", "lostTopics", "allItems"] { edit[name] = text }
      #expect(try await browser.submit(edit).scan.tags.count > 9)
    }
  }
}
