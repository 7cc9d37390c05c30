import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestSupport

/// A newsroom that has one of everything, and the routes of its console. Tests that go through all routes take them from
/// the router, so that a new route is part of them.
struct FullNewsroom: Sendable {
  let console: ConsoleServer
  /// The slug of a topic.
  let topic: String
  /// A published item with two revisions, a topic and an attachment.
  let item: EditorialItem
  /// An item that was retracted in the console, with a reason.
  let retracted: EditorialItem
  let file: UUID
  let subscription: Subscription
  /// A webhook with a delivery that has failed.
  let webhook = UUID()
  let delivery = UUID()
  /// An alert that was sent.
  let push = UUID()
  /// A key that nobody uses.
  let spareKey: APIKey
  /// A browser of an administrator.
  let browser: ConsoleBrowser
  /// The key of the administrator.
  let secret: String
  /// A session of another key.
  let session: ConsoleSession

  /// The path of the page's files.
  static let asset = "/console/assets/{name}"
  static let events = "/console/live/events"
  /// The paths that need no session.
  static let open: Set<String> = ["/console/sign-in", "/console/link", asset]

  /// The fields with free texts that the pages show.
  static let fields = [
    "topic", "german-topic", "title", "text", "summary", "author", "alt", "caption", "credit", "former-title", "file",
    "reason", "subscription", "subscription-error", "hub-error", "spare-key", "own-key", "schema",
    "push", "pause", "attempt",
  ]

  /// Fills the newsroom.
  ///
  /// - Parameters:
  ///   - number: The number of the newsroom, if the server has several.
  ///   - text: Returns the text of a field.
  init(_ console: ConsoleServer, number: Int = 0, text: (_ field: String) -> String = { $0 }) async throws {
    self.console = console
    topic = "harbour-\(number)"
    try await Self.write(
      console, "POST", "topics", ["slug": topic, "titles": ["en": text("topic"), "de": text("german-topic")]])
    let attachment: [String: Any] = [
      "url": "https://example.org/a.png", "type": "image/png", "alt": text("alt"), "caption": text("caption"),
      "credit": text("credit"),
    ]
    let fields: [String: Any] = [
      "state": "published", "text": text("text"), "summary": text("summary"), "author": text("author"),
      "title": text("former-title"), "topics": [topic], "attachments": [attachment],
      "html": "<p onclick=\"x\">\(text("html"))</p><script>x</script><a href=\"javascript:x\">y</a>",
    ]
    let made = try await Self.write(console, "POST", "items", fields).json(EditorialItem.self, status: 201)
    let path = "items/\(made.item.id.uuidString.lowercased())"
    item = try await Self.write(console, "PATCH", path, ["title": text("title")]).json(EditorialItem.self)

    secret = try await console.store.createKey(name: text("own-key"), permissions: [.admin])
    browser = console.browser()
    try await browser.signIn(secret)
    let other = try await console.item(#""state": "published", "text": "Ferry stops.""#)
    var retraction = try await browser.get("\(ConsoleServer.path(other))/retract").form("/retract")
    retraction["reason"] = text("reason")
    _ = try await browser.post(retraction)
    retracted = try await console.store.editorialItem(other.item.id)

    let name = text("file").replacing("\"", with: "%22") + ".png"
    let content = SampleMedia.png(seed: UInt64(number + 1))
    _ = try await browser.post(
      try await browser.get("/console/files").form("/console/files"),
      files: [FormFile(name: name, type: "image/png", content: content)])
    guard let stored = try await console.store.editorialMedia(MediaQuery()).files.first else {
      throw TestResponse.Unexpected(description: "the file was not stored")
    }
    file = stored.media.id

    subscription = try await console.store.createSubscription(
      UUID(), SubscriptionContent(url: "https://feeds.example/\(number)", title: text("subscription")))
    spareKey = try await Self.key(named: text("spare-key"), console)
    let reader = try await console.store.createKey(name: "reader", permissions: [.mediaWrite])
    guard let opened = try await console.store.openSession(key: reader) else {
      throw TestResponse.Unexpected(description: "there is no session")
    }
    session = opened.session
    try await spoil(text)
  }

  /// Sets the texts that come from elsewhere.
  private func spoil(_ text: (_ field: String) -> String) async throws {
    let sql = console.server.sql
    _ = try await sql.query(
      """
      UPDATE subscriptions SET error_at = now(), error_message = \(text("subscription-error")), failures = 1
      WHERE id = \(subscription.id)
      """)
    _ = try await sql.query(
      """
      INSERT INTO hub_leases (token, subscription, state, hub, topic, callback, secret, expires_at, next_request, error)
      VALUES (left(\(subscription.id.uuidString), 22), \(subscription.id), 'active', 'https://hub.example/',
        \(subscription.url), '', '', now(), now(), \(text("hub-error")))
      """)
    // A server with many newsrooms has more webhooks than forms can create.
    _ = try await sql.query(
      """
      INSERT INTO webhooks (id, url, events, secret, created_at)
      VALUES (\(webhook), 'https://hooks.example/', '{item.changed}', 'whsec_x', now())
      """)
    _ = try await sql.query(
      """
      INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state)
      VALUES (\(delivery), \(webhook), 'webhook.test', now(), now(), 'failed')
      """)
    _ = try await sql.query(
      """
      INSERT INTO webhook_attempts (delivery, number, at, status, milliseconds, error)
      VALUES (\(delivery), 1, now(), NULL, 7, \(text("attempt")))
      """)
    _ = try await sql.query(
      """
      INSERT INTO pushes (id, kind, item, epoch, version, scopes, content, created_at, starts_at, fanned_out_at)
      VALUES (\(push), 'alert', \(item.item.id), '000000', 1, '{}', jsonb_build_object('title', \(text("push"))::text),
        now(), now(), now())
      """)
    try await console.store.pauseProvider(.apns, for: 3600, reason: text("pause"))
    _ = try await sql.query(
      """
      UPDATE schema_migrations SET name = \(text("schema"))
      WHERE number = (SELECT max(number) FROM schema_migrations)
      """)
  }

  @discardableResult
  private static func write(
    _ console: ConsoleServer, _ method: String, _ path: String, _ fields: [String: Any]
  ) async throws -> TestResponse {
    let body = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
    return method == "PATCH"
      ? try await console.server.write(method, path, body, ("If-Match", "*"))
      : try await console.server.write(method, path, body)
  }

  private static func key(named name: String, _ console: ConsoleServer) async throws -> APIKey {
    let known = Set(try await console.store.keys().map(\.id))
    _ = try await console.store.createKey(name: name, permissions: [.itemsWrite])
    guard let key = try await console.store.keys().first(where: { $0.name == name && !known.contains($0.id) }) else {
      throw TestResponse.Unexpected(description: "there is no key")
    }
    return key
  }

  // MARK: Routes

  /// The paths of the console's routes with a method, as the router matches them.
  func paths(_ method: HTTPRequest.Method) -> [String] {
    let api = NewsAPI(store: console.store, settings: NewsAPI.Settings())
    let routes = api.router(with: [NewsConsole(api: api)]).routes
    return routes.filter { $0.method == method }.map(\.path.description)
      .filter { $0 == "/console" || $0.hasPrefix("/console/") }.sorted()
  }

  /// The pages that have a whole document: all but files, event streams and those that lead elsewhere.
  var pages: [String] {
    paths(.get).filter { ![Self.asset, Self.events, "/console", "/console/files/{id}"].contains($0) }
  }

  /// Returns the target of a route.
  ///
  /// - Throws: `Unexpected` for a parameter that this newsroom has no value for.
  func target(_ path: String) throws -> String {
    var target = path.replacing("{slug}", with: topic).replacing("{revision}", with: "1")
      .replacing("{name}", with: "console-0123456789abcdef.css")
      .replacing("{delivery}", with: delivery.uuidString.lowercased())
    let ids = [
      "items": item.item.id.uuidString, "files": file.uuidString, "subscriptions": subscription.id.uuidString,
      "keys": spareKey.id, "sessions": session.id.uuidString, "webhooks": webhook.uuidString,
      "pushes": push.uuidString,
    ]
    for (section, id) in ids where path.hasPrefix("/console/\(section)/") {
      target = target.replacing("{id}", with: id.lowercased())
    }
    guard !target.contains("{") else { throw TestResponse.Unexpected(description: "\(path) has an unknown parameter") }
    return target
  }

  /// Returns the forms of all pages, by the target to which they are sent.
  func forms() async throws -> [String: ConsoleForm] {
    var forms: [String: ConsoleForm] = [:]
    for path in pages {
      for (target, form) in try await browser.get(try target(path)).forms { forms[target] = form }
    }
    return forms
  }

  /// Returns the form for a route.
  ///
  /// - Throws: `Unexpected` if no page has it.
  func form(_ path: String, in forms: [String: ConsoleForm]) throws -> ConsoleForm {
    guard let form = forms[try target(path)] else {
      throw TestResponse.Unexpected(description: "no page has a form for \(path)")
    }
    return form
  }

  /// Returns the token of the forms of a browser's session.
  static func token(_ browser: ConsoleBrowser) async throws -> String {
    try await browser.get("/console/sessions").form("/console/sign-out")["csrf"] ?? ""
  }

  /// A digest of the rows of each table, without the times of use.
  func contents() async throws -> [String: String] {
    let sql = console.server.sql
    let tables: [String] = try await sql.query(
      "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).map { try $0.decode("name") }
    var contents: [String: String] = [:]
    for table in tables {
      contents[table] = try await sql.query(
        """
        SELECT md5(coalesce(string_agg(line, ',' ORDER BY line), '')) AS digest
        FROM (SELECT (to_jsonb(t) - 'used_at')::text AS line FROM \(unsafeSQL: table) AS t) AS lines
        """
      ).first?.decode("digest", as: String.self)
    }
    return contents
  }
}

extension ConsolePage {
  /// The forms that are sent with POST, by their targets. A button may have a target of its own.
  var forms: [(target: String, form: ConsoleForm)] {
    get throws {
      let tags = try scan.tags
      let starts = tags.indices.filter { tags[$0].name == "form" }
      return starts.filter { tags[$0]["method"] == "post" }.flatMap { start in
        let controls = Array(tags[(start + 1)..<(starts.first { $0 > start } ?? tags.endIndex)])
        let form = ConsoleForm(tags[start], controls)
        return ([form.action] + controls.compactMap { $0["formaction"] }).map { ($0, form) }
      }
    }
  }
}
