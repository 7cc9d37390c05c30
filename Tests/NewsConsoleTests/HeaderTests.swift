import Foundation
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite struct HeaderTests {
  private static func check(_ page: ConsolePage) {
    #expect(page["Cache-Control"] == "no-store", "\(page.target)")
    #expect(page["X-Content-Type-Options"] == "nosniff", "\(page.target)")
    #expect(page["Referrer-Policy"] == "same-origin", "\(page.target)")
    #expect(page["Cross-Origin-Opener-Policy"] == "same-origin", "\(page.target)")
    let policy = (page["Content-Security-Policy"] ?? "").split(separator: "; ").map(String.init)
    for rule in [
      "default-src 'none'", "style-src 'self'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'",
      "base-uri 'none'",
    ] { #expect(policy.contains(rule), "\(page.target)") }
    #expect(policy.allSatisfy { !$0.contains("unsafe") && !$0.contains("*") && !$0.contains("data:") })
    #expect(page["X-Request-Id"] != nil, "\(page.target)")
  }

  @Test("Every page, redirect and error has the fields that keep it to this site, and out of caches")
  func fields() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "published", "text": "Fog lifts.""#)
      let path = ConsoleServer.path(item)
      let visitor = console.browser()
      for target in ["/console", "/console/items", "/console/sign-in", "/console/link", "/console/nothing"] {
        Self.check(try await visitor.get(target))
      }
      let browser = try await console.signedIn()
      for (target, status) in [
        ("/console", 303), ("/console/items", 200), ("/console/items/new", 200), (path, 200), ("\(path)/history", 200),
        ("\(path)/preview", 200), ("\(path)/retract", 200), ("\(path)/erase", 200), ("/console/files", 200),
        ("/console/sessions", 200), ("/console/nothing", 404), ("/console/items/", 404), ("/console/items/x", 404),
        ("/console/items?state=x", 400), ("/console/sign-out", 405), ("/console/assets/x.css", 404),
        ("/console/files/\(UUID())", 404),
      ] {
        let page = try await browser.get(target)
        #expect(page.status == status, "\(target)")
        Self.check(page)
        if status == 405 { #expect(page["Allow"] == "POST") }
      }
      var form = try await browser.get(path).editor
      form["csrf"] = "x"
      Self.check(try await browser.post(form, "save"))
      Self.check(try await browser.signIn("x"))
      let unread = try await browser.send("POST", path, [("Content-Type", "application/json")], Data("{}".utf8))
      #expect(unread.status == 415)
      Self.check(unread)
    }
  }

  @Test("Errors are pages of the console, with a way back and without technical words")
  func errorPages() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      for target in ["/console/nothing", "/console/items/x", "/console/items?state=x", "/console/sign-out"] {
        let page = try await browser.get(target)
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(try page.scan.addresses.contains("/console"))
        #expect(!page.text.contains("/problems/"))
      }
      #expect(try await browser.get("/consoles")["Content-Type"] == "application/problem+json")
    }
  }

  @Test("The page of an error has the navigation of the session, unless another site has sent the form")
  func navigation() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      let form = try await browser.get("\(ConsoleServer.path(item))/retract").form("/retract")
      var other = form
      other["csrf"] = "other"
      let unknown = "/console/items/\(UUID().uuidString.lowercased())"
      let pages = [
        (403, try await browser.get("/console/keys")), (404, try await browser.get(unknown)),
        (400, try await browser.get("/console/items?state=x")), (403, try await browser.post(other)),
        (404, try await browser.post(form, to: "\(unknown)/retract")),
        (415, try await browser.post(form, to: "/console/items")),
      ]
      for (status, page) in pages {
        try page.check(status: status)
        #expect(try page.scan.addresses.contains("/console/files"), "\(status) \(page.target)")
        #expect(page.text.contains("action=\"/console/sign-out\""), "\(status) \(page.target)")
      }
      let foreign = try await browser.post(form, headers: [("Origin", "https://elsewhere.example")])
      #expect(foreign.status == 403)
      #expect(!foreign.text.contains("action=\"/console/sign-out\""))
    }
  }

  @Test("HEAD has the fields of GET and no body")
  func head() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      for target in ["/console/items", "/console/nothing", "/console/sign-in"] {
        let page = try await browser.send("HEAD", target, [], nil)
        #expect(page.text.isEmpty)
        Self.check(page)
      }
    }
  }

  @Test("Pages are accessible, and load only files that browsers keep")
  func pagesAndFiles() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour"])
      let item = try await console.item(#""state": "published", "text": "Fog lifts.", "topics": ["harbour"]"#)
      let path = ConsoleServer.path(item)
      let browser = try await console.signedIn()
      var files: Set<String> = []
      for target in [
        "/console/items", "/console/items/new", path, "\(path)/history", "\(path)/retract", "\(path)/erase",
        "/console/files", "/console/sessions", "/console/sign-in", "/console/link", "/console/nothing",
      ] {
        let scan = try await browser.get(target).scan
        #expect(scan.accessibilityProblems == [], "\(target)")
        let labels = Set(scan.all("label").compactMap { $0["for"] })
        for control in scan.tags where ["input", "textarea", "select"].contains(control.name) {
          let isLabelled = control["type"] == "hidden" || labels.contains(control["id"] ?? "")
          #expect(isLabelled, "\(control["name"] ?? "") of \(target)")
        }
        files.formUnion(scan.links("stylesheet") + scan.links("icon") + scan.all("script").compactMap { $0["src"] })
      }
      #expect(files.count == 3)
      var total = 0
      for file in files {
        let answer = try await console.browser().get(file)
        #expect(answer.status == 200)
        #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        total += answer.text.utf8.count
      }
      #expect(total < 40_000)
      let other = try #require(files.first { $0.hasSuffix(".css") }).replacing(
        /-[0-9a-f]{16}/, with: "-0123456789abcdef")
      #expect(try await console.browser().get(other)["Cache-Control"] == "no-store")
    }
  }

  @Test("The routes of the console are counted by their patterns")
  func metrics() async throws {
    try await ConsoleServer.with { console in
      let item = try await console.item(#""state": "draft", "text": "Fog lifts.""#)
      let browser = try await console.signedIn()
      _ = try await browser.get(ConsoleServer.path(item))
      _ = try await browser.get("/console/items?q=secret")
      let metrics = try await console.server.get("/metrics").text
      #expect(metrics.contains(#"route="/console/items/{id}""#))
      #expect(metrics.contains(#"route="/console/items""#))
      #expect(!metrics.contains("secret") && !metrics.contains(item.item.id.uuidString.lowercased()))
    }
  }
}
