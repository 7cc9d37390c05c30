import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The sizes of pages in a newsroom with many rows, whose titles and errors are long.
@Suite struct PageSizeTests {
  /// The maximum size of HTML, styles and scripts together, in bytes.
  private static let maximum = 60_000
  /// 100 characters, some of which take more bytes in HTML.
  private static let long = String(repeating: "Überfahrt & Fähre ", count: 5) + "im Hafen .."

  /// Returns the size of the page with its styles and scripts, before compression.
  private static func size(_ page: ConsolePage, _ browser: ConsoleBrowser) async throws -> Int {
    let assets = try page.scan.tags.compactMap { $0["href"] ?? $0["src"] }.filter {
      $0.hasSuffix(".css") || $0.hasSuffix(".js")
    }
    #expect(Set(assets).count == 2)
    var size = page.text.utf8.count
    for asset in Set(assets) { size += try await browser.get(asset).text.utf8.count }
    return size
  }

  /// Fills all tables whose rows the console lists. Times and counts are of no importance.
  private static func fill(_ console: ConsoleServer) async throws {
    let sql = console.server.sql
    _ = try await sql.query(
      """
      WITH slugs AS (
        INSERT INTO scopes (scope) SELECT 'a-long-topic-' || n FROM generate_series(1000, 1999) AS n
        RETURNING scope
      )
      INSERT INTO topics (slug, titles, position)
      SELECT scope, jsonb_build_object('de', \(long)::text, 'en', \(long)::text), 0 FROM slugs
      """)
    _ = try await sql.query(
      """
      INSERT INTO subscriptions (id, url, title, topics, state, next_poll, last_success, error_at, error_message,
        failures)
      SELECT gen_random_uuid(), 'https://feeds.example/' || n || '?' || repeat('feed=x&', 20), \(long)::text || n,
        '{a-long-topic-1000,a-long-topic-1001,a-long-topic-1002}', 'published', now(),
        now() - interval '1 hour', now(), repeat(\(long)::text, 3), 5
      FROM generate_series(1, 300) AS n
      """)
    _ = try await sql.query(
      """
      INSERT INTO hub_leases (token, subscription, state, hub, topic, callback, secret, expires_at, next_request, error)
      SELECT substr(id::text, 1, 22), id, 'active', 'https://hub.example/', url, '', '', now(), now(), \(long)::text
      FROM subscriptions
      """)
    _ = try await sql.query(
      """
      INSERT INTO api_keys (id, name, scopes, digest, topics)
      SELECT 'key' || n, \(long)::text || n, '{items:publish,media:write}', sha256(n::text::bytea),
        ARRAY(SELECT 'a-long-topic-' || t FROM generate_series(1000, 1099) AS t)
      FROM generate_series(100, 299) AS n
      """)
    _ = try await sql.query(
      """
      INSERT INTO console_sessions (digest, key, key_digest)
      SELECT sha256(('session' || k.id)::bytea), k.id, k.digest FROM api_keys AS k WHERE k.id LIKE 'key___'
      """)
    let items = (1...120).map { number in
      #"{"op": "create", "item": {"state": "draft", "text": "x", "language": "de", "title": "\#(long)\#(number)", "#
        + #""topics": ["a-long-topic-1500", "a-long-topic-1501", "a-long-topic-1502"]}}"#
    }
    let written = try await console.server.write(
      "POST", "items/batch", #"{"entries": [\#(items.joined(separator: ","))]}"#)
    #expect(written.status == 200)
    _ = try await sql.query(
      """
      INSERT INTO media (id, sha256, type, bytes, width, height, name)
      SELECT gen_random_uuid(), sha256(n::text::bytea), 'image/jpeg', 1234567, 1600, 900, repeat('long-name-', 9) || n
      FROM generate_series(1, 120) AS n
      """)
    _ = try await sql.query(
      """
      UPDATE items AS i SET attachments = (SELECT jsonb_agg(jsonb_build_object('url', '/v1/media/' || m.id,
          'type', m.type, 'bytes', m.bytes)) FROM (SELECT * FROM media ORDER BY id DESC LIMIT 30) AS m)
      WHERE i.id IN (SELECT id FROM items ORDER BY id DESC LIMIT 4)
      """)
  }

  /// Fills the tables of pushes and webhooks.
  private static func fillDeliveries(_ console: ConsoleServer) async throws {
    let sql = console.server.sql
    _ = try await sql.query(
      """
      INSERT INTO pushes (id, kind, epoch, version, scopes, content, created_at, starts_at, cancelled_at, audience)
      SELECT gen_random_uuid(), 'alert', '000000', n, '{}', jsonb_build_object('title', repeat(\(long)::text, 2)), now(),
        now() + interval '1 second', now(), 1000000 FROM generate_series(1, 100) AS n
      """)
    _ = try await sql.query(
      """
      INSERT INTO push_results (push, sent, refused, gone, dropped, reports, woke, found_news, last_sent_at)
      SELECT id, 990000, 9000, 900, 90, 9000, 8000, 7000, now() FROM pushes
      """)
    _ = try await sql.query(
      """
      INSERT INTO webhooks (id, url, events, topics, secret, created_at, last_success, failing_since, paused,
        disabled_reason)
      SELECT gen_random_uuid(), 'https://hooks.example/' || n || '?' || repeat('hook=x&', 250),
        '{item.published,item.changed,item.retracted}',
        ARRAY(SELECT 'a-long-topic-' || t FROM generate_series(1000, 1031) AS t),
        'whsec_x', now(), now(), now(), true, 'failing'
      FROM generate_series(1, 100) AS n
      """)
    _ = try await sql.query(
      """
      INSERT INTO webhook_deliveries (id, webhook, event, at, item, version, token, topics, created_at, state, due_at)
      SELECT gen_random_uuid(), (SELECT min(id::text)::uuid FROM webhooks), 'item.changed', now(), gen_random_uuid(), n,
        't', '{}', now() + n * interval '1 second', 'due', now() FROM generate_series(1, 100) AS n
      """)
    _ = try await sql.query(
      """
      INSERT INTO webhook_attempts (delivery, number, at, status, milliseconds, error)
      SELECT d.id, n, now(), 500, 7, repeat(\(long)::text, 5)
      FROM webhook_deliveries AS d, generate_series(1, 20) AS n WHERE d.version > 50
      """)
    _ = try await sql.query(
      """
      UPDATE webhooks SET paused = false, disabled_reason = NULL
      WHERE id::text = (SELECT min(id::text) FROM webhooks)
      """)
  }

  @Test("No page has more than 60 kB of HTML, styles and scripts, however much there is")
  func sizes() async throws {
    try await ConsoleServer.with { console in
      try await Self.fill(console)
      try await Self.fillDeliveries(console)
      // An item without attachments, which take as much as the item has.
      let id = try await console.server.sql.query("SELECT id FROM items ORDER BY id LIMIT 1").first?
        .decode("id", as: UUID.self)
      let item = try await console.store.editorialItem(try #require(id))
      let subscription = try #require(try await console.store.subscriptions(SubscriptionQuery()).subscriptions.first)
        .subscription.id.uuidString.lowercased()
      for number in 1...60 {
        let text = (1...10).map { "\(Self.long) \(number * $0)" }.joined(separator: "\\n\\n")
        let path = "items/\(item.item.id.uuidString.lowercased())"
        let saved = try await console.server.write("PATCH", path, #"{"text": "\#(text)"}"#, ("If-Match", "*"))
        #expect(saved.status == 200)
      }
      let hook = try #require(try await console.store.webhooks().first { !$0.paused }).id.uuidString.lowercased()
      let push = try #require(try await console.store.pushes(limit: 1).first).id.uuidString.lowercased()
      let browser = try await console.signedIn([.admin], name: Self.long)
      let path = ConsoleServer.path(item)
      let lists = [
        "items", "items?topic=a-long-topic-1500", "files", "files?used=true", "topics", "subscriptions",
        "subscriptions?health=failing&q=feed", "subscriptions?page=7", "keys", "sessions", "live",
        "pushes", "pushes/\(push)", "webhooks", "webhooks?page=7", "webhooks/\(hook)", "webhooks/\(hook)/edit",
        "webhooks/\(hook)/rotate", "webhooks/\(hook)/remove", "webhooks/new",
      ].map { "/console/\($0)" }
      let forms = [
        path, "\(path)/history", "\(path)/alert", "/console/items/new", "/console/new-topic",
        "/console/subscriptions/new",
        "/console/subscriptions/\(subscription)", "/console/subscriptions/\(subscription)/remove", "/console/keys/new",
        "/console/topics/a-long-topic-1500/edit", "/console/topics/a-long-topic-1500/remove",
      ]
      for target in lists + forms {
        let page = try await browser.get(target)
        try page.check()
        let size = try await Self.size(page, browser)
        #expect(size <= Self.maximum, "\(target)")
      }
    }
  }

  @Test("The writes of a long history are each on one page")
  func history() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "\#(Self.long)""#)
      let path = "items/\(item.item.id.uuidString.lowercased())"
      for number in 2...30 {
        let text = (1...10).map { "\(Self.long) \(number * $0)" }.joined(separator: "\\n\\n")
        _ = try await console.server.write("PATCH", path, #"{"text": "\#(text)"}"#, ("If-Match", "*"))
      }
      let browser = try await console.signedIn()
      var page = try await browser.get("\(ConsoleServer.path(item))/history")
      var found = try page.scan.all("h2").map(\.text)
      #expect(found.count < 25)
      while let next = try page.scan.all("a").first(where: { $0["rel"] == "next" })?["href"], found.count < 100 {
        page = try await browser.get(next)
        found += try page.scan.all("h2").map(\.text)
      }
      #expect(found == (1...30).reversed().map { "Revision \($0)" })
    }
  }

  @Test("Topics that are too many for a form are typed, and stay selected")
  func typedTopics() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.sql.query(
        """
        WITH slugs AS (
          INSERT INTO scopes (scope) SELECT 'topic-' || n FROM generate_series(100, 299) AS n
          RETURNING scope
        )
        INSERT INTO topics (slug, titles, position) SELECT scope, '{}', 0 FROM slugs
        """)
      let browser = try await console.signedIn([.admin])
      func boxes(_ page: ConsolePage) throws -> [PageScan.Tag] {
        try page.scan.all("input").filter { $0["name"] == "topics" && $0["type"] == "checkbox" }
      }
      var form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      form["otherTopics"] = "topic-250, topic-100  topic-299"
      let page = try await browser.submit(form, "save")
      try page.check()
      let item = try #require(try await console.store.editorialItems(EditorialQuery()).items.first)
      #expect(item.item.topics == ["topic-100", "topic-250", "topic-299"])
      #expect(try boxes(page).count == 82)
      #expect(try boxes(page).filter { $0["checked"] != nil }.compactMap { $0["value"] } == item.item.topics)
      // An empty field adds no topic.
      #expect(try await browser.submit(try page.editor, "save").status == 200)
      #expect(try await console.store.editorialItem(item.item.id).item.topics == item.item.topics)
      form = try await browser.get("/console/items/new").editor
      form["text"] = "Fog lifts."
      form["otherTopics"] = "topic-100 unknown"
      let refused = try await browser.submit(form, "save")
      try refused.check(status: 422)
      #expect(
        try boxes(refused).filter { $0["checked"] != nil }.compactMap { $0["value"] } == ["topic-100", "unknown"])
      for target in ["/console/subscriptions/new", "/console/keys/new"] {
        let page = try await browser.get(target)
        try page.check()
        #expect(try boxes(page).count == 80, "\(target)")
      }
      let restricted = try await console.signedIn(topics: ["topic-299"])
      let own = try await restricted.get("/console/items/new")
      #expect(try boxes(own).compactMap { $0["value"] } == ["topic-299"])
      #expect(try own.scan.tags.allSatisfy { $0["id"] != "other-topics" })
    }
  }

  @Test("A topic is merged into one of too many for a list by its name")
  func typedMerge() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.sql.query(
        """
        WITH slugs AS (
          INSERT INTO scopes (scope) SELECT 'topic-' || n FROM generate_series(100, 299) AS n
          RETURNING scope
        )
        INSERT INTO topics (slug, titles, position) SELECT scope, '{}', 0 FROM slugs
        """)
      _ = try await console.item(#""state": "published", "text": "Fog lifts.", "topics": ["topic-100"]"#)
      let browser = try await console.signedIn()
      let target = "/console/topics/topic-100/remove"
      let page = try await browser.get(target)
      try page.check()
      var form = try page.form(target)
      form["mergeInto"] = "topic-500"
      let refused = try await browser.submit(form)
      try refused.check(status: 422)
      #expect(try refused.error(of: "mergeInto") != nil)
      form = try refused.form(target)
      #expect(form["mergeInto"] == "topic-500")
      form["mergeInto"] = "topic-299"
      try await browser.submit(form).check()
      #expect(try await console.store.editorialItems(EditorialQuery()).items.map(\.item.topics) == [["topic-299"]])
    }
  }
}
