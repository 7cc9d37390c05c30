import Foundation
import HTTPEdge
import NetworkAddresses
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct SignInTests {
  private static let publicURL = "https://news.example"

  @Test("A valid key opens a session, and only then pages are shown")
  func signInWithKey() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let browser = console.browser()
      let before = try await browser.get("/console/items")
      #expect(before.status == 303 && before["Location"] == "/console/sign-in")
      let answer = try await browser.signIn(console.server.key)
      #expect(answer.status == 303 && answer["Location"] == "/console")
      let page = try await browser.open("/console")
      #expect(page.status == 200 && page.target == "/console/items")
      #expect(try page.texts(ofClass: "key") == ["desk"])
    }
  }

  @Test("Anything but a valid key is refused, and no cookie is set", arguments: ["", "tdk_a_b", "\u{e4}", "x y"])
  func refusedKeys(key: String) async throws {
    try await ConsoleServer.with { console in
      let browser = console.browser()
      let answer = try await browser.signIn(key)
      #expect(answer.status == 403)
      #expect(try answer.texts(ofClass: "error").count == 1)
      #expect(browser.cookies.isEmpty)
      #expect(key.isEmpty || !answer.text.contains(key))
    }
  }

  @Test("A revoked key is refused, and its open sessions end")
  func revokedKey() async throws {
    try await ConsoleServer.with { console in
      let key = try await console.store.createKey(name: "gone", permissions: [.itemsWrite])
      let browser = console.browser()
      try await browser.signIn(key)
      #expect(try await browser.get("/console/items").status == 200)
      try await console.store.revokeKey(try await console.store.key("gone").id)
      #expect(try await browser.get("/console/items").status == 303)
      #expect(try await console.browser().signIn(key).status == 403)
    }
  }

  @Test("A link signs in once, by its button only")
  func link() async throws {
    try await ConsoleServer.with { console in
      let link = try await console.store.createSignInLink(forKeyNamed: "desk")
      let browser = console.browser()
      var form = try await browser.get("/console/link").form("/console/link")
      #expect(browser.cookies.isEmpty)
      form["code"] = link.code
      let answer = try await browser.post(form)
      #expect(answer.status == 303 && answer["Location"] == "/console")
      #expect(try await browser.get("/console/items").status == 200)
      let other = console.browser()
      let again = try await other.post(form)
      #expect(again.status == 403)
      #expect(try again.texts(ofClass: "error").count == 1)
      #expect(other.cookies.isEmpty)
    }
  }

  @Test("A link that has expired does not sign in")
  func expiredLink() async throws {
    try await ConsoleServer.with { console in
      let link = try await console.store.createSignInLink(forKeyNamed: "desk")
      _ = try await console.server.sql.query(
        "UPDATE console_links SET created_at = created_at - interval '11 minutes'")
      let browser = console.browser()
      var form = try await browser.get("/console/link").form("/console/link")
      form["code"] = link.code
      #expect(try await browser.post(form).status == 403)
      #expect(browser.cookies.isEmpty)
    }
  }

  @Test("Each sign-in makes a new token, and ends the session that the browser had")
  func noFixation() async throws {
    try await ConsoleServer.with { console in
      let browser = console.browser()
      browser.cookies = ["tidings_console": String(repeating: "A", count: 43)]
      try await browser.signIn(console.server.key)
      let first = try #require(browser.cookies["tidings_console"])
      #expect(first != String(repeating: "A", count: 43))
      try await browser.signIn(console.server.key)
      let second = try #require(browser.cookies["tidings_console"])
      #expect(second != first)
      #expect(try await console.store.session(token: first) == nil)
      #expect(try await console.store.session(token: second) != nil)
    }
  }

  @Test("The cookie of a server with https is for this host and secure connections only")
  func secureCookie() async throws {
    try await ConsoleServer.with(settings: { $0.publicURL = Self.publicURL }) { console in
      let browser = console.browser()
      var form = try await browser.get("/console/sign-in").form("/console/sign-in")
      form["key"] = console.server.key
      let answer = try await browser.post(form, headers: [("Origin", Self.publicURL)])
      let cookie = try #require(answer["Set-Cookie"])
      let parts = cookie.split(separator: "; ").map(String.init)
      #expect(parts[0].hasPrefix("__Host-tidings="))
      #expect(Set(parts.dropFirst()) == ["Secure", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"])
      #expect(try await browser.get("/console/items").status == 200)
    }
  }

  @Test("The cookie over plain HTTP has the same attributes besides Secure")
  func plainCookie() async throws {
    try await ConsoleServer.with { console in
      let cookie = try #require(try await console.browser().signIn(console.server.key)["Set-Cookie"])
      let parts = cookie.split(separator: "; ").map(String.init)
      #expect(parts[0].hasPrefix("tidings_console="))
      #expect(Set(parts.dropFirst()) == ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"])
    }
  }

  @Test("Two cookies with the name are refused: one is not from this server")
  func twoCookies() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      #expect(try await browser.get("/console/items").status == 200)
      let cookie = "tidings_console=\(try #require(browser.cookies["tidings_console"]))"
      #expect(try await console.browser().get("/console/items", ("Cookie", "a=b; \(cookie)")).status == 200)
      for cookies in ["\(cookie); tidings_console=other", "tidings_console=other; \(cookie)", "\(cookie); \(cookie)"] {
        let answer = try await console.browser().get("/console/items", ("Cookie", cookies))
        #expect(answer.status == 303)
      }
    }
  }

  @Test("Without https, other machines get an explanation", arguments: [true, false])
  func otherMachines(isTrusted: Bool) async throws {
    let proxies = isTrusted ? [try #require(IPNetwork("127.0.0.1"))] : []
    try await ConsoleServer.with(settings: { $0.trustedProxies = TrustedProxies(proxies) }) { console in
      let browser = console.browser([("X-Forwarded-For", "203.0.113.7")])
      for target in ["/console/sign-in", "/console/items"] {
        let page = try await browser.get(target)
        #expect(page.status == 403 && page.text.contains("TIDINGS_PUBLIC_URL"))
      }
      #expect(try await console.browser().get("/console/sign-in").status == 200)
      let local = try await console.browser([("X-Forwarded-For", "127.0.0.1")]).get("/console/sign-in")
      #expect(local.status == (isTrusted ? 200 : 403))
    }
  }

  @Test("With https, clients of all addresses may sign in")
  func httpsFromAnywhere() async throws {
    let proxy = try #require(IPNetwork("127.0.0.1"))
    try await ConsoleServer.with(settings: {
      $0.publicURL = Self.publicURL
      $0.trustedProxies = TrustedProxies([proxy])
    }) { console in
      let page = try await console.browser([("X-Forwarded-For", "203.0.113.7")]).get("/console/sign-in")
      #expect(page.status == 200)
    }
  }

  @Test("The page that was asked for is opened after signing in")
  func nextPage() async throws {
    try await ConsoleServer.with { console in
      let browser = console.browser()
      let target = "/console/items?state=draft&q=fog"
      let first = try await browser.open(target)
      var form = try first.form("/console/sign-in")
      form["key"] = console.server.key
      #expect(try await browser.post(form)["Location"] == target)
    }
  }

  @Test(
    "Signing in leads nowhere else than to the console", .sharedConsole,
    arguments: [
      "https://evil.example/", "//evil.example/console/", "/\\evil.example", "/console//evil.example",
      "/console/../v1/items", "/console/./x", "/console/%2e%2e/x", "/console/x\\y", "/console/x\r\nSet-Cookie: a=b",
      "/console/x#y", "/consoles/x", "console/items", "javascript:alert(1)", "/", "", "/console/ x", "/console/\u{e4}",
      "@evil.example/console/", "/console/x\u{0}",
    ])
  func openRedirects(target: String) async throws {
    try await ConsoleServer.withShared { console in
      let browser = console.browser()
      var form = try await browser.get("/console/sign-in").form("/console/sign-in")
      form["key"] = console.server.key
      form["next"] = target
      let answer = try await browser.post(form)
      #expect(answer.status == 303 && answer["Location"] == "/console")
      #expect(answer.headers.filter { $0.name.lowercased() == "set-cookie" }.count == 1)
    }
  }

  @Test("Signing out ends the session and removes the cookie")
  func signOut() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let token = try #require(browser.cookies["tidings_console"])
      let answer = try await browser.post(try await browser.get("/console/items").form("/console/sign-out"))
      #expect(answer.status == 303 && answer["Location"] == "/console/sign-in")
      #expect(browser.cookies.isEmpty)
      #expect(try await console.store.session(token: token) == nil)
    }
  }

  @Test("Attempts are limited for each address, and for all addresses of an IPv6 subscriber")
  func limitedAttempts() async throws {
    #expect(NewsConsole.Settings().signInsPerMinute == 10)
    let proxy = try #require(IPNetwork("127.0.0.1"))
    try await ConsoleServer.with(
      signIns: 1,
      settings: {
        $0.publicURL = Self.publicURL
        $0.trustedProxies = TrustedProxies([proxy])
      }
    ) { console in
      func attempt(from address: String) async throws -> ConsolePage {
        let browser = console.browser([("X-Forwarded-For", address)])
        var form = try await browser.get("/console/sign-in").form("/console/sign-in")
        form["key"] = "tdk_a_b"
        return try await browser.post(form, headers: [("Origin", Self.publicURL)])
      }
      var last = try await attempt(from: "2001:db8::1")
      #expect(last.status == 403)
      for number in 2..<12 where last.status == 403 { last = try await attempt(from: "2001:db8::\(number)") }
      #expect(last.status == 429)
      #expect(try #require(last["Retry-After"].flatMap { Int($0) }) >= 1)
      #expect(try last.scan.all("h1").count == 1)
      #expect(try await attempt(from: "2001:db8:0:1::1").status == 403)
    }
  }
}
