import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct KeyPageTests {
  private static let list = "/console/keys"
  private static let new = "/console/keys/new"

  private static func rotation(_ key: APIKey) -> String { "\(list)/\(key.id)/rotate" }

  private static func revocation(_ key: APIKey) -> String { "\(list)/\(key.id)/revoke" }

  /// Returns a browser of an administrator, whose key has the name `admin`.
  private static func admin(_ console: ConsoleServer) async throws -> ConsoleBrowser {
    try await console.signedIn([.admin], name: "admin")
  }

  /// The secret that a page shows.
  private static func secret(_ page: ConsolePage) throws -> String {
    try #require(try page.scan.all("code").first?.text)
  }

  private static func key(_ name: String, _ console: ConsoleServer) async throws -> APIKey {
    try await console.store.key(name)
  }

  @Test("A new key is shown once, works with its permissions, and is stored nowhere")
  func creation() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour", "weather"])
      let browser = try await Self.admin(console)
      let empty = try await browser.get(Self.new)
      try empty.check()
      var form = try empty.form(Self.list)
      form["name"] = "mara at the desk"
      form.add("scopes", "media:write")
      form.add("scopes", "items:write")
      form.add("topics", "weather")
      form["expires"] = "2100-05-06T07:08"
      let page = try await browser.post(form)
      try page.check()
      let secret = try Self.secret(page)
      #expect(secret.wholeMatch(of: /tdk_[0-9a-f]+_[0-9a-f]{64}/) != nil)
      let key = try #require(try await console.store.authenticate(secret))
      #expect(key.name == "mara at the desk" && key.permissions == [.itemsWrite, .mediaWrite])
      #expect(key.topics == ["weather"] && key.expires.map(RFC3339.string) == "2100-05-06T07:08:00.000Z")
      let part = try #require(secret.split(separator: "_").last)
      for target in [Self.list, Self.new, Self.rotation(key), Self.revocation(key)] {
        let page = try await browser.get(target)
        try page.check()
        #expect(!page.text.contains(part), "\(target)")
      }
      let rows = try await console.server.sql.query("SELECT row_to_json(k)::text AS row FROM api_keys AS k")
      #expect(try rows.allSatisfy { try !$0.decode("row", as: String.self).contains(part) })
      // Without topics and expiry, the key has no restriction.
      form["id"] = try await browser.get(Self.new).form(Self.list)["id"]
      form["topics"] = nil
      form["expires"] = ""
      let other = try #require(try await console.store.authenticate(try Self.secret(try await browser.post(form))))
      #expect(other.topics == nil && other.expires == nil && other.id != key.id)
    }
  }

  @Test("A form that is sent twice creates one key, and shows its secret once")
  func sentTwice() async throws {
    try await ConsoleServer.with { console in
      let browser = try await Self.admin(console)
      var form = try await browser.get(Self.new).form(Self.list)
      form["name"] = "mara"
      // A form that was refused is still the same form.
      #expect(try await browser.submit(form).status == 422)
      form.add("scopes", "items:write")
      let pages = try await withThrowingTaskGroup(of: ConsolePage.self) { [form] group in
        for _ in 0..<4 { group.addTask { try await browser.post(form) } }
        return try await group.reduce(into: [ConsolePage]()) { $0.append($1) }
      }
      #expect(pages.map(\.status).sorted() == [200, 409, 409, 409])
      let first = try #require(pages.first { $0.status == 200 })
      let key = try #require(try await console.store.authenticate(try Self.secret(first)))
      #expect(try await console.store.keys().count { $0.name == "mara" } == 1)
      for page in pages where page.status == 409 {
        try page.check(status: 409)
        #expect(try page.scan.all("code").isEmpty)
        #expect(try page.texts(ofClass: "subject") == ["mara"])
        #expect(try page.scan.addresses.contains(Self.rotation(key)))
      }
      // A new page makes another key.
      var other = try await browser.get(Self.new).form(Self.list)
      #expect(other["id"] != form["id"])
      other["name"] = "otto"
      other.add("scopes", "items:write")
      #expect(try await browser.post(other).status == 200)
      // An id of another form creates a key with an id of the server's choice.
      for id in ["x", "", "tdk_0", String(repeating: "a", count: 13)] {
        other["id"] = id
        let page = try await browser.post(other)
        #expect(page.status == 200)
        #expect(try await console.store.authenticate(try Self.secret(page))?.id != id)
      }
    }
  }

  @Test("A rotation that is sent twice replaces one secret, and the one before keeps its time")
  func rotatedTwice() async throws {
    try await ConsoleServer.with { console in
      let former = try await console.store.createKey(name: "mara", permissions: [.itemsWrite])
      let key = try await Self.key("mara", console)
      let browser = try await Self.admin(console)
      let form = try await browser.get(Self.rotation(key)).form(Self.rotation(key))
      let secret = try Self.secret(try await browser.post(form))
      let repeated = try await browser.post(form)
      try repeated.check(status: 409)
      #expect(try repeated.scan.all("code").isEmpty)
      #expect(try repeated.texts(ofClass: "bad").first?.contains("was replaced since you opened the page") ?? false)
      for secret in [former, secret] { #expect(try await console.store.authenticate(secret)?.id == key.id) }
      let again = try Self.secret(try await browser.post(try repeated.form(Self.rotation(key))))
      #expect(try await console.store.authenticate(again)?.id == key.id)
      #expect(try await console.store.authenticate(former) == nil)
      var incomplete = try await browser.get(Self.rotation(key)).form(Self.rotation(key))
      incomplete["secretName"] = nil
      #expect(try await browser.post(incomplete).status == 409)
      #expect(try await console.store.authenticate(again)?.id == key.id)
    }
  }

  @Test("A refused form has each error beside its field, and all that was typed")
  func errors() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let browser = try await Self.admin(console)
      let before = try await console.store.keys()
      func refused(_ change: (inout ConsoleForm) -> Void) async throws -> ConsolePage {
        var form = try await browser.get(Self.new).form(Self.list)
        form["name"] = "typed"
        form.add("scopes", "items:write")
        form.add("topics", "harbour")
        change(&form)
        let page = try await browser.submit(form)
        try page.check(status: 422)
        let again = try page.form(Self.list)
        for name in ["name", "scopes", "topics", "expires"] { #expect(again[name] == form[name], "\(name)") }
        return page
      }
      func text(of id: String, _ page: ConsolePage) throws -> String? {
        try page.scan.tags.first { $0["id"] == id }?.text
      }
      #expect(try await refused { $0["name"] = " " }.error(of: "name") == "Is required.")
      #expect(
        try await refused { $0["name"] = String(repeating: "é", count: 129) }.error(of: "name")
          == "Must not be longer than 256 bytes.")
      for name in ["a\u{0}b", "a\nb", "a\u{1B}[2J"] {
        var form = try await browser.get(Self.new).form(Self.list)
        form["name"] = name
        form.add("scopes", "items:write")
        #expect(try await browser.submit(form).error(of: "name") == "Must not contain control characters.")
      }
      #expect(
        try text(of: "scopes-error", try await refused { $0["scopes"] = nil }) == "Choose at least one permission.")
      let unnamed = try await refused {
        $0["name"] = " "
        $0["scopes"] = nil
        $0["expires"] = "tomorrow"
      }
      #expect(try unnamed.problemLinks == ["#name Name", "#scopes Permissions", "#expires Expires"])
      let restricted = try await refused { $0.add("scopes", "admin") }
      #expect(try text(of: "topics-error", restricted)?.contains("cannot be restricted to topics") ?? false)
      for (slug, error) in [("fog", "These topics no longer exist: fog"), ("Not a slug", "Must be another topic")] {
        let page = try await refused { $0["topics"] = slug }
        #expect(try text(of: "topics-error", page)?.hasPrefix(error) ?? false, "\(slug)")
      }
      #expect(try await refused { $0["expires"] = "2020-01-01T00:00" }.error(of: "expires") == "Must be in the future.")
      #expect(
        try await refused { $0["expires"] = "tomorrow" }.error(of: "expires") == "Must be a date with a time.")
      var form = try await browser.get(Self.new).form(Self.list)
      form["name"] = "unknown"
      form.add("scopes", "everything")
      #expect(try await browser.submit(form).status == 422)
      #expect(try await console.store.keys() == before)
    }
  }

  @Test("The list has all keys with their rights and times, those that work first")
  func keys() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      for name in ["old", "gone"] {
        _ = try await console.store.createKey(name: name, permissions: [.itemsWrite], expiry: .after(.seconds(999_999)))
      }
      try await console.store.revokeKey(try await Self.key("gone", console).id)
      _ = try await console.server.sql.query("UPDATE api_keys SET expires_at = now() WHERE name = 'old'")
      _ = try await console.store.createKey(name: "sport", permissions: [.itemsPublish], topics: ["harbour"])
      let browser = try await Self.admin(console)
      let page = try await browser.get(Self.list)
      try page.check()
      #expect(
        try page.scan.all("span").filter { $0["dir"] == "auto" }.map(\.text) == [
          "admin", "sport", "desk", "old", "gone",
        ])
      #expect(try page.texts(ofClass: "state") == ["Valid", "Your key", "Valid", "Valid", "Expired", "Revoked"])
      #expect(page.text.contains("Only these topics: harbour") && page.text.contains("Never used"))
      #expect(page.text.contains("Publish, and change all items and topics"))
      let (old, gone) = (try await Self.key("old", console), try await Self.key("gone", console))
      let addresses = try page.scan.addresses
      #expect(!addresses.contains(Self.rotation(old)) && addresses.contains(Self.revocation(old)))
      #expect(!addresses.contains(Self.rotation(gone)) && !addresses.contains(Self.revocation(gone)))
      for target in [Self.rotation(old), Self.rotation(gone), Self.revocation(gone)] {
        let page = try await browser.get(target)
        try page.check(status: 409)
        #expect(try page.texts(ofClass: "secret").isEmpty)
      }
      for id in ["nothing", "%00", "..", UUID().uuidString] {
        #expect(try await browser.get("\(Self.list)/\(id)/rotate").status == 404, "\(id)")
      }
    }
  }

  @Test("A key receives a new secret, and the present one works for the chosen time", arguments: [86_400, 0])
  func rotation(overlap: Int) async throws {
    try await ConsoleServer.with { console in
      let former = try await console.store.createKey(name: "mara", permissions: [.itemsWrite])
      let key = try await Self.key("mara", console)
      let browser = try await Self.admin(console)
      let page = try await browser.get(Self.rotation(key))
      try page.check()
      #expect(try page.texts(ofClass: "bad").isEmpty)
      var form = try page.form(Self.rotation(key))
      #expect(form["overlap"] == "86400")
      form["overlap"] = "\(overlap)"
      let answer = try await browser.post(form)
      try answer.check()
      let secret = try Self.secret(answer)
      #expect(secret != former)
      #expect(try await console.store.authenticate(secret)?.id == key.id)
      #expect(try await (console.store.authenticate(former) != nil) == (overlap > 0))
      let list = try await browser.get(Self.list)
      #expect(list.text.contains("The secret from before the last rotation works until") == (overlap > 0))
      for value in [nil, "", "-1", "99999999999", "x"] {
        form["overlap"] = value
        let refused = try await browser.post(form)
        #expect(refused.status == 422)
        #expect(try refused.scan.all("code").isEmpty)
      }
      #expect(try await console.store.authenticate(secret) != nil)
      try await console.store.revokeKey(key.id)
      form["overlap"] = "0"
      let late = try await browser.post(form)
      try late.check(status: 409)
      #expect(try late.scan.all("code").isEmpty)
    }
  }

  @Test("A key is revoked after a question, and its sessions end")
  func revocation() async throws {
    try await ConsoleServer.with { console in
      let mara = try await console.signedIn(name: "mara")
      let key = try await Self.key("mara", console)
      let browser = try await Self.admin(console)
      let page = try await browser.get(Self.revocation(key))
      try page.check()
      #expect(try page.texts(ofClass: "subject") == ["mara"])
      #expect(try page.texts(ofClass: "bad").isEmpty)
      let form = try page.form(Self.revocation(key))
      let list = try await browser.submit(form)
      try list.check()
      #expect(try list.texts(ofClass: "good") == ["The key was revoked."])
      #expect(try await Self.key("mara", console).state == .revoked)
      #expect(try await mara.get("/console/items").status == 303)
      // A repeat has no effect.
      #expect(try await browser.submit(form).status == 200)
    }
  }

  @Test("The pages warn before the key of the own session ends, which then asks to sign in")
  func ownKey() async throws {
    try await ConsoleServer.with { console in
      let browser = try await Self.admin(console)
      let key = try await Self.key("admin", console)
      let rotation = try await browser.get(Self.rotation(key))
      try rotation.check()
      #expect(try rotation.texts(ofClass: "bad").first?.hasPrefix("You are signed in with this key.") ?? false)
      var form = try rotation.form(Self.rotation(key))
      form["overlap"] = "3600"
      try await browser.post(form).check()
      #expect(try await browser.get(Self.list).status == 200)
      let page = try await browser.get(Self.revocation(key))
      try page.check()
      #expect(try page.texts(ofClass: "bad").first?.contains("Your session ends at once") ?? false)
      let answer = try await browser.post(try page.form(Self.revocation(key)))
      #expect(answer.status == 303 && answer["Location"] == "/console/sign-in")
      #expect(browser.cookies.isEmpty)
      #expect(try await Self.key("admin", console).state == .revoked)
    }
  }

  @Test("Only an administrator sees and changes keys, and only with the token of the session")
  func access() async throws {
    try await ConsoleServer.with { console in
      let admin = try await Self.admin(console)
      let browser = try await console.signedIn([.itemsPublish, .mediaWrite, .pushSend])
      let key = try await Self.key("admin", console)
      let pages = [Self.list, Self.new, Self.rotation(key), Self.revocation(key)]
      var forms = [try await admin.get(Self.new).form(Self.list)]
      forms[0]["name"] = "forged"
      forms[0].add("scopes", "admin")
      for target in pages.suffix(2) { forms.append(try await admin.get(target).form(target)) }
      let before = try await console.store.keys().map { "\($0.id) \($0.state) \($0.previousSecretEnd != nil)" }
      let start = try await browser.get("/console/items")
      #expect(try !start.scan.addresses.contains(Self.list))
      for page in pages { #expect(try await browser.get(page).status == 403, "\(page)") }
      let token = try start.form("/console/sign-out")["csrf"]
      for var form in forms {
        #expect(try await admin.post(form, headers: [("Origin", "https://evil.example")]).status == 403)
        for value in [nil, "x", token] {
          form["csrf"] = value
          #expect(try await admin.post(form).status == 403, "\(form.action)")
        }
        #expect(try await browser.post(form).status == 403, "\(form.action)")
      }
      #expect(
        try await console.store.keys().map { "\($0.id) \($0.state) \($0.previousSecretEnd != nil)" } == before)
    }
  }

  @Test("Names and typed texts are shown as they are", arguments: HostileText.all)
  func escaping(text: String) async throws {
    try await ConsoleServer.with { console in
      let browser = try await Self.admin(console)
      var form = try await browser.get(Self.new).form(Self.list)
      form["name"] = text
      form.add("scopes", "items:write")
      let page = try await browser.post(form)
      try page.check()
      #expect(try page.texts(ofClass: "subject") == [text])
      let key = try #require(try await console.store.authenticate(try Self.secret(page)))
      for target in [Self.list, Self.rotation(key), Self.revocation(key)] {
        let page = try await browser.get(target)
        try page.check()
        #expect(try page.scan.tags.contains { $0.text == text }, "\(target)")
      }
      for name in ["scopes", "topics", "expires"] { form[name] = text }
      let refused = try await browser.submit(form)
      #expect(refused.status == 422)
      let again = try refused.form(Self.list)
      #expect(again["name"] == text && again["expires"] == text && again["topics"] == text)
      var rotation = try await browser.get(Self.rotation(key)).form(Self.rotation(key))
      rotation["overlap"] = text
      #expect(try await browser.submit(rotation).scan.tags.count > 9)
    }
  }

  @Test("The pages are in the language of the installation")
  func german() async throws {
    try await ConsoleServer.with(settings: { $0.language = .german }) { console in
      let browser = try await Self.admin(console)
      let key = try await Self.key("admin", console)
      for target in [Self.list, Self.new, Self.rotation(key), Self.revocation(key)] {
        let page = try await browser.get(target)
        try page.check()
        #expect(page.text.contains("Schlüssel"))
      }
      #expect(try await browser.get(Self.list).text.contains("Alles, auch Schlüssel"))
    }
  }
}
