import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The pages of pushes, and of alerts to items.
@Suite struct PushPageTests {
  private static let list = "/console/pushes"

  private static func alertPath(_ item: EditorialItem) -> String { "\(ConsoleServer.path(item))/alert" }

  /// Runs the body with a server that sends through APNs and FCM, and a browser of someone who publishes and alerts.
  private static func withDesk(
    language: InterfaceLanguage = .english,
    _ body: @escaping @Sendable (ConsoleServer, ConsoleBrowser) async throws -> Void
  ) async throws {
    try await ConsoleServer.with(settings: {
      $0.language = language
      $0.push.offer = PushOffer(providers: [.apns, .fcm])
    }) { console in
      try await body(console, try await console.signedIn([.itemsPublish, .pushSend], name: "night desk"))
    }
  }

  /// Registers a device that wants alerts.
  private static func register(
    _ console: ConsoleServer, _ token: String, topics: [String]? = nil, quiet: QuietHours? = nil
  ) async throws -> DeviceCredentials {
    var registration = DeviceRegistration(provider: .fcm, token: token)
    (registration.alerts, registration.topics, registration.quiet) = (true, topics, quiet)
    return try await console.store.registerDevice(registration, limits: DeviceLimits(total: 100, perHost: 100))
      .credentials
  }

  /// Makes the pushes of all changes so far, and returns the messages of FCM.
  @discardableResult
  private static func deliver(_ console: ConsoleServer) async throws -> [PushMessage] {
    while try await console.store.collectOutbox(window: .zero) {}
    while try await console.store.fanOut(budget: 3) {}
    let messages = try await console.store.leaseMessages(.fcm, limit: 100, for: .seconds(60), reportRate: 1)
    try await console.store.recordOutcomes(messages.map { PushOutcome(message: $0, result: .sent) })
    return messages
  }

  /// The figures of a page by their label.
  private static func figures(_ page: ConsolePage) throws -> [String: String] {
    let tags = try page.scan.tags
    let pairs = tags.indices.filter { tags[$0].name == "dt" }.compactMap { index in
      tags[index...].first { $0.name == "strong" }.map { (tags[index].text, $0.text) }
    }
    return Dictionary(pairs) { first, _ in first }
  }

  private static func alerts(_ console: ConsoleServer) async throws -> Int {
    try await console.server.sql.query("SELECT count(*) AS count FROM item_alerts").first?.decode("count") ?? -1
  }

  @Test("An alert is sent after a page that shows the devices and the texts, once for an item")
  func alert() async throws {
    try await Self.withDesk { console, browser in
      try await console.server.makeTopics(["harbour", "sport"])
      let item = try await console.item(
        #""state": "published", "title": "Ferry returns", "text": "It calls at the old pier.", "topics": ["harbour"]"#)
      _ = try await Self.register(console, "a", topics: ["harbour"])
      _ = try await Self.register(console, "b")
      _ = try await Self.register(console, "c", topics: ["sport"])
      let minute = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date())
      let now = (minute.hour ?? 0) * 60 + (minute.minute ?? 0)
      _ = try await Self.register(console, "d", quiet: QuietHours(from: (now + 1400) % 1440, to: (now + 120) % 1440))
      try await Self.deliver(console)
      let editor = try await browser.get(ConsoleServer.path(item))
      #expect(try editor.scan.addresses.contains(Self.alertPath(item)))
      let page = try await browser.get(Self.alertPath(item))
      try page.check()
      #expect(try Self.figures(page) == ["Devices that get it": "2", "FCM": "2", "Quiet hours": "1"])
      #expect(try page.texts(ofClass: "title") == ["Ferry returns"])
      #expect(try page.texts(ofClass: "excerpt") == ["It calls at the old pier."])
      // Nothing is asked for yet.
      #expect(try await Self.alerts(console) == 0)
      let form = try page.form(Self.alertPath(item))
      let done = try await browser.submit(form)
      try done.check()
      #expect(try done.texts(ofClass: "good") == ["The alert was asked for."])
      #expect(done.text.contains("The alert is being sent."))
      // The second attempt of an open page has no effect.
      let again = try await browser.submit(form)
      try again.check()
      #expect(try again.texts(ofClass: "good").first?.hasPrefix("An alert was asked for before.") == true)
      let messages = try await Self.deliver(console)
      #expect(messages.count { $0.content.alert?.title == "Ferry returns" } == 2)
      let push = try #require(try await console.store.alert(of: item.item.id)?.push)
      for target in [Self.alertPath(item), ConsoleServer.path(item)] {
        let page = try await browser.get(target)
        try page.check()
        #expect(page.text.contains("Readers were alerted to this item."), "\(target)")
        #expect(try page.scan.addresses.contains("\(Self.list)/\(push.uuidString.lowercased())"), "\(target)")
        #expect(try !page.forms.contains { $0.target == Self.alertPath(item) }, "\(target)")
        #expect(try !page.scan.tags.contains { $0["name"] == "alert" }, "\(target)")
      }
      #expect(try await browser.submit(form).status == 200)
      try await Self.deliver(console)
      #expect(try await console.store.pushes(limit: 10).count { $0.kind == .alert } == 1)
    }
  }

  @Test("The form of an item asks for an alert with the publication, and with nothing else")
  func withPublication() async throws {
    try await Self.withDesk { console, browser in
      var form = try await browser.get("/console/items/new").editor
      #expect(form["alert"] == nil)
      form["text"] = "Fog lifts."
      form.add("alert", "on")
      var page = try await browser.submit(form, "save")
      try page.check()
      #expect(try await Self.alerts(console) == 0)
      form = try page.editor
      form.add("alert", "on")
      form["language"] = "not a language"
      page = try await browser.submit(form, "publish")
      #expect(page.status == 422)
      form = try page.editor
      #expect(form["alert"] == "on")
      form["language"] = "en"
      page = try await browser.submit(form, "publish")
      try page.check()
      #expect(page.text.contains("The alert is being sent."))
      #expect(try await Self.alerts(console) == 1)
      var other = try await browser.get("/console/items/new").editor
      other["text"] = "Ferry stops."
      other["publishAt"] = "2099-05-06T07:08"
      other.add("alert", "on")
      let scheduled = try await browser.submit(other, "schedule")
      try scheduled.check()
      #expect(try await Self.alerts(console) == 2)
      #expect(try !scheduled.scan.tags.contains { $0["name"] == "alert" })
    }
  }

  @Test("A conflict keeps the wish for an alert")
  func conflict() async throws {
    try await Self.withDesk { console, browser in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let path = ConsoleServer.path(item)
      var form = try await browser.get(path).editor
      form["title"] = "Fog"
      form.add("alert", "on")
      let changed = try await console.server.write(
        "PATCH", "items/\(item.item.id.uuidString.lowercased())", #"{"author": "Ben"}"#, ("If-Match", "*"))
      #expect(changed.status == 200)
      let conflict = try await browser.submit(form, "publish")
      try conflict.check(status: 412)
      #expect(try await Self.alerts(console) == 0)
      try await browser.submit(try conflict.form(path), "publish").check()
      #expect(try await Self.alerts(console) == 1)
    }
  }

  @Test("Without the right, or without a push service, nothing offers an alert, and the server refuses it")
  func rights() async throws {
    try await Self.withDesk { console, browser in
      let published = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let draft = try await console.item(#""state": "draft", "text": "Fog comes.""#)
      let form = try await browser.get(Self.alertPath(published)).form(Self.alertPath(published))
      let writer = try await console.signedIn([.itemsPublish], name: "writer")
      for item in [published, draft] {
        let page = try await writer.get(ConsoleServer.path(item))
        #expect(try !page.scan.addresses.contains(Self.alertPath(item)))
        #expect(try !page.scan.tags.contains { $0["name"] == "alert" })
        #expect(try !page.scan.addresses.contains(Self.list))
      }
      for target in [Self.list, "\(Self.list)/\(UUID())", Self.alertPath(published)] {
        #expect(try await writer.get(target).status == 403, "\(target)")
      }
      var own = form
      own["csrf"] = try await FullNewsroom.token(writer)
      #expect(try await writer.post(own).status == 403)
      var forged = try await writer.get(ConsoleServer.path(draft)).editor
      forged.add("alert", "on")
      let refused = try await writer.submit(forged, "publish")
      try refused.check(status: 403)
      #expect(try await console.store.editorialItem(draft.item.id) == draft)
      // A key that may only alert sees what readers see.
      let sender = try await console.signedIn([.pushSend], name: "sender")
      try await sender.get(Self.alertPath(published)).check()
      #expect(try await sender.get(Self.alertPath(draft)).status == 404)
      own["csrf"] = try await FullNewsroom.token(sender)
      #expect(try await sender.post(own, to: Self.alertPath(draft)).status == 404)
      #expect(try await Self.alerts(console) == 0)
      try await sender.submit(own).check()
      #expect(try await Self.alerts(console) == 1)
    }
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn([.admin])
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let page = try await browser.get(ConsoleServer.path(item))
      #expect(try !page.scan.addresses.contains(Self.alertPath(item)))
      #expect(try await browser.get(Self.alertPath(item)).text.contains("No push service is set up"))
      let list = try await browser.get(Self.list)
      try list.check()
      #expect(list.text.contains("No push service is set up") && list.text.contains("There was no push"))
    }
  }

  @Test("A key that is restricted to topics alerts to items of them, and sees only their pushes")
  func topics() async throws {
    try await Self.withDesk { console, browser in
      try await console.server.makeTopics(["sport", "politics"])
      let hidden = try await console.item(
        #""state": "published", "title": "Secret", "text": "s", "topics": ["politics"]"#)
      let shown = try await console.item(#""state": "published", "title": "Match", "text": "m", "topics": ["sport"]"#)
      try await browser.submit(try await browser.get(Self.alertPath(hidden)).form(Self.alertPath(hidden))).check()
      try await Self.deliver(console)
      let reporter = try await console.signedIn([.itemsPublish, .pushSend], topics: ["sport"], name: "reporter")
      #expect(try await reporter.get(Self.alertPath(hidden)).status == 404)
      try await reporter.submit(try await reporter.get(Self.alertPath(shown)).form(Self.alertPath(shown))).check()
      try await Self.deliver(console)
      let list = try await reporter.get(Self.list)
      try list.check()
      #expect(list.text.contains("Match") && !list.text.contains("Secret"))
      let push = try #require(try await console.store.alert(of: hidden.item.id)?.push)
      #expect(try await reporter.get("\(Self.list)/\(push.uuidString.lowercased())").status == 404)
    }
  }

  @Test("An item that was taken down has no alert any more")
  func takenDown() async throws {
    try await Self.withDesk { console, browser in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let form = try await browser.get(Self.alertPath(item)).form(Self.alertPath(item))
      try await browser.submit(try await browser.get("\(ConsoleServer.path(item))/retract").form("/retract")).check()
      try await browser.get(Self.alertPath(item)).check(status: 410)
      try await browser.submit(form).check(status: 410)
      #expect(try await Self.alerts(console) == 0)
      #expect(try await browser.get("/console/items/\(UUID())/alert").status == 404)
    }
  }

  @Test("The list and the page of a push show its messages, its reports and its times")
  func results() async throws {
    try await Self.withDesk { console, browser in
      let item = try await console.item(#""state": "published", "title": "Ferry returns", "text": "x""#)
      let devices = [try await Self.register(console, "a"), try await Self.register(console, "b")]
      try await browser.submit(try await browser.get(Self.alertPath(item)).form(Self.alertPath(item))).check()
      let messages = try await Self.deliver(console)
      let alert = try #require(messages.first { $0.content.alert != nil }?.push)
      let token = try await console.server.get("/v1/changes").json(ChangeList.self).token
      for (device, result) in zip(devices, ["newData", "noData"]) {
        let report = try await console.server.send(
          "PUT", "/v1/devices/\(device.id.uuidString.lowercased())/state",
          headers: [("Authorization", "Bearer \(device.secret)")],
          body: #"{"token": "\#(token)", "push": "\#(alert.uuidString.lowercased())", "result": "\#(result)"}"#)
        #expect(report.status == 204)
      }
      let list = try await browser.get(Self.list)
      try list.check()
      #expect(try Set(list.texts(ofClass: "title")).isSuperset(of: ["APNs", "FCM"]))
      #expect(try list.scan.text.contains("Accepted: 2 (100 %)"))
      #expect(try list.scan.text.contains("Reports: 2") && list.scan.text.contains("Found news: 1 (50 %)"))
      let target = "\(Self.list)/\(alert.uuidString.lowercased())"
      #expect(try list.scan.addresses.contains(target))
      let page = try await browser.get(target)
      try page.check()
      #expect(try page.scan.all("h1").map(\.text) == ["Ferry returns"])
      let figures = try Self.figures(page)
      let expected = [
        "Devices": "2", "Accepted": "2", "Refused": "0", "Gone": "0", "Not sent": "0", "Reports": "2",
        "Found news": "1",
      ]
      for (label, value) in expected { #expect(figures[label] == value, "\(label)") }
      #expect(try page.scan.all("time").count >= 3)
      #expect(try page.scan.addresses.contains(ConsoleServer.path(item)))
      for id in [UUID().uuidString, "x", "%00"] {
        #expect(try await browser.get("\(Self.list)/\(id)").status == 404, "\(id)")
      }
    }
  }

  @Test("The push services show their devices, what they owe, and a pause with its reason for administrators")
  func services() async throws {
    try await Self.withDesk { console, browser in
      _ = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      _ = try await Self.register(console, "a")
      while try await console.store.collectOutbox(window: .zero) {}
      while try await console.store.fanOut(budget: 3) {}
      try await console.store.pauseProvider(.fcm, for: 600, reason: "check TIDINGS_FCM_CREDENTIALS")
      try await console.store.countDeliveries()
      let page = try await browser.get(Self.list)
      try page.check()
      #expect(try page.texts(ofClass: "state").prefix(2) == ["In use", "Paused"])
      #expect(try page.scan.text.contains("Messages to be sent: 1"))
      #expect(try page.texts(ofClass: "failure").count == 1)
      #expect(!page.text.contains("TIDINGS_FCM_CREDENTIALS"))
      let admin = try await console.signedIn([.admin], name: "admin")
      #expect(try await admin.get(Self.list).text.contains("check TIDINGS_FCM_CREDENTIALS"))
      try await console.store.resumeProvider(.fcm)
      #expect(try await browser.get(Self.list).texts(ofClass: "failure").isEmpty)

      #expect(try await console.store.noteRefusal(by: .fcm, reason: "403 SENDER_ID_MISMATCH", isProven: true))
      let refused = try await browser.get(Self.list)
      try refused.check()
      #expect(try refused.texts(ofClass: "state").prefix(2) == ["In use", "Refuses messages"])
      #expect(try refused.texts(ofClass: "failure").first?.hasPrefix("The service accepts no message") == true)
      #expect(!refused.text.contains("SENDER_ID_MISMATCH"))
      #expect(try await admin.get(Self.list).text.contains("403 SENDER_ID_MISMATCH"))
      try await console.store.endRefusal(by: .fcm)
      #expect(try await browser.get(Self.list).texts(ofClass: "failure").isEmpty)
    }
  }

  @Test("Pushes are on pages, newest first")
  func pagesOfPushes() async throws {
    try await Self.withDesk { console, browser in
      _ = try await console.server.sql.query(
        """
        INSERT INTO pushes (id, kind, epoch, version, scopes, content, created_at, starts_at)
        SELECT gen_random_uuid(), 'alert', '000000', n, '{}', jsonb_build_object('title', 'Alert ' || n),
          now() + n * interval '1 second', now() FROM generate_series(1, 45) AS n
        """)
      var page = try await browser.get(Self.list)
      var titles: [String] = []
      for _ in 0..<3 {
        try page.check()
        titles += try page.scan.all("a").filter { $0["href"]?.hasPrefix("\(Self.list)/") == true }.map(\.text)
        guard let next = try page.scan.all("a").first(where: { $0["rel"] == "next" })?["href"] else { break }
        page = try await browser.get(next)
      }
      #expect(titles == (1...45).reversed().map { "Alert \($0)" })
      #expect(try page.scan.addresses.contains(Self.list))
      #expect(try await browser.get("\(Self.list)?before=x").status == 400)
    }
  }

  @Test("Texts of items and reasons of pauses are shown as they are", arguments: HostileText.all)
  func escaping(text: String) async throws {
    try await Self.withDesk { console, _ in
      let browser = try await console.signedIn([.admin], name: "admin")
      let value = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
      let item = try await console.item(#""state": "published", "title": \#(value), "text": "x", "summary": \#(value)"#)
      let page = try await browser.get(Self.alertPath(item))
      try page.check()
      #expect(try page.texts(ofClass: "title") == [text] && page.texts(ofClass: "excerpt") == [text])
      try await browser.submit(try page.form(Self.alertPath(item))).check()
      try await Self.deliver(console)
      try await console.store.pauseProvider(.apns, for: 600, reason: text)
      let push = try #require(try await console.store.alert(of: item.item.id)?.push)
      let list = try await browser.get(Self.list)
      try list.check()
      #expect(try list.scan.all("span").contains { $0["lang"] == "en" && $0.text == "(\(text))" })
      #expect(try list.scan.all("a").contains { $0.text == text })
      let one = try await browser.get("\(Self.list)/\(push.uuidString.lowercased())")
      try one.check()
      #expect(try one.scan.all("h1").map(\.text) == [text])
    }
  }

  @Test("The pages are in the language of the installation")
  func german() async throws {
    try await Self.withDesk(language: .german) { console, browser in
      let item = try await console.item(#""state": "published", "title": "Nebel", "text": "x""#)
      let page = try await browser.get(Self.alertPath(item))
      try page.check()
      #expect(page.text.contains("Das sehen Leser"))
      try await browser.submit(try page.form(Self.alertPath(item))).check()
      try await Self.deliver(console)
      let list = try await browser.get(Self.list)
      try list.check()
      #expect(list.text.contains("Push-Nachrichten") && list.text.contains("Angenommen: 0"))
      let push = try #require(try await console.store.alert(of: item.item.id)?.push)
      try await browser.get("\(Self.list)/\(push.uuidString.lowercased())").check()
    }
  }
}
