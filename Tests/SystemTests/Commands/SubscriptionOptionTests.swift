import FaultServer
import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The options of `tidings subscriptions`, and what it says about feeds.
@Suite struct SubscriptionOptionTests {
  private static let settings = [
    "TIDINGS_ALLOWED_NETWORKS": "127.0.0.1", "TIDINGS_FEED_PASSWORD_KEY": NewsDatabase.passwordKey,
  ]
  private static let feed = FaultResponse(
    body: Data(
      """
      <rss version="2.0"><channel><title>Port</title><item><guid>1</guid><title>A ship</title>
      <pubDate>Mon, 02 Feb 2026 02:40:00 GMT</pubDate></item><item><guid>2</guid></item></channel></rss>
      """.utf8))

  private static func run(
    _ installation: Installation, _ arguments: [String], input: String = "/dev/null"
  ) async throws -> ChildProcess.Result {
    try await ChildProcess(
      ["subscriptions"] + arguments, environment: installation.environment(settings), input: input
    ).result()
  }

  private static func makeTopic(_ installation: Installation) async throws {
    _ = try await installation.sql.query(
      """
      WITH slugs AS (
        INSERT INTO scopes (scope) VALUES ('harbour') RETURNING scope
      )
      INSERT INTO topics (slug, titles) SELECT scope, '{"en": "Harbour", "fr": "Port"}' FROM slugs
      """)
  }

  private static let invalid: [[String]] = [
    ["--feed-user", "ann"], ["--password-file", "/dev/null"], ["--feed-user", "a:b", "--password-file", "/dev/null"],
    ["--feed-user", "", "--password-file", "/dev/null"],
    ["--feed-user", String(repeating: "x", count: 257), "--password-file", "/dev/null"],
    ["--title", " \t"], ["--title", String(repeating: "x", count: 1025)], ["--language", "?"], ["--state", "review"],
    ["--topics", "A b"], ["--topics", (1...17).map { "t\($0)" }.joined(separator: ",")],
  ]

  @Test("An option that breaks a rule is refused, and no feed is followed", arguments: invalid)
  func refused(options: [String]) async throws {
    try await Installation.with { installation in
      let result = try await Self.run(installation, ["add", "https://127.0.0.1/feed"] + options)
      #expect(result.status == 64 && result.output == "", "\(result.errors)")
      #expect(try await Self.run(installation, ["list"]).output == "")
    }
  }

  @Test("The longest user, password and title are stored with the other options")
  func stored() async throws {
    let user = String(repeating: "u", count: 256)
    let password = String(repeating: "p", count: 1024)
    let title = String(repeating: "t", count: 1024)
    let right = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    try await FaultServer.with({ $0["Authorization"] == right ? Self.feed : FaultResponse(status: 401) }) { server in
      try await withFolder(["password": password + "\n", "windows": password + "\r\n"]) { folder in
        try await Installation.with { installation in
          try await Self.makeTopic(installation)
          let file = folder.appending(path: "password").path
          let added = try await Self.run(
            installation,
            [
              "add", "\(server.url)/feed", "--feed-user", user, "--password-file", file, "--title", title, "--topics",
              "harbour", "--state", "draft", "--language", "de",
            ])
          #expect(added.status == 0 && !added.errors.contains("the feed is at"), "\(added.errors)")
          let id = added.output.trimmingCharacters(in: .newlines)
          let line = try await Self.run(installation, ["list"]).output
          #expect(line.hasPrefix("\(id)\t\(server.url)/feed\tdraft\tharbour\t20") && line.hasSuffix("\t\t\(title)\n"))
          let row = try #require(try await installation.sql.query("SELECT language FROM subscriptions").first)
          #expect(try row.decode("language", as: String.self) == "de")
          // The options precede the user of the address. Files of other systems have other ends of lines.
          let other = "\(server.url)/other".replacing("://", with: "://x:y@")
          let second = try await Self.run(
            installation, ["add", other, "--feed-user", user, "--password-file", "-"],
            input: folder.appending(path: "windows").path)
          #expect(second.status == 0, "\(second.errors)")
        }
      }
    }
  }

  @Test(
    "A file without a single line of at most 1,024 bytes is no password",
    arguments: ["", "\n", "a\nb\n", String(repeating: "p", count: 1025) + "\n", nil] as [String?])
  func passwordFile(content: String?) async throws {
    try await withFolder(["password": content ?? ""]) { folder in
      try await Installation.with { installation in
        let file = folder.appending(path: content == nil ? "missing" : "password").path
        let result = try await Self.run(
          installation, ["add", "https://127.0.0.1/feed", "--feed-user", "ann", "--password-file", file])
        let reason = content == nil ? "cannot be read" : "a single line of at most 1024 bytes"
        #expect(result.status == 1 && result.output == "" && result.errors.contains(reason), "\(result.errors)")
        #expect(try await Self.run(installation, ["list"]).output == "")
      }
    }
  }

  @Test(
    "A user or a password in an address that breaks a rule is refused, and such a feed of a list is skipped",
    arguments: [
      ("a%3Ab:p", "user"), (String(repeating: "u", count: 257) + ":p", "user"), ("a%07:p", "user"),
      (":p", "user"),
      ("a:" + String(repeating: "p", count: 1025), "password"), ("a:p%07", "password"),
    ])
  func credentials(credentials: String, field: String) async throws {
    let url = "https://\(credentials)@127.0.0.1/"
    let list = #"<opml version="2.0"><body><outline type="rss" text="A" xmlUrl="\#(url)"/></body></opml>"#
    try await withFolder(["list.opml": list]) { folder in
      try await Installation.with { installation in
        let added = try await Self.run(installation, ["add", url])
        #expect(added.status == 1 && added.output == "", "\(added.errors)")
        #expect(added.errors.contains("the \(field) must have "), "\(added.errors)")
        let imported = try await Self.run(installation, ["import", folder.appending(path: "list.opml").path])
        #expect(imported.status == 0 && imported.output == "read 1, added 0, skipped 1\n", "\(imported.errors)")
        #expect(try await Self.run(installation, ["list"]).output == "")
      }
    }
  }

  @Test("Feeds that are not paused are polled, each is reported, and one failure among them is one of the command")
  func polls() async throws {
    try await FaultServer.with({ request in
      // The failure comes first.
      request.path == "/0" ? FaultResponse(status: 404) : Self.feed.dripping(over: .milliseconds(500))
    }) { server in
      try await Installation.with { installation in
        let ids = (0...10).map { _ in UUID() }
        for (number, id) in ids.enumerated() {
          let (url, isPaused) = ("\(server.url)/\(number)", number == 10)
          _ = try await installation.sql.query(
            """
            INSERT INTO subscriptions (id, url, state, paused) VALUES (\(id), \(url), 'published', \(isPaused))
            """)
        }
        let names = ids.map { $0.uuidString.lowercased() }
        async let polling = Self.run(installation, ["poll"])
        var most = 0
        try await eventually("all feeds are requested") {
          let running: Int = try await installation.value(
            "SELECT count(*) FROM subscriptions WHERE lease IS NOT NULL")
          most = max(most, running)
          return server.requests.count == 10
        }
        #expect(most <= 8, "at most eight feeds are polled at a time")
        let polled = try await polling
        #expect(polled.status == 1 && polled.errors.contains("tidings: \(names[0]): the server has answered"))
        #expect(!polled.errors.contains("a feed could not be read"), "the command prints the failure itself")
        let settings = Self.settings.merging(["TIDINGS_LOG_LEVEL": "debug"]) { $1 }
        let detailed = try await installation.run("subscriptions", "poll", names[0], changes: settings)
        #expect(detailed.status == 1 && detailed.errors.contains("a feed could not be read"), "\(detailed.errors)")
        let lines = polled.output.split(separator: "\n")
        #expect(Set(lines.map { $0.prefix(36) }) == Set(names[1...9].map { $0.prefix(36) }), "\(polled.output)")
        #expect(server.requests.count == 11)

        // A paused feed is polled if it is named, and stays paused.
        let paused = try await Self.run(installation, ["poll", names[10]])
        #expect(paused.status == 0 && paused.output.hasPrefix("\(names[10])\tinserted "), "\(paused.errors)")
        #expect(paused.errors.contains("tidings: \(names[10]): ") && paused.errors.contains("neither text nor title"))
        #expect(try await Self.run(installation, ["list"]).output.contains("\tpaused\t"))
      }
    }
  }

  @Test("A feed that a server polls at present is no failure, and one that nobody follows is one")
  func absent() async throws {
    try await Installation.with { installation in
      let id = UUID()
      _ = try await installation.sql.query(
        """
        INSERT INTO subscriptions (id, url, state, lease, leased_until)
        VALUES (\(id), 'https://127.0.0.1/', 'published', gen_random_uuid(), now() + interval '1 hour')
        """)
      let busy = try await Self.run(installation, ["poll", id.uuidString])
      #expect(busy.status == 0 && busy.output == "" && busy.errors.contains("a server polls the feed at present"))
      for command in ["poll", "remove"] {
        let unknown = try await Self.run(installation, [command, UUID().uuidString])
        #expect(unknown.status == 1 && unknown.errors.contains("there is no subscription with the id"), "\(command)")
        #expect(try await Self.run(installation, [command, "1"]).status == 64, "\(command)")
      }
    }
  }

  @Test("The address of a page is replaced by that of its feed, which is told, and requests name their sender")
  func page() async throws {
    let page = #"<html><link rel="alternate" type="application/rss+xml" href="/feed"></html>"#
    try await FaultServer.with({ $0.path == "/feed" ? Self.feed : FaultResponse(body: Data(page.utf8)) }) { server in
      try await Installation.with { installation in
        let added = try await Self.run(installation, ["add", "\(server.url)/"])
        #expect(added.status == 0 && added.errors.contains("tidings: the feed is at \(server.url)/feed"))
        #expect(server.requests.allSatisfy { $0["User-Agent"]?.hasPrefix("Tidings/") == true })
        let id = added.output.trimmingCharacters(in: .newlines)
        let settings = Self.settings.merging(["TIDINGS_PUBLIC_URL": "https://news.example"]) { $1 }
        let direct = try await installation.run("subscriptions", "poll", id, changes: settings)
        #expect(direct.status == 0 && !direct.errors.contains("the feed is at"))
        #expect(server.requests.last?["User-Agent"]?.hasSuffix(" (+https://news.example)") == true)
      }
    }
  }

  @Test("A list has no control characters of the title and the failure of a feed")
  func unsafeTexts() async throws {
    try await Installation.with { installation in
      let text = "Port\u{1B}[2J\u{202E}"
      _ = try await installation.sql.query(
        """
        INSERT INTO subscriptions (id, url, state, topics, title, error_at, error_message)
        VALUES (gen_random_uuid(), 'https://a.example/', 'published', '{sea,sky}', \(text), now(), \(text))
        """)
      let listed = try await Self.run(installation, ["list"]).output
      #expect(listed.contains("\tpublished\tsea,sky\t") && listed.hasSuffix("\tPort[2J\tPort[2J\n"), "\(listed)")
    }
  }

  private static let list = """
    <?xml version="1.0"?><opml version="2.0"><head><title>Mine</title></head><body>
    <outline text="Boats"><outline type="rss" text="A" xmlUrl="https://a.example/" language="de"/></outline>
    <outline type="rss" text="B" xmlUrl="https://b.example/"/>
    <outline type="rss" text="C" xmlUrl="https://c.example:70000/"/></body></opml>
    """

  @Test(
    "An import has the topics and the language of its options, or else those of the file",
    arguments: [
      (["--topics", "harbour", "--language", "fr"], ["a harbour fr", "b harbour fr"], ["harbour"]),
      ([], ["a boats de", "b  -"], ["boats", "harbour"]),
    ] as [([String], [String], [String])])
  func imported(options: [String], expected: [String], topics: [String]) async throws {
    try await withFolder(["list.opml": Self.list]) { folder in
      try await Installation.with { installation in
        try await Self.makeTopic(installation)
        let file = folder.appending(path: "list.opml").path
        let result = try await Self.run(installation, ["import", file] + options)
        #expect(result.status == 0 && result.output == "read 3, added 2, skipped 1\n", "\(result.errors)")
        let rows = try await installation.sql.query(
          """
          SELECT concat(substr(url, 9, 1), ' ', array_to_string(topics, ','), ' ', coalesce(language, '-')) AS feed
          FROM subscriptions ORDER BY url
          """)
        #expect(try rows.map { try $0.decode("feed", as: String.self) } == expected)
        let slugs = try await installation.sql.query("SELECT slug FROM topics ORDER BY slug")
        #expect(try slugs.map { try $0.decode("slug", as: String.self) } == topics)
        // There may be 16 topics, but not these, which do not exist.
        for (count, status) in [(16, 1), (17, 64)] as [(Int, Int32)] {
          let many = ["--topics", (1...count).map { "t\($0)" }.joined(separator: ",")]
          #expect(try await Self.run(installation, ["import", file] + many).status == status, "\(count) topics")
        }
      }
    }
  }

  @Test(
    "An export has the names and languages of feeds, and that of a folder in the language of the feed or in its first",
    arguments: [("fr", "Port"), ("de", "Harbour"), (nil, "Harbour")] as [(String?, String)])
  func exported(language: String?, folder: String) async throws {
    try await Installation.with { installation in
      try await Self.makeTopic(installation)
      _ = try await installation.sql.query(
        """
        INSERT INTO subscriptions (id, url, state, topics, title, language)
        VALUES (gen_random_uuid(), 'https://a.example/', 'published', '{harbour}', 'Tides', \(language))
        """)
      let exported = try await Self.run(installation, ["export"])
      #expect(exported.status == 0 && exported.output.contains("<outline text=\"\(folder)\""), "\(exported.output)")
      let attributes = #"text="Tides" title="Tides" xmlUrl="https://a.example/""#
      let tag = language.map { #" language="\#($0)""# } ?? ""
      #expect(exported.output.contains("<title>Feeds followed by Tidings</title>"))
      #expect(exported.output.contains("<dateCreated>"))
      #expect(exported.output.contains("\(attributes)\(tag) category=\"/harbour\"/>"), "\(exported.output)")
    }
  }

  @Test("A folder whose name makes the slug of another topic has a topic of its own")
  func folders() async throws {
    let list = """
      <opml version="2.0"><body><outline text="Harbour#">
      <outline type="rss" text="A" xmlUrl="https://a.example/"/></outline></body></opml>
      """
    try await withFolder(["list.opml": list]) { folder in
      try await Installation.with { installation in
        try await Self.makeTopic(installation)
        let result = try await Self.run(installation, ["import", folder.appending(path: "list.opml").path])
        #expect(result.status == 0 && result.output == "read 1, added 1, skipped 0\n", "\(result.errors)")
        let topic: String = try await installation.value("SELECT topics[1] FROM subscriptions")
        #expect(topic.hasPrefix("harbour-"), "\(topic)")
        let title: String = try await installation.value("SELECT titles->>'und' FROM topics WHERE slug <> 'harbour'")
        #expect(title == "Harbour#")
      }
    }
  }
}
