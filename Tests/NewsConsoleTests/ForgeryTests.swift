import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

/// Requests that other sites make a browser send.
@Suite struct ForgeryTests {
  /// The forms that change something, each on the page that has it.
  private static let forms = [
    ("/console/items/new", "/console/items"), ("/console/items/{id}", "/console/items/{id}"),
    ("/console/items/{id}/retract", "/console/items/{id}/retract"),
    ("/console/items/{id}/erase", "/console/items/{id}/erase"), ("/console/files", "/console/files"),
    ("/console/items", "/console/sign-out"), ("/console/sessions", "/console/sessions/{session}/end"),
  ]

  private static func filled(_ path: String, _ item: EditorialItem, _ session: UUID) -> String {
    path.replacing("{id}", with: item.item.id.uuidString.lowercased())
      .replacing("{session}", with: session.uuidString.lowercased())
  }

  /// The facts that no refused form may change.
  private static func facts(_ console: ConsoleServer) async throws -> [String] {
    let items = try await console.store.editorialItems(EditorialQuery())
    let files = try await console.store.editorialMedia(MediaQuery()).files
    return items.items.map { "\($0.item.id) \($0.revision) \($0.state)" }
      + files.map { "\($0.media.id)" } + (try await console.store.sessions().map { "\($0.id)" }).sorted()
  }

  @Test("A form without the token of its session changes nothing", arguments: forms)
  func tokens(page: String, action: String) async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""text": "Fog lifts.", "state": "published""#)
      let browser = try await console.signedIn()
      let other = try await console.signedIn(name: "other")
      let token = try #require(browser.cookies["tidings_console"])
      let session = try #require(try await console.store.session(token: token)).id
      let form = try await browser.get(Self.filled(page, item, session)).form(Self.filled(action, item, session))
      let foreign = try await other.get("/console/items").form("/console/sign-out")["csrf"]
      let before = try await Self.facts(console)
      for value in [nil, "", "x", foreign, form["csrf"].map { String($0.dropLast()) }] {
        var forged = form
        forged["csrf"] = value
        let answer = try await browser.post(forged, "publish")
        #expect(answer.status == 403, "\(value ?? "none")")
      }
      #expect(try await Self.facts(console) == before)
      #expect(try await browser.get("/console/items").status == 200)
    }
  }

  @Test(
    "A form of another site is refused, even with the token", .sharedConsole,
    arguments: [
      [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")],
      [("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
      [("Origin", "null")], [("Origin", "null"), ("Sec-Fetch-Site", "same-origin")],
      [("Origin", "https://127.0.0.1")], [("Origin", "http://127.0.0.1:1")],
    ])
  func origins(headers: [(String, String)]) async throws {
    try await ConsoleServer.withShared { console in
      let browser = try await console.signedIn()
      let form = try await browser.get("/console/items/new").form("/console/items")
      let before = try await Self.facts(console)
      let answer = try await browser.post(form, "save", headers: headers)
      #expect(answer.status == 403)
      #expect(try await Self.facts(console) == before)
      let signIn = try await browser.get("/console/sign-in").form("/console/sign-in")
      #expect(try await browser.post(signIn, headers: headers).status == 403)
    }
  }

  @Test(
    "A form of the same site is accepted, and one without any statement by its token",
    arguments: [[], ["Origin"], ["Sec-Fetch-Site"], ["Origin", "Sec-Fetch-Site"]])
  func ownForms(names: [String]) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").form("/console/items")
      form["text"] = "Fog lifts."
      let values = ["Origin": browser.url, "Sec-Fetch-Site": "same-origin"]
      let answer = try await browser.post(form, "save", headers: names.map { ($0, values[$0] ?? "") })
      #expect(answer.status == 303)
    }
  }

  @Test("With a public URL, its origin is the only one")
  func publicOrigin() async throws {
    try await ConsoleServer.with(settings: { $0.publicURL = "https://News.example:443/news" }) { console in
      let browser = console.browser()
      var form = try await browser.get("/console/sign-in").form("/console/sign-in")
      #expect(form.action == "/news/console/sign-in")
      form["key"] = console.server.key
      for origin in [browser.url, "https://news.example:8443", "http://news.example", "https://news.example.evil"] {
        let answer = try await browser.post(form, to: "/console/sign-in", headers: [("Origin", origin)])
        #expect(answer.status == 403, "\(origin)")
      }
      let answer = try await browser.post(form, to: "/console/sign-in", headers: [("Origin", "https://news.example")])
      #expect(answer.status == 303 && answer["Location"] == "/news/console")
    }
  }

  @Test("Reading pages changes nothing")
  func reads() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""text": "Fog lifts.", "state": "published""#)
      let browser = try await console.signedIn()
      let before = try await Self.facts(console)
      let path = ConsoleServer.path(item)
      for target in [
        "/console", "/console/items", "/console/items/new", path, "\(path)/preview", "\(path)/history",
        "\(path)/retract", "\(path)/erase", "\(path)/history/1/restore", "/console/files", "/console/sessions",
        "/console/sign-out", "/console/link", "/console/sign-in", "/console/items/preview",
      ] {
        _ = try await browser.get(target)
        #expect(try await Self.facts(console) == before, "\(target)")
      }
    }
  }

  @Test("A form of a session that has ended is refused with a page that says how to go on")
  func endedSession() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      var form = try await browser.get("/console/items/new").form("/console/items")
      form["text"] = "Fog lifts."
      _ = try await console.store.endSessions(ofKeyNamed: "mara")
      let answer = try await browser.post(form, "save")
      #expect(answer.status == 403)
      #expect(answer.text.contains("Sign in in another tab"))
      #expect(try await console.store.editorialItems(EditorialQuery()).items.isEmpty)
    }
  }
}
