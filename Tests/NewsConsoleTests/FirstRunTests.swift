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

  /// The commands for the address of a server, as a word of a shell.
  private static func commands(_ url: String) -> String {
    "tidings-fetch --server \(url) --store news fetch\ntidings-fetch --store news snapshot"
  }

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
      #expect(scan.all("code").map(\.text) == ["tidings import FILE", Self.commands("\(url)")])
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

  @Test(
    "The list of items becomes the first page with the first published item, for good, and the last step stays",
    arguments: [false, true])
  func published(isRetracted: Bool) async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let item = try await console.server.publish("Fog lifts.")
      if isRetracted {
        let path = "items/\(item.item.id.uuidString.lowercased())"
        _ = try await console.server.write("DELETE", path, nil, ("If-Match", "*"))
      }
      let start = try await browser.open("/console")
      #expect(start.target == "/console/items")
      #expect(try start.scan.addresses.contains(Self.path))
      let steps = try await browser.get(Self.path)
      try steps.check()
      #expect(try Self.states(steps) == ["Open", "Done", "Open"])
      #expect(try steps.scan.addresses.contains("/console/items"))
      #expect(try steps.scan.all("code").last?.text == Self.commands("\(console.server.url)"))
    }
  }

  @Test("The list of items links to the steps while there are few items, and not from the result of a search")
  func link() async throws {
    try await ConsoleServer.with { console in
      try await console.server.makeTopics(["sport"])
      let browser = try await console.signedIn()
      let restricted = try await console.signedIn([.itemsPublish], topics: ["sport"])
      func isLinked(_ target: String, _ browser: ConsoleBrowser) async throws -> Bool {
        try await browser.get(target).scan.addresses.contains(Self.path)
      }
      for number in 1...3 {
        _ = try await console.server.publish("Number \(number).")
        #expect(try await isLinked("/console/items", browser))
      }
      #expect(try await !isLinked("/console/items?q=Number", browser))
      #expect(try await !isLinked("/console/items", restricted))
      _ = try await console.server.publish("Number 4.")
      #expect(try await !isLinked("/console/items", browser))
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
        try page.scan.all("code").last?.text == Self.commands(#"'https://news.example/it'\''s'"#))
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
      #expect(try page.scan.all("code").last?.text == Self.commands("http://127.0.0.1:8080"))
    }
  }

  @Test("Without pages for readers, there is no link to them on any page")
  func withoutReaderPages() async throws {
    try await ConsoleServer.with(settings: { $0.servesReaderPages = false }) { console in
      let browser = try await console.signedIn()
      for target in [Self.path, "/console/items"] {
        #expect(try await !browser.get(target).scan.addresses.contains("/"))
      }
    }
  }
}
