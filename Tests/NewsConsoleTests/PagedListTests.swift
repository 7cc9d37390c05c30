import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct PagedListTests {
  private static let subscriptions = "/console/subscriptions"

  /// The titles of the rows, in order.
  private static func titles(_ page: ConsolePage) throws -> [String] {
    let tags = try page.scan.tags
    return tags.indices.filter { tags[$0]["class"] == "title" }
      .map { (tags[$0].text + tags[$0 + 1].text).trimmingCharacters(in: .whitespaces) }
  }

  /// Reads a list page by page, and returns the titles of each page.
  ///
  /// - Parameter parameter: A parameter that all further pages have.
  private static func pages(
    _ target: String, _ browser: ConsoleBrowser, keeping parameter: String = "page="
  ) async throws -> [[String]] {
    var page = try await browser.get(target)
    try page.check()
    var found = [try titles(page)]
    while let next = try page.scan.all("a").first(where: { $0["rel"] == "next" })?["href"], found.count < 100 {
      #expect(next.contains(parameter))
      page = try await browser.get(next)
      try page.check()
      #expect(try page.scan.addresses.contains(target))
      found.append(try titles(page))
    }
    return found
  }

  /// Makes feeds A10 to A49, of which A13, A26 and A39 fail, and each tenth is paused, A20 after an error.
  private static func follow(_ console: ConsoleServer) async throws {
    _ = try await console.server.sql.query(
      """
      INSERT INTO subscriptions (id, url, title, state, paused, error_at, error_message, failures)
      SELECT gen_random_uuid(), 'https://feeds.example/' || n, 'Ä' || n || '%', 'draft', n % 10 = 0,
        CASE WHEN n % 13 = 0 OR n = 20 THEN now() END, CASE WHEN n % 13 = 0 OR n = 20 THEN 'no answer' END, 0
      FROM generate_series(10, 49) AS n
      """)
  }

  @Test("Each subscription is on one page, those that fail on the first")
  func subscriptions() async throws {
    try await ConsoleServer.with { console in
      try await Self.follow(console)
      let browser = try await console.signedIn([.admin])
      let pages = try await Self.pages(Self.subscriptions, browser)
      #expect(pages.map(\.count) == [10, 10, 10, 10])
      let others = (10...49).filter { $0 % 13 != 0 }
      #expect(pages.flatMap(\.self) == ([13, 26, 39] + others).map { "Ä\($0)%" })
      let first = try await browser.get(Self.subscriptions)
      #expect(try Array(first.texts(ofClass: "count").prefix(3)) == ["40", "3", "4"])
      #expect(try Self.titles(try await browser.get("\(Self.subscriptions)?page=5")).isEmpty)
    }
  }

  private static let filters: [(String, [Int])] = [
    ("health=failing", [13, 26, 39]), ("health=paused", [10, 20, 30, 40]), ("q=example%2F4", Array(40...49)),
    ("q=4%25", [14, 24, 34, 44]), ("health=failing&q=1", [13]), ("q=FEEDS.example%2F26", [26]), ("q=_", []),
    ("health=&q=&page=", [13, 26, 39] + [10, 11, 12, 14, 15, 16, 17]),
  ]

  @Test("Subscriptions are filtered by their health, and searched by title and address")
  func filters() async throws {
    try await ConsoleServer.with { console in
      try await Self.follow(console)
      let browser = try await console.signedIn([.admin])
      for (query, numbers) in Self.filters {
        let page = try await browser.get("\(Self.subscriptions)?\(query)")
        try page.check()
        #expect(try Self.titles(page) == numbers.map { "Ä\($0)%" }, "\(query)")
        let states = try page.scan.all("span").compactMap { $0["class"] }.filter { $0.hasPrefix("state ") }
        #expect(states == numbers.map { "state \($0 % 10 == 0 ? "paused" : $0 % 13 == 0 ? "failing" : "working")" })
      }
    }
  }

  @Test("The tabs keep a search, its end keeps the tab, and one without a hit can be changed")
  func links() async throws {
    try await ConsoleServer.with { console in
      try await Self.follow(console)
      let browser = try await console.signedIn([.admin])
      let page = try await browser.get("\(Self.subscriptions)?health=failing&q=3%25")
      let addresses = try page.scan.addresses
      for query in ["?q=3%25", "?health=failing&q=3%25", "?health=paused&q=3%25", "?health=failing"] {
        #expect(addresses.contains(Self.subscriptions + query), "\(query)")
      }
      let current = try page.scan.all("a").filter { $0["aria-current"] == "page" }.compactMap { $0["href"] }
      #expect(current.filter { $0.contains("?") } == ["\(Self.subscriptions)?health=failing&q=3%25"])
      let hidden = try page.scan.all("input").first { $0["name"] == "health" }
      #expect(hidden?["value"] == "failing", "a further search stays in the tab")
      let none = try await browser.get("\(Self.subscriptions)?q=_")
      let field = try none.scan.all("input").first { $0["name"] == "q" }
      #expect(field?["value"] == "_")
    }
  }

  @Test("Pages keep the filter, and a button of a page leads back to it")
  func returns() async throws {
    try await ConsoleServer.with { console in
      try await Self.follow(console)
      let browser = try await console.signedIn([.admin])
      let query = "\(Self.subscriptions)?q=example"
      #expect(try await Self.pages(query, browser, keeping: "q=example&").flatMap(\.self).count == 40)
      let page = try await browser.get("\(query)&page=4")
      let poll = try #require(try page.forms.first { $0.target.hasSuffix("/poll") }).form
      let shown = try await browser.submit(poll)
      try shown.check()
      #expect(try Self.titles(shown) == Self.titles(page))
      #expect(try shown.texts(ofClass: "good").first?.hasPrefix("The feed will be read") ?? false)
      var form = try #require(try shown.forms.first { $0.target.hasSuffix("/pause") && $0.form["paused"] == "true" })
        .form
      let paused = try await browser.post(form)["Location"]
      #expect(paused == "\(query)&page=4&done=subscription-paused")
      let second = try await browser.get("\(Self.subscriptions)?page=2")
      let other = try #require(try second.forms.first { $0.target.hasSuffix("/poll") }).form
      #expect(try await browser.post(other)["Location"]?.hasPrefix("\(Self.subscriptions)?page=2&done=") == true)
      for view in ["page=0", "//example.org", "done=saved", "q=\r\nx"] {
        form["view"] = view
        let location = try #require(try await browser.post(form)["Location"])
        #expect(location.hasPrefix(Self.subscriptions) && !location.contains("example.org"), "\(view)")
      }
    }
  }

  @Test(
    "An invalid page or filter is refused with a page", .sharedConsole,
    arguments: [
      "subscriptions?page=0", "subscriptions?page=-1", "subscriptions?page=100001", "subscriptions?health=working",
      "subscriptions?q=%FF", "subscriptions?q=" + String(repeating: "x", count: 257), "subscriptions?done=x",
      "keys?page=x", "sessions?page=0", "topics?page=1.5", "keys?q=x",
    ])
  func invalid(target: String) async throws {
    try await ConsoleServer.withShared { console in
      let page = try await console.signedIn([.admin]).get("/console/\(target)")
      try page.check(status: 400)
    }
  }

  @Test("Each key is on one page, those that work first")
  func keys() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.sql.query(
        """
        INSERT INTO api_keys (id, name, scopes, digest, revoked_at)
        SELECT 'key' || n, 'Key ' || n, '{items:write}', sha256(n::text::bytea), CASE WHEN n % 3 = 0 THEN now() END
        FROM generate_series(1, 60) AS n
        """)
      let pages = try await Self.pages("/console/keys", try await console.signedIn([.admin], name: "admin"))
      let keys = pages.flatMap(\.self)
      // The API's own tests have a key besides.
      #expect(pages.dropLast().allSatisfy { $0.count == 20 } && pages.count == 4)
      #expect(Set(keys).count == keys.count && Set((1...60).map { "Key \($0)" }).isSubset(of: keys))
      #expect(keys.suffix(20).allSatisfy { (Int($0.dropFirst(4)) ?? 1) % 3 == 0 })
    }
  }

  @Test("An administrator sees all sessions page by page, and others those of their key")
  func sessions() async throws {
    try await ConsoleServer.with { console in
      let admin = try await console.signedIn([.admin], name: "admin")
      let mara = try await console.signedIn(name: "mara")
      _ = try await console.server.sql.query(
        """
        INSERT INTO console_sessions (digest, key, key_digest)
        SELECT sha256((k.id || n)::bytea), k.id, k.digest
        FROM api_keys AS k, generate_series(1, CASE k.name WHEN 'admin' THEN 29 ELSE 30 END) AS n
        WHERE k.name IN ('admin', 'mara')
        """)
      #expect(try await Self.pages("/console/sessions", admin).map(\.count) == [25, 25, 11])
      let own = try await Self.pages("/console/sessions", mara)
      #expect(own.map(\.count) == [25, 6])
      #expect(own.flatMap(\.self).allSatisfy { $0.hasPrefix("mara") })
    }
  }

  @Test("Each topic is on one page, with four titles at most")
  func topics() async throws {
    try await ConsoleServer.with { console in
      _ = try await console.server.sql.query(
        """
        WITH slugs AS (
          INSERT INTO scopes (scope) SELECT 'topic-' || n FROM generate_series(100, 159) AS n
          RETURNING scope
        )
        INSERT INTO topics (slug, titles, position)
        SELECT scope, '{"de": "a", "en": "b", "fr": "c", "it": "d", "nl": "e"}', 0 FROM slugs
        """)
      let browser = try await console.signedIn(topics: ["topic-130"])
      let pages = try await Self.pages("/console/topics", browser)
      #expect(pages.map(\.count) == [100, 100, 40])
      let third = try await browser.get("/console/topics?page=3")
      #expect(try third.texts(ofClass: "slug") == (150...159).map { "topic-\($0)" })
      let second = try await browser.get("/console/topics?page=2")
      #expect(try second.scan.addresses.filter { $0.contains("topic=") }.count == 1)
    }
  }
}
