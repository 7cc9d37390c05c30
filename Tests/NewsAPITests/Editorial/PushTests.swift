import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Alerts for items by the API, and the list of pushes.
@Suite struct PushTests {
  /// The response to a request for an alert.
  private struct AlertState: Decodable, Equatable {
    var state: String
    var push: UUID?
  }

  /// A server, and a key that may publish and send pushes.
  private struct Desk: Sendable {
    let server: TestServer
    let key: String

    func send(
      _ method: String, _ path: String, _ body: String? = nil, _ headers: (String, String)..., key: String? = nil
    ) async throws -> TestResponse {
      try await server.send(
        method, "/v1/editorial/\(path)", key: key ?? self.key, headers: headers, body: body)
    }

    /// Creates an item with an alert.
    func create(_ fields: String = "") async throws -> EditorialItem {
      let body = #"{"text": "The ferry is back.", "push": {"alert": true}\#(fields)}"#
      return try await send("POST", "items", body).json(EditorialItem.self, status: 201)
    }

    /// Requests an alert for an item.
    func request(_ item: EditorialItem, status: Int = 200) async throws -> AlertState {
      try await send("POST", "pushes", #"{"item": "\#(item.lowercasedID)"}"#).json(AlertState.self, status: status)
    }

    /// Makes pushes of all that was published so far.
    func collect() async throws {
      while try await server.store.collectOutbox(window: .zero) {}
    }

    /// The alerts that were made, as the API lists them.
    func alerts() async throws -> [Push] {
      try await send("GET", "pushes").json(PushList.self).pushes.filter { $0.kind == .alert }
    }
  }

  private static func withDesk(_ body: @escaping @Sendable (Desk) async throws -> Void) async throws {
    try await TestServer.with { server in
      let key = try await server.store.createKey(name: "night desk", permissions: [.itemsPublish, .pushSend])
      try await body(Desk(server: server, key: key))
    }
  }

  @Test("A write requests an alert, which is made once, whatever is written and requested later")
  func once() async throws {
    try await Self.withDesk { desk in
      let item = try await desk.create(#", "title": "Ferry""#)
      try await desk.collect()
      let alert = try #require(try await desk.alerts().first)
      #expect(alert.item == item.item.id && alert.title == "Ferry" && alert.audience == 0)
      let path = "items/\(item.lowercasedID)"
      let edit = #"{"text": "The night ferry is back.", "push": {"alert": true}}"#
      #expect(try await desk.send("PATCH", path, edit, ("If-Match", "*")).status == 200)
      #expect(try await desk.send("PUT", path, edit, ("If-Match", "*")).status == 200)
      #expect(try await desk.request(item) == AlertState(state: "released", push: alert.id))
      try await desk.collect()
      #expect(try await desk.alerts() == [alert])
      #expect(try await desk.send("GET", "pushes/\(alert.id.uuidString.lowercased())").json(Push.self) == alert)
      #expect(try await desk.send("GET", "pushes/\(UUID())").status == 404)
    }
  }

  @Test("A write without push:send may not request an alert, in any form, and writes nothing")
  func forbidden() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x")
      let path = "items/\(item.lowercasedID)"
      let body = #"{"text": "y", "push": {"alert": true}}"#
      let requests = [("POST", "items", nil), ("PUT", path, "*"), ("PATCH", path, "*")]
      for (method, path, lock) in requests {
        let headers = lock.map { [("If-Match", $0)] } ?? []
        let response = try await server.send(
          method, "/v1/editorial/\(path)", key: server.key, headers: headers, body: body)
        let problem = try response.json(Problem.self, status: 403)
        #expect(problem.type == "/problems/forbidden" && problem.detail?.contains("push:send") == true)
      }
      let refused = try await server.write("POST", "pushes", #"{"item": "\#(item.lowercasedID)"}"#)
      #expect(refused.status == 403)
      let batch = #"{"entries": [{"op": "create", "item": \#(body)}, {"op": "create", "item": {"text": "z"}}]}"#
      let results = try await server.write("POST", "items/batch", batch).json(BatchResultList.self).results
      #expect(results.map(\.status) == [403, 201])
      let counts = try await server.sql.query("SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM item_alerts)")
      #expect(try counts.first?.decode(0, as: Int.self) == 2)
      #expect(try counts.first?.decode(1, as: Int.self) == 0)
      // Without an alert there is nothing to permit.
      let harmless = #"{"text": "y", "push": {"alert": false}}"#
      #expect(try await server.write("POST", "items", harmless).status == 201)
    }
  }

  @Test("A key that may only send pushes requests alerts, for items of its topics")
  func sender() async throws {
    try await Self.withDesk { desk in
      try await desk.server.makeTopics(["harbour", "sport"])
      let (own, other) = (
        try await desk.server.publish("x", topics: ["harbour"]), try await desk.server.publish("y", topics: ["sport"])
      )
      let key = try await desk.server.store.createKey(name: "bell", permissions: [.pushSend], topics: ["harbour"])
      for dryRun in ["", #", "dryRun": true"#] {
        let refused = try await desk.send(
          "POST", "pushes", #"{"item": "\#(other.lowercasedID)"\#(dryRun)}"#, key: key)
        #expect(refused.status == 403)
      }
      let requested = try await desk.send("POST", "pushes", #"{"item": "\#(own.lowercasedID)"}"#, key: key)
      #expect(try requested.json(AlertState.self, status: 202).state == "waiting")
      let rows = try await desk.server.sql.query("SELECT editor FROM item_alerts")
      let editor: String? = try #require(rows.first).decode("editor")
      #expect(rows.count == 1 && editor?.contains("bell") == true)
    }
  }

  @Test("A key for topics sees the pushes of its items only, drafts and retracted ones included")
  func restricted() async throws {
    try await Self.withDesk { desk in
      try await desk.server.makeTopics(["harbour", "sport"])
      for (topics, title) in [(#"["harbour"]"#, "own"), (#"["harbour", "sport"]"#, "both"), ("[]", "none")] {
        _ = try await desk.create(#", "topics": \#(topics), "title": "\#(title)""#)
        try await desk.collect()
        // Changes from then on belong to another push.
        while try await desk.server.store.fanOut(budget: 3) {}
      }
      let all = try await desk.send("GET", "pushes").json(PushList.self).pushes
      #expect(all.count == 6)
      let key = try await desk.server.store.createKey(name: "bell", permissions: [.pushSend], topics: ["harbour"])
      let seen = try await desk.send("GET", "pushes", key: key).json(PushList.self).pushes
      let own = try #require(seen.first { $0.kind == .alert })
      #expect(seen.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.alert, .silent])
      #expect(own.title == "own" && seen.allSatisfy { $0.item == own.item })
      for push in all {
        let read = try await desk.send("GET", "pushes/\(push.id.uuidString.lowercased())", key: key)
        #expect(read.status == (push.item == own.item ? 200 : 404))
      }
      // The place of a push in the whole list is no secret, since its id is unknown.
      let pages = try await desk.send("GET", "pushes?limit=1", key: key)
      #expect(try pages.json(PushList.self).pushes == [seen[0]])
      let next = try await desk.server.send("GET", try #require(pages.next), key: key)
      #expect(try next.json(PushList.self).pushes == [seen[1]])
    }
  }

  @Test("The alert of a draft waits for its publication")
  func draft() async throws {
    try await Self.withDesk { desk in
      let item = try await desk.create(#", "state": "draft""#)
      try await desk.collect()
      #expect(try await desk.alerts().isEmpty)
      #expect(try await desk.request(item) == AlertState(state: "waiting"))
      let path = "items/\(item.lowercasedID)"
      #expect(try await desk.send("PATCH", path, #"{"state": "published"}"#, ("If-Match", "*")).status == 200)
      try await desk.collect()
      let alerts = try await desk.alerts()
      #expect(alerts.map(\.item) == [item.item.id])
      #expect(try await desk.request(item) == AlertState(state: "released", push: alerts.first?.id))
    }
  }

  @Test("A retraction cancels the alert, and devices are woken for it")
  func retraction() async throws {
    try await Self.withDesk { desk in
      let item = try await desk.create()
      try await desk.collect()
      let path = "items/\(item.lowercasedID)"
      #expect(try await desk.send("DELETE", path, nil, ("If-Match", "*")).status == 204)
      try await desk.collect()
      #expect(try await desk.alerts().first?.cancelled != nil)
      let pushes = try await desk.send("GET", "pushes").json(PushList.self).pushes
      #expect(pushes.contains { $0.kind == .retraction && $0.item == item.item.id })
      let again = try await desk.send("POST", "pushes", #"{"item": "\#(item.lowercasedID)"}"#)
      #expect(again.status == 410)
    }
  }

  @Test("A dry run counts the devices by push service, and requests nothing")
  func dryRun() async throws {
    try await Self.withDesk { desk in
      let limits = DeviceLimits(total: 100, perHost: 100)
      func register(_ number: Int, alerts: Bool = true, languages: [String]? = nil, quiet: QuietHours? = nil)
        async throws
      {
        let device = DeviceRegistration(
          provider: .fcm, token: "t\(number)", languages: languages, alerts: alerts, quiet: quiet)
        _ = try await desk.server.store.registerDevice(device, limits: limits)
      }
      try await register(1)
      try await register(2, languages: ["en"])
      try await register(3, languages: ["de"])
      try await register(4, alerts: false)
      let phone = DeviceRegistration(
        provider: .apns, token: String(repeating: "0f", count: 32), app: "org.example.news", alerts: true)
      _ = try await desk.server.store.registerDevice(phone, limits: limits)
      // All hours but the one that begins in twelve hours.
      let minute = Int(Date().timeIntervalSince1970 / 60) % 1440
      try await register(5, quiet: QuietHours(from: (minute + 780) % 1440, to: (minute + 720) % 1440))
      let body = #"{"text": "x", "language": "en"}"#
      let item = try await desk.send("POST", "items", body).json(EditorialItem.self, status: 201)
      let audience = try await desk.send("POST", "pushes", #"{"item": "\#(item.lowercasedID)", "dryRun": true}"#)
        .json(PushAudience.self)
      #expect(audience == PushAudience(devices: 3, quiet: 1, providers: [.apns: 1, .fcm: 2]))
      // A push service is not named if all of its devices have their quiet hours.
      _ = try await desk.server.sql.query(
        """
        UPDATE devices AS d SET quiet_from = q.quiet_from, quiet_to = q.quiet_to
        FROM devices AS q WHERE d.provider = 'apns' AND q.quiet_from IS NOT NULL
        """)
      let rest = try await desk.send("POST", "pushes", #"{"item": "\#(item.lowercasedID)", "dryRun": true}"#)
        .json(PushAudience.self)
      #expect(rest == PushAudience(devices: 2, quiet: 2, providers: [.fcm: 2]))
      try await desk.collect()
      #expect(try await desk.alerts().isEmpty)
      #expect(try await desk.request(item, status: 202) == AlertState(state: "waiting"))
      let unknown = try await desk.send("POST", "pushes", #"{"item": "\#(UUID())", "dryRun": true}"#)
      #expect(unknown.status == 404)
    }
  }

  @Test("Each entry of a batch requests its own alert")
  func batch() async throws {
    try await Self.withDesk { desk in
      let item = try await desk.server.publish("one")
      let entries = [
        #"{"op": "create", "item": {"text": "new", "push": {"alert": true}}}"#,
        #"{"op": "create", "item": {"text": "quiet"}}"#,
        #"{"op": "modify", "id": "\#(item.lowercasedID)", "revision": 1, "patch": {"push": {"alert": true}}}"#,
        #"{"op": "create", "item": {"text": "", "push": {"alert": true}}}"#,
      ]
      let body = "{\"entries\": [\(entries.joined(separator: ","))]}"
      let results = try await desk.send("POST", "items/batch", body).json(BatchResultList.self).results
      #expect(results.map(\.status) == [201, 201, 200, 422])
      #expect(results[2].item?.revision == 1)
      try await desk.collect()
      #expect(Set(try await desk.alerts().map(\.item)) == [results[0].id, item.item.id])
    }
  }

  @Test("A repeated request with the same Idempotency-Key has the first answer")
  func repetition() async throws {
    try await Self.withDesk { desk in
      let item = try await desk.server.publish("x")
      let body = #"{"item": "\#(item.lowercasedID)"}"#
      let first = try await desk.send("POST", "pushes", body, ("Idempotency-Key", "a"))
      #expect(first.status == 202 && first["Idempotency-Replayed"] == nil)
      try await desk.collect()
      let again = try await desk.send("POST", "pushes", body, ("Idempotency-Key", "a"))
      #expect(again.status == 202 && again["Idempotency-Replayed"] == "true" && again.text == first.text)
      let other = try await desk.send("POST", "pushes", body, ("Idempotency-Key", "b"))
      #expect(try other.json(AlertState.self).state == "released")
      #expect(try await desk.alerts().count == 1)
    }
  }

  @Test(
    "A field that breaks a rule is named",
    arguments: [
      (#"{}"#, "item"), (#"{"item": "x"}"#, "item"), (#"{"item": null}"#, "item"),
      (#"{"item": "019a0000-0000-7000-8000-000000000000", "dryRun": 1}"#, "dryRun"),
      (#"{"item": "019a0000-0000-7000-8000-000000000000", "title": "x"}"#, "title"),
    ])
  func invalid(body: String, field: String) async throws {
    try await Self.withDesk { desk in
      let problem = try await desk.send("POST", "pushes", body).json(Problem.self, status: 422)
      #expect(problem.errors?.map(\.field) == [field])
    }
  }

  @Test(
    "An alert in a write has one form",
    arguments: [(#"true"#, "push"), (#"{"alert": 1}"#, "push.alert"), (#"{"a": 1}"#, "push.a")])
  func invalidFlag(value: String, field: String) async throws {
    try await Self.withDesk { desk in
      let response = try await desk.send("POST", "items", #"{"text": "x", "push": \#(value)}"#)
      #expect(try response.json(Problem.self, status: 422).errors?.map(\.field) == [field])
      let item = try await desk.server.publish("x")
      let patch = try await desk.send(
        "PATCH", "items/\(item.lowercasedID)", #"{"push": \#(value)}"#, ("If-Match", "*"))
      #expect(try patch.json(Problem.self, status: 422).errors?.map(\.field) == [field])
    }
  }

  @Test("The list of pushes is read in pages, newest first")
  func pages() async throws {
    try await Self.withDesk { desk in
      for number in 0..<5 {
        _ = try await desk.create(#", "title": "\#(number)""#)
        try await desk.collect()
      }
      let all = try await desk.send("GET", "pushes?limit=200").json(PushList.self).pushes
      var (pages, target) = ([Push](), String?("/v1/editorial/pushes?limit=2"))
      while let page = target {
        let response = try await desk.server.send("GET", page, key: desk.key)
        let pushes = try response.json(PushList.self).pushes
        #expect(pushes.count <= 2)
        pages += pushes
        target = response.next
      }
      #expect(pages == all && all.count { $0.kind == .alert } == 5)
      #expect(all.map(\.created) == all.map(\.created).sorted(by: >))
      for query in ["limit=0", "limit=201", "before=x", "x=1"] {
        #expect(try await desk.send("GET", "pushes?\(query)").status == 400)
      }
      #expect(try await desk.send("GET", "pushes/\(all[0].id)?x=1").status == 400)
      let request = #"{"item": "\#(UUID())"}"#
      #expect(try await desk.send("POST", "pushes?x=1", request).status == 400)
    }
  }

  @Test("A page has 50 pushes unless the request names a number, and the last page names no next one")
  func pageSize() async throws {
    try await Self.withDesk { desk in
      _ = try await desk.server.sql.query(
        """
        INSERT INTO pushes (id, kind, epoch, version, scopes, created_at, starts_at, fanned_out_at)
        SELECT gen_random_uuid(), 'retraction', 'k3x9qa', 1, '{}', c.now, c.now, c.now
        FROM (SELECT clock_timestamp() AS now) AS c CROSS JOIN generate_series(1, 51)
        """)
      let first = try await desk.send("GET", "pushes")
      #expect(try first.json(PushList.self).pushes.count == 50)
      let next = try #require(first.next)
      #expect(next.hasSuffix("&limit=50"))
      let last = try await desk.server.send("GET", next, key: desk.key)
      #expect(try last.json(PushList.self).pushes.count == 1 && last.next == nil)
    }
  }
}

extension EditorialItem {
  fileprivate var lowercasedID: String { item.id.uuidString.lowercased() }
}
