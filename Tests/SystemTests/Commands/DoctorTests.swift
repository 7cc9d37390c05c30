import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Each check of `doctor`, under the condition that it must find.
@Suite struct DoctorTests {
  struct Finding: Decodable, Equatable {
    var check: String
    var status: String
    var message: String
  }

  /// Runs the command and returns its findings and its exit status.
  static func examine(
    _ installation: Installation, _ changes: [String: String] = [:]
  ) async throws -> (findings: [String: Finding], result: ChildProcess.Result) {
    let result = try await installation.run("doctor", "--json", changes: changes)
    let findings = try JSONDecoder().decode([Finding].self, from: Data(result.output.utf8))
    #expect(findings.contains { $0.status == "problem" } == (result.status == 1))
    #expect([0, 1].contains(result.status))
    #expect(result.errors == "")
    return (Dictionary(findings.map { ($0.check, $0) }) { $1 }, result)
  }

  @Test("A working installation has no problem, and each check is one line")
  func healthy() async throws {
    try await Installation.with { installation in
      let (findings, result) = try await Self.examine(installation)
      #expect(result.status == 0, "\(result.output)")
      let expected: Set = [
        "settings", "database", "migrations", "rights", "durability", "clock", "connections", "notifications",
        "contract", "listener", "media", "proxies", "descriptors", "user", "push", "deliveries",
      ]
      #expect(Set(findings.keys).subtracting(["disk"]) == expected)
      // The test cluster has no durability, which its setting allows.
      let others = findings.values.filter { !["durability", "disk", "connections", "user"].contains($0.check) }
      #expect(findings["user"]?.status == (geteuid() == 0 ? "warning" : "ok"))
      #expect(others.allSatisfy { $0.status == "ok" || $0.check == "descriptors" }, "\(others)")
      let text = try await installation.run("doctor")
      #expect(text.status == 0)
      let lines = text.output.split(separator: "\n")
      #expect(lines.count == findings.count)
      #expect(lines.allSatisfy { $0.contains(/^(ok|warning) +[a-z]+ +\S/) }, "\(text.output)")
    }
  }

  @Test("An invalid setting is the only finding")
  func settings() async throws {
    try await Installation.with(schema: false) { installation in
      let (findings, _) = try await Self.examine(installation, ["TIDINGS_TRUSTED_PROXIES": "10.0.0.1/8"])
      #expect(findings.count == 1)
      #expect(findings["settings"]?.message.contains("TIDINGS_TRUSTED_PROXIES") == true)
    }
  }

  @Test("A database that cannot be reached is a problem, and its password is never shown")
  func unreachable() async throws {
    try await Installation.with(schema: false) { installation in
      for url in [
        "postgresql://tidings:geheim@127.0.0.1:1/x", "postgresql://tidings:geheim@nowhere.invalid/x",
        "postgresql://tidings:geheim@127.0.0.1:port/x", "host=127.0.0.1 port=1 password=geheim",
        "password=geheim oops",
      ] {
        let (findings, result) = try await Self.examine(installation, ["DATABASE_URL": url])
        #expect(findings["database"]?.status == "problem", "\(url)")
        #expect(findings["migrations"] == nil)
        #expect(findings["listener"]?.status == "ok")
        #expect(!result.output.contains("geheim"), "\(result.output)")
      }
    }
  }

  @Test("Migrations that are pending, changed or unknown are problems that are named")
  func migrations() async throws {
    try await Installation.with(schema: false) { installation in
      let (pending, _) = try await Self.examine(installation)
      #expect(pending["migrations"]?.status == "problem")
      #expect(pending["migrations"]?.message.contains("tidings migrate") == true)
    }
    try await Installation.with { installation in
      _ = try await installation.sql.query("UPDATE schema_migrations SET checksum = '\\x00' WHERE number = 2")
      let (changed, _) = try await Self.examine(installation)
      #expect(changed["migrations"]?.message.contains("\(Migration.required[1].name) was changed") == true)
    }
    try await Installation.with { installation in
      _ = try await installation.sql.query(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES (900, '0900_later.sql', '\\x00')")
      let (unknown, _) = try await Self.examine(installation)
      #expect(unknown["migrations"]?.message.contains("0900_later.sql") == true)
    }
  }

  @Test("Unsafe durability is a problem, unless it is allowed")
  func durability() async throws {
    try await Installation.with { installation in
      let (allowed, _) = try await Self.examine(installation)
      #expect(allowed["durability"]?.status == "warning")
      let (findings, _) = try await Self.examine(installation, ["TIDINGS_ALLOW_UNSAFE_DURABILITY": ""])
      #expect(findings["durability"]?.status == "problem")
      #expect(findings["durability"]?.message.contains("fsync = off, full_page_writes = off") == true)
    }
  }

  @Test("A wrong clock is reported", arguments: [(-10, "warning", "behind"), (100, "problem", "ahead")])
  func clock(seconds: Int, status: String, direction: String) async throws {
    try await Installation.with { installation in
      // A schema that precedes `pg_catalog` in the search path shifts the clock.
      let name: String = try await installation.value("SELECT current_database()::text")
      try await TestDatabase.execute(
        """
        CREATE SCHEMA shifted;
        CREATE FUNCTION shifted.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
          'SELECT pg_catalog.clock_timestamp() + \(seconds) * interval ''1 s''';
        ALTER DATABASE \(name) SET search_path = shifted, pg_catalog, public;
        """, at: installation.url)
      let (findings, _) = try await Self.examine(installation)
      #expect(findings["clock"]?.status == status)
      #expect(findings["clock"]?.message.contains(direction) == true)
    }
  }

  @Test("A database with another encoding and a standby are problems")
  func otherDatabases() async throws {
    try await Installation.with(schema: false) { installation in
      try await TestDatabase.execute(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", at: installation.url)
      var components = try #require(URLComponents(string: installation.url))
      components.path = "/latin"
      let (findings, _) = try await Self.examine(installation, ["DATABASE_URL": components.string ?? ""])
      #expect(findings["database"]?.message.contains("UTF8") == true)
      try await TestDatabase.execute("DROP DATABASE latin WITH (FORCE)", at: installation.url)
    }
    try await TestCluster.withCluster { primary in
      let standby = try await TestCluster.reserve()
      try await standby.becomeStandby(of: primary)
      let url = await standby.url
      try await Installation.with(url: url) { installation in
        let (findings, _) = try await Self.examine(installation)
        #expect(findings["database"]?.status == "problem")
        #expect(findings["database"]?.message.contains("target_session_attrs=read-write") == true)
      }
      try await standby.remove()
    }
  }

  @Test("Too few connections for the pool are reported")
  func connections() async throws {
    try await Installation.with { installation in
      let (findings, _) = try await Self.examine(installation, ["TIDINGS_POOL_SIZE": "1000"])
      #expect(findings["connections"]?.status == "warning")
      #expect(findings["connections"]?.message.contains("TIDINGS_POOL_SIZE") == true)
    }
  }

  @Test(
    "A pooler in transaction mode is reported, and is a problem only with prepared statements",
    .enabled(if: TestPooler.isInstalled))
  func pooler() async throws {
    try await Installation.with { installation in
      try await TestPooler.with(database: installation.url, sessions: 4) { pooled in
        let changes = ["DATABASE_URL": pooled, "TIDINGS_PREPARED_STATEMENTS": "false"]
        let (findings, _) = try await Self.examine(installation, changes)
        #expect(findings["notifications"]?.status == "warning", "\(findings)")
      }
    }
  }

  @Test("A port of another program is a problem; a port of a Tidings server is not")
  func listener() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let (findings, _) = try await Self.examine(installation, ["TIDINGS_PORT": "\(server.port)"])
        #expect(findings["listener"]?.status == "ok")
        #expect(findings["listener"]?.message.contains("a Tidings server responds") == true)
      }
      let database = try #require(URLComponents(string: installation.url)?.port)
      let (taken, _) = try await Self.examine(installation, ["TIDINGS_PORT": "\(database)"])
      #expect(taken["listener"]?.status == "problem")
      let (foreign, _) = try await Self.examine(installation, ["TIDINGS_HOST": "192.0.2.1"])
      #expect(foreign["listener"]?.status == "problem")
    }
  }

  @Test("A missing, unusable or too small folder for files is reported")
  func media() async throws {
    try await Installation.with { installation in
      try await withFolder(["file": "x"]) { folder in
        let check: (String, [String: String]) async throws -> Finding? = { path, changes in
          let changes = changes.merging(["TIDINGS_MEDIA_DIRECTORY": path]) { $1 }
          return try await Self.examine(installation, changes).findings["media"]
        }
        #expect(try await check(folder.path, [:])?.status == "ok")
        // The server creates the missing folder.
        let missing = try await check(folder.appending(path: "missing/media").path, [:])
        #expect(missing?.status == "ok" && missing?.message.contains("the server will create it") == true)
        let file = folder.appending(path: "file").path
        for permissions in [0o644, 0o755] {
          try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
          #expect(try await check("\(file)/media", [:])?.status == "problem")
          #expect(try await check(file, [:])?.status == "problem")
        }
        let small = try await check(folder.path, ["TIDINGS_MEDIA_LIMIT": "1048576"])
        #expect(small?.status == "warning")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
      }
    }
  }

  @Test(
    "An untrusted proxy is reported",
    arguments: [["TIDINGS_PUBLIC_URL": "https://news.example"], ["TIDINGS_ADDRESS_RATE": "600"]])
  func proxies(changes: [String: String]) async throws {
    try await Installation.with { installation in
      let (findings, _) = try await Self.examine(installation, changes)
      #expect(findings["proxies"]?.status == "warning")
      let trusting = changes.merging(["TIDINGS_TRUSTED_PROXIES": "198.51.100.0/24, ::1"]) { $1 }
      let (trusted, _) = try await Self.examine(installation, trusting)
      #expect(trusted["proxies"]?.status == "ok")
    }
  }

  /// A gateway of this machine, in the byte order of an address; nil if there is none.
  private static let gateway: [UInt8]? = {
    let table = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
    let fields = table.split(separator: "\n").dropFirst().map { $0.split(separator: "\t") }
    return fields.compactMap { UInt32($0[2], radix: 16) }.first { $0 != 0 }.map { number in
      withUnsafeBytes(of: number) { Array($0) }
    }
  }()

  @Test("A trusted network that contains a gateway is reported", .enabled(if: gateway != nil, "needs a gateway"))
  func gateways() async throws {
    let parts = try #require(Self.gateway)
    let address = parts.map(String.init).joined(separator: ".")
    let network = "\(parts[0]).\(parts[1]).\(parts[2]).0/24"
    try await Installation.with { installation in
      let (findings, _) = try await Self.examine(installation, ["TIDINGS_TRUSTED_PROXIES": "127.0.0.1,\(network)"])
      #expect(findings["proxies"]?.status == "warning")
      #expect(findings["proxies"]?.message.contains("\(network), which contains the gateway \(address)") == true)
      let (alone, _) = try await Self.examine(installation, ["TIDINGS_TRUSTED_PROXIES": address])
      #expect(alone["proxies"]?.status == "ok")
    }
  }

  @Test(
    "Push keys that cannot be read are a problem, and paused services and late messages are warnings",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "needs openssl"))
  func pushes() async throws {
    try await Installation.with { installation in
      let (unreadable, _) = try await Self.examine(installation, ["TIDINGS_FCM_CREDENTIALS": "/nowhere"])
      #expect(unreadable["push"]?.status == "problem")
      #expect(unreadable["push"]?.message.contains("TIDINGS_FCM_CREDENTIALS") == true)
      #expect(unreadable["deliveries"] == nil)

      try await withFolder([:]) { folder in
        let key = folder.appending(path: "vapid.pem")
        let made = try await ChildProcess(
          ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key.path], executable: "/usr/bin/openssl",
          environment: [:]
        ).result()
        try #require(made.status == 0, "\(made.errors)")
        let changes = [
          "TIDINGS_VAPID_KEY_FILE": key.path, "TIDINGS_VAPID_SUBJECT": "mailto:news@example.org",
          "TIDINGS_TRUSTED_PROXIES": "127.0.0.1",
        ]
        let (working, _) = try await Self.examine(installation, changes)
        #expect(working["push"]?.message.contains("webpush") == true, "\(working)")
        #expect(working["push"]?.status == "ok" && working["deliveries"]?.status == "ok")
        #expect(working["proxies"]?.status == "ok")
        let (direct, _) = try await Self.examine(installation, changes.merging(["TIDINGS_TRUSTED_PROXIES": ""]) { $1 })
        #expect(direct["proxies"]?.message.contains("TIDINGS_DEVICE_RATE") == true)

        _ = try await installation.sql.query(
          """
          INSERT INTO push_providers (provider, paused_until, reason, pauses, changed_at)
          VALUES ('webpush', now() + interval '5 minutes', 'it refuses all', 1, now())
          """)
        let (paused, result) = try await Self.examine(installation, changes)
        #expect(result.status == 0 && paused["deliveries"]?.status == "warning")
        #expect(paused["deliveries"]?.message.contains("it refuses all") == true)

        _ = try await installation.sql.query(
          """
          UPDATE push_providers SET paused_until = NULL, reason = NULL, pauses = 0, refused_at = now(),
            refusal = 'the push service answers 403: it refuses the key of TIDINGS_VAPID_KEY_FILE'
          """)
        let (refused, _) = try await Self.examine(installation, changes)
        #expect(refused["deliveries"]?.status == "warning")
        #expect(
          refused["deliveries"]?.message.contains("refuses the key of TIDINGS_VAPID_KEY_FILE") == true, "\(refused)")

        _ = try await installation.sql.query("DELETE FROM push_providers")
        _ = try await installation.sql.query(
          """
          INSERT INTO deliveries (device, provider, due_at)
          VALUES (gen_random_uuid(), 'webpush', now() - interval '20 minutes')
          """)
        let (late, _) = try await Self.examine(installation, changes)
        #expect(late["deliveries"]?.message.contains("messages of webpush are ") == true, "\(late)")
      }
    }
  }

  @Test("Devices of a push service without keys, and changes that no server collects, are warnings")
  func abandoned() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query(
        """
        INSERT INTO devices (id, secret_digest, provider, kind, address, address_digest, alerts, state, created_at,
          registered_at, expires_at)
        VALUES (gen_random_uuid(), sha256('a'), 'fcm', 'app', 'token', sha256('b'), false, 'active', now(), now(),
          now() + interval '90 days')
        """)
      let (idle, _) = try await Self.examine(installation)
      #expect(idle["deliveries"]?.message.contains("the devices of fcm, 1, get nothing") == true, "\(idle)")
      _ = try await installation.sql.query("DELETE FROM devices")
      _ = try await installation.sql.query(
        """
        INSERT INTO outbox (version, at, items, versions, kinds)
        VALUES (1, now() - interval '7 minutes', '{}', '{}', '{}')
        """)
      let (waiting, _) = try await Self.examine(installation)
      #expect(waiting["deliveries"]?.message.contains("changes have waited for ") == true, "\(waiting)")
    }
  }

  @Test("A subject that Apple's push service refuses is a problem, and the server does not start with it")
  func subject() async throws {
    try await Installation.with { installation in
      let changes = ["TIDINGS_VAPID_KEY_FILE": "/nowhere", "TIDINGS_VAPID_SUBJECT": "mailto:ops@localhost"]
      let (findings, _) = try await Self.examine(installation, changes)
      #expect(findings["push"]?.status == "problem")
      #expect(findings["push"]?.message.contains("TIDINGS_VAPID_SUBJECT must be an address") == true)
      let served = try await installation.run("serve", changes: changes)
      #expect(served.status == 78 && served.errors.contains("TIDINGS_VAPID_SUBJECT"), "\(served.errors)")
    }
  }

  @Test("A key that does not open the passwords of followed feeds, or that is missing, is a problem")
  func feedPasswords() async throws {
    try await Installation.with { installation in
      let (right, wrong) = (NewsDatabase.passwordKey, Data(repeating: 7, count: 32).base64EncodedString())
      func check(_ key: String) async throws -> Finding? {
        try await Self.examine(installation, ["TIDINGS_FEED_PASSWORD_KEY": key]).findings["feeds"]
      }
      #expect(try await check("") == nil)
      #expect(try await check(right)?.status == "ok")

      func store(_ count: Int, _ key: String) async throws {
        let store = NewsStore(
          connection: .forBusyMachine(installation.url), passwordKey: FeedPasswordKey(key), logger: NewsDatabase.logger)
        try await withResource(store, release: { await $0.shutdown() }) { store in
          for _ in 0..<count {
            let url = "https://feeds.example/\(UUID())"
            _ = try await store.createSubscription(
              UUID(), SubscriptionContent(url: url, user: "ann", password: "s3cret"))
          }
        }
      }
      try await store(2, right)
      #expect(try await check(right)?.message == "the key opens 2 passwords of followed feeds")
      let missing = try #require(try await check(""))
      #expect(missing.status == "problem" && missing.message.contains("set TIDINGS_FEED_PASSWORD_KEY to the key"))
      let other = try #require(try await check(wrong))
      #expect(other.status == "problem" && other.message.contains("does not open 2 of 2 passwords"), "\(other)")
      try await store(1, wrong)
      #expect(try await check(right)?.message.contains("does not open 1 of 3 passwords") == true)
    }
  }

  @Test("Root checks with the rights of the server's user", .enabled(if: geteuid() == 0))
  func otherUser() async throws {
    try await Installation.with { installation in
      try await withFolder(["settings": "TIDINGS_POOL_SIZE=2", "media/file": "x"]) { folder in
        let settings = folder.appending(path: "settings").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: settings)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.appending(path: "media").path]
        let result = try await installation.run(
          "doctor", "--json", "--settings", settings, "--user", "nobody", changes: changes)
        let findings = try JSONDecoder().decode([Finding].self, from: Data(result.output.utf8))
        #expect(findings.first { $0.check == "user" }?.message.contains("nobody") == true, "\(findings)")
        #expect(findings.first { $0.check == "media" }?.status == "problem")
        let unknown = try await installation.run("doctor", "--json", "--user", "nobody-at-all")
        #expect(unknown.output.contains("there is no user nobody-at-all"))
      }
    }
  }
}
