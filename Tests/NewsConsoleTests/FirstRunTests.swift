import Foundation
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct FirstRunTests {
  private static let path = "/console/first-run"

  private static func states(_ page: ConsolePage) throws -> [String] {
    try page.scan.tags.filter { $0["class"]?.hasPrefix("state") ?? false }.map(\.text)
  }

  @Test("The first page of an empty newsroom has three steps")
  func empty() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn([.admin])
      #expect(try await browser.get("/console")["Location"] == Self.path)
      let page = try await browser.open("/console")
      #expect(page.status == 200 && page.target == Self.path)
      let scan = try page.scan
      #expect(scan.accessibilityProblems == [])
      #expect(scan.all("h2").count == 3)
      #expect(try Self.states(page) == ["Open", "Open", "Once something is published"])
      for link in ["/console/subscriptions/new", "/console/items/new", "/"] { #expect(scan.addresses.contains(link)) }
      let url = console.server.url
      #expect(
        scan.all("code").map(\.text) == ["tidings import FILE", "tidings-fetch --server \(url) --store news fetch"])
    }
  }

  @Test("Someone who signs in to an empty newsroom gets the steps")
  func afterSignIn() async throws {
    try await ConsoleServer.with { console in
      let key = try await console.store.createKey(name: "mara", permissions: [.itemsWrite])
      let browser = console.browser()
      let answer = try await browser.signIn(key)
      #expect(try await browser.open(answer["Location"] ?? "").target == Self.path)
      #expect(try await console.browser().get("/console")["Location"]?.hasPrefix("/console/sign-in") == true)
    }
  }

  @Test("Only an administrator can subscribe, so others get no link to it")
  func rights() async throws {
    try await ConsoleServer.with { console in
      let page = try await console.signedIn([.itemsWrite]).open("/console")
      #expect(page.target == Self.path)
      #expect(try !page.scan.addresses.contains("/console/subscriptions/new"))
      let photographer = try await console.signedIn([.mediaWrite])
      #expect(try await photographer.get("/console")["Location"] == "/console/files")
      #expect(try await photographer.get(Self.path).status == 403)
    }
  }

  @Test("A source and a draft are steps that have been taken")
  func progress() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["harbour", "sport"])
      let browser = try await console.signedIn()
      _ = try await console.item(#""state": "draft", "text": "Fog lifts.", "topics": ["harbour"]"#)
      let begun = try await browser.open("/console")
      #expect(try Self.states(begun) == ["Open", "Begun", "Once something is published"])
      #expect(try begun.scan.addresses.contains("/console/items"))
      // A draft of topics that a key has no access to is not its own.
      let other = try await console.signedIn([.itemsWrite], topics: ["sport"])
      #expect(try Self.states(await other.open("/console"))[1] == "Open")
      _ = try await console.server.sql.query("UPDATE items SET source = 'https://example.org/feed', source_guid = 'a'")
      #expect(try Self.states(await browser.open("/console"))[0] == "Done")
    }
  }

  @Test("The steps give way to the list of items with the first published item, for good", arguments: [false, true])
  func published(isRetracted: Bool) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let item = try await console.server.publish("Fog lifts.")
      if isRetracted {
        let path = "items/\(item.item.id.uuidString.lowercased())"
        _ = try await console.server.write("DELETE", path, nil, ("If-Match", "*"))
      }
      for target in ["/console", Self.path] {
        #expect(try await browser.get(target)["Location"] == "/console/items")
      }
    }
  }

  @Test("The command has the public address, and is one word for a shell")
  func address() async throws {
    let proxied = [("X-Forwarded-Proto", "https")]
    try await ConsoleServer.with(settings: { $0.publicURL = "https://news.example/it's" }) { console in
      let key = try await console.store.createKey(name: "mara", permissions: [.itemsWrite])
      let opened = try #require(try await console.store.openSession(key: key))
      let browser = console.browser(proxied)
      browser.cookies = ["__Host-tidings": opened.token]
      let page = try await browser.get(Self.path)
      #expect(
        try page.scan.all("code").last?.text
          == #"tidings-fetch --server 'https://news.example/it'\''s' --store news fetch"#)
    }
    #expect(ShellWord.quoted("http://127.0.0.1:8080") == "http://127.0.0.1:8080")
    #expect(ShellWord.quoted("http://[::1]:8080") == "'http://[::1]:8080'")
    #expect(ShellWord.quoted("a;b$(c)") == "'a;b$(c)'")
  }

  @Test(
    "A host that is none does not get into the command",
    arguments: ["a.example$(x)", "a b", "x;rm", "127.0.0.1:8080`y`", "<b>"])
  func hosts(host: String) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let page = try await browser.get(Self.path, ("Host", host))
      guard page.status == 200 else {
        #expect(page.status == 400)
        return
      }
      #expect(
        try page.scan.all("code").last?.text == "tidings-fetch --server http://127.0.0.1:8080 --store news fetch")
    }
  }

  @Test("Without pages for readers, there is no link to them")
  func withoutReaderPages() async throws {
    try await ConsoleServer.with(settings: { $0.servesReaderPages = false }) { console in
      let page = try await console.signedIn().get(Self.path)
      #expect(try page.scan.all("a").allSatisfy { $0["class"] != "button" || $0["href"] != "/" })
    }
  }
}
