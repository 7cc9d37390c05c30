import Foundation
import HTTPTypes
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The checks that every route of the console has, whichever handler it leads to.
@Suite struct RouteAccessTests {
  @Test("Every form is refused without the token of its own session, and changes nothing")
  func tokens() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let forms = try await newsroom.forms()
      let second = console.browser()
      try await second.signIn(newsroom.secret)
      let other = try await console.signedIn([.admin], name: "other")
      let foreign = [try await FullNewsroom.token(second), try await FullNewsroom.token(other)]
      let paths = newsroom.paths(.post).filter { !FullNewsroom.open.contains($0) }
      #expect(paths.count > 20)
      let before = try await newsroom.contents()
      for path in paths {
        let form = try newsroom.form(path, in: forms)
        let truncated = form["csrf"].map { String($0.dropLast()) }
        for token in [nil, "", "x", truncated] + foreign {
          var forged = form
          forged["csrf"] = token
          let answer = try await newsroom.browser.post(forged, "save", to: try newsroom.target(path))
          #expect(answer.status == 403, "\(path) with \(token ?? "no token")")
        }
      }
      #expect(try await newsroom.contents() == before)
      // With its token, each form reaches its handler.
      for path in paths {
        let browser = console.browser()
        try await browser.signIn(newsroom.secret)
        var form = try newsroom.form(path, in: forms)
        form["csrf"] = try await FullNewsroom.token(browser)
        let answer = try await browser.post(form, "save", to: try newsroom.target(path))
        #expect(answer.status != 403 && answer.status < 500, "\(path): \(answer.status)")
      }
      #expect(try await newsroom.contents() != before)
    }
  }

  @Test(
    "Every form of another site is refused, even with the token, and changes nothing",
    arguments: [
      [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")], [("Origin", "https://evil.example")],
      [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Origin", "null")],
      [("Origin", "")],
    ])
  func origins(headers: [(String, String)]) async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let forms = try await newsroom.forms()
      let link = try await console.store.createSignInLink(forKeyNamed: "desk")
      let before = try await newsroom.contents()
      for path in newsroom.paths(.post) {
        var form = try newsroom.form(path, in: forms)
        if path == "/console/sign-in" { form["key"] = console.server.key }
        if path == "/console/link" { form["code"] = link.code }
        let answer = try await newsroom.browser.post(form, "save", to: try newsroom.target(path), headers: headers)
        #expect(answer.status == 403, "\(path)")
        #expect(answer["Set-Cookie"] == nil, "\(path)")
      }
      #expect(try await newsroom.contents() == before)
    }
  }

  @Test("Without a session, every page leads to the form to sign in, and every form is refused")
  func sessions() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let forms = try await newsroom.forms()
      let before = try await newsroom.contents()
      let visitor = console.browser()
      for path in newsroom.paths(.get) where !FullNewsroom.open.contains(path) {
        let answer = try await visitor.get(try newsroom.target(path))
        #expect(answer.status == 303 && answer.text.isEmpty, "\(path)")
        #expect(answer["Location"]?.hasPrefix("/console/sign-in") == true, "\(path)")
      }
      for path in newsroom.paths(.post) where !FullNewsroom.open.contains(path) {
        let form = try newsroom.form(path, in: forms)
        #expect(try await visitor.post(form, "save", to: try newsroom.target(path)).status == 403, "\(path)")
      }
      #expect(try await newsroom.contents() == before)
    }
  }

  @Test("A key that may only send pushes reaches these, alerts, its own sessions and the live page")
  func rights() async throws {
    let allowed: Set<String> = [
      "/console", "/console/live", FullNewsroom.events, "/console/sessions", "/console/sessions/{id}/end",
      "/console/sign-out", "/console/pushes", "/console/pushes/{id}", "/console/items/{id}/alert",
    ]
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let forms = try await newsroom.forms()
      let browser = try await console.signedIn([.pushSend], name: "push")
      let token = try await FullNewsroom.token(browser)
      let before = try await newsroom.contents()
      for path in newsroom.paths(.get) where !allowed.union(FullNewsroom.open).contains(path) {
        #expect(try await browser.get(try newsroom.target(path)).status == 403, "\(path)")
      }
      for path in newsroom.paths(.post) where !allowed.union(FullNewsroom.open).contains(path) {
        var form = try newsroom.form(path, in: forms)
        form["csrf"] = token
        #expect(try await browser.post(form, "save", to: try newsroom.target(path)).status == 403, "\(path)")
      }
      // The session of another key is not its own.
      var end = try newsroom.form("/console/sessions/{id}/end", in: forms)
      end["csrf"] = token
      #expect(try await browser.post(end).status == 404)
      #expect(try await newsroom.contents() == before)
    }
  }

  @Test("Every page, redirect and error of every route stays out of frames, out of caches and on this site")
  func headers() async throws {
    try await ConsoleServer.with { console in
      let newsroom = try await FullNewsroom(console)
      let visitor = console.browser()
      var answers: [ConsolePage] = []
      for path in newsroom.paths(.get) {
        let target = try newsroom.target(path)
        for browser in [newsroom.browser, visitor] {
          // An event stream has no end.
          answers.append(try await browser.send("HEAD", target, [], nil))
          if path != FullNewsroom.events { answers.append(try await browser.get(target)) }
          answers.append(try await browser.get("\(target)?x=%00"))
        }
      }
      for path in Set(newsroom.paths(.get) + newsroom.paths(.post)) {
        let target = try newsroom.target(path)
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
          answers.append(try await newsroom.browser.send(method, target, [("Origin", visitor.url)], Data("x".utf8)))
        }
      }
      answers.append(try await visitor.get("/console/nothing"))
      var forged = try await newsroom.browser.get("/console/sessions").form("/console/sign-out")
      forged["csrf"] = "x"
      answers.append(try await newsroom.browser.post(forged))
      #expect(Set(answers.map(\.status)).isSuperset(of: [200, 303, 400, 403, 404, 405, 415]))
      for answer in answers {
        let policy = answer["Content-Security-Policy"] ?? ""
        #expect(policy.contains("frame-ancestors 'none'"), "\(answer.status) \(answer.target)")
        #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "\(answer.target)")
        #expect(answer["X-Content-Type-Options"] == "nosniff", "\(answer.status) \(answer.target)")
        #expect(answer["Referrer-Policy"] == "same-origin", "\(answer.status) \(answer.target)")
        #expect(answer["Access-Control-Allow-Origin"] == nil, "\(answer.status) \(answer.target)")
        let isPicture = answer["Content-Type"] == "image/png"
        #expect(
          answer["Cache-Control"] == (isPicture ? "private, no-cache" : "no-store"), "\(answer.status) \(answer.target)"
        )
      }
    }
  }

  @Test("No redirect leads to another host, whatever names the request has for this one")
  func redirects() async throws {
    let names = [
      ("Host", "evil.example"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"),
      ("X-Original-URL", "//evil.example"), ("X-Forwarded-Prefix", "//evil.example"),
    ]
    try await ConsoleServer.with(settings: { $0.publicURL = "https://news.example" }) { console in
      for name in names {
        let visitor = console.browser()
        for target in ["/console", "/console/items", "/console/items?next=//evil.example", "/console/x//evil.example"] {
          let answer = try await visitor.get(target, name)
          guard answer.status == 303 else {
            #expect(answer.status == 404)
            continue
          }
          #expect(answer["Location"]?.hasPrefix("/console/sign-in") == true, "\(name) \(target)")
        }
        var form = try await visitor.get("/console/sign-in").form("/console/sign-in")
        form["key"] = console.server.key
        let answer = try await visitor.post(form, headers: [name, ("Origin", "https://news.example")])
        #expect(answer.status == 303 && answer["Location"] == "/console", "\(name)")
      }
    }
  }

  @Test("A session that somebody has planted in a browser gains no right by the sign-in", arguments: [false, true])
  func plantedSession(isLink: Bool) async throws {
    try await ConsoleServer.with { console in
      let attacker = try await console.signedIn([.pushSend], name: "attacker")
      let planted = try #require(attacker.cookies["tidings_console"])
      let victim = console.browser()
      victim.cookies = attacker.cookies
      if isLink {
        var form = try await victim.get("/console/link").form("/console/link")
        form["code"] = try await console.store.createSignInLink(forKeyNamed: "desk").code
        _ = try await victim.post(form)
      } else {
        try await victim.signIn(console.server.key)
      }
      #expect(try await victim.get("/console/items").status == 200)
      #expect(victim.cookies["tidings_console"] != planted)
      #expect(try await console.store.session(token: planted) == nil)
      #expect(try await attacker.get("/console/items").status == 303)
    }
  }
}
