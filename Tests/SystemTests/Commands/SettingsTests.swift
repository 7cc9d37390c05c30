import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct SettingsTests {
  /// Expects that a server has refused to start: an error status, the given text, and no message about listening.
  private func expectRefusal(
    _ result: ChildProcess.Result, naming text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status > 0, sourceLocation: sourceLocation)
    #expect(result.output == "", sourceLocation: sourceLocation)
    #expect(result.errors.contains(text), "\(result.errors)", sourceLocation: sourceLocation)
    #expect(!result.errors.contains("listening"), sourceLocation: sourceLocation)
  }

  @Test(
    "A setting that cannot be used is named, and nothing is served",
    arguments: [
      ("TIDINGS_PORT", "http"), ("TIDINGS_PORT", "65536"), ("TIDINGS_PORT", "-1"), ("TIDINGS_PORT", "80 "),
      ("TIDINGS_PROT", "80"),
      ("TIDINGS_LOG_LEVEL", "loud"), ("TIDINGS_LOG_FORMAT", "xml"), ("TIDINGS_SHARED_MAX_AGE", "0"),
      ("TIDINGS_SHARED_MAX_AGE", "1.5"), ("TIDINGS_POOL_SIZE", "0"), ("TIDINGS_OPENAPI", "/nowhere/openapi.yaml"),
      ("TIDINGS_ALLOW_UNSAFE_DURABILITY", "yes"), ("TIDINGS_PREPARED_STATEMENTS", "0"),
      ("TIDINGS_MEDIA_DIRECTORY", "/dev/null/media"), ("TIDINGS_MEDIA_LIMIT", "0"), ("TIDINGS_MEDIA_UNUSED_AFTER", "x"),
      ("TIDINGS_TRUSTED_PROXIES", "10.0.0.0/33"), ("TIDINGS_FORWARDED_FIELD", "via"), ("TIDINGS_ADDRESS_RATE", "-1"),
      ("TIDINGS_KEY_RATE", "many"), ("TIDINGS_SLOW_REQUEST", "1s"), ("TIDINGS_PUBLIC_URL", "news.example"),
      ("TIDINGS_PUBLIC_URL", "https://news.example/?a"), ("TIDINGS_READER_PAGES", "no"), ("TIDINGS_LANGUAGE", "fr"),
      ("TIDINGS_CONSOLE", "off"),
      ("TIDINGS_FEED_CONTENT", "title"), ("TIDINGS_FEED_ITEMS", "0"), ("TIDINGS_FEED_TITLE", "a\u{7}"),
      ("TIDINGS_HUB_URL", "hub.example"), ("TIDINGS_HUB_URL", "ftp://hub.example/"),
      ("TIDINGS_PUSH_REPORT_RATE", "2"), ("TIDINGS_PUSH_REPORT_RATE", "often"),
      ("TIDINGS_PUSH_ORIGINS", "https://push.example.org/path"), ("TIDINGS_APNS_URL", "apns"),
      ("TIDINGS_APNS_KEY_ID", "ABC123DEFG"), ("TIDINGS_FCM_CREDENTIALS", "/nowhere/firebase.json"),
      ("TIDINGS_VAPID_SUBJECT", "mailto:news@example.org"), ("TIDINGS_PUSH_CA_FILE", "/nowhere/ca.pem"),
    ])
  func unusable(name: String, value: String) async throws {
    try await Installation.with { installation in
      let result = try await installation.run("serve", changes: [name: value])
      expectRefusal(result, naming: name)
      #expect(result.errors.split(separator: "\n").last?.hasPrefix("tidings: ") == true)
    }
  }

  @Test("A port that no computer has is refused as an argument, too", arguments: ["65536", "-1"])
  func unusablePort(port: String) async throws {
    try await Installation.with { installation in
      expectRefusal(try await installation.run("serve", "--port=\(port)"), naming: "--port")
    }
  }

  @Test("A database that can lose acknowledged writes is served only where that is allowed")
  func unsafeDurability() async throws {
    try await Installation.with { installation in
      let result = try await installation.run("serve", changes: ["TIDINGS_ALLOW_UNSAFE_DURABILITY": ""])
      expectRefusal(result, naming: "TIDINGS_ALLOW_UNSAFE_DURABILITY")
      #expect(result.errors.contains("fsync = off"))
    }
  }

  @Test("A schema that is not current is not served, and the command for it is named")
  func staleSchema() async throws {
    try await Installation.with(schema: false) { installation in
      expectRefusal(try await installation.run("serve"), naming: "tidings migrate")
    }
  }

  @Test("A database that cannot be reached is an error at the start, for every command")
  func unreachable() async throws {
    try await Installation.with { installation in
      let changes = ["DATABASE_URL": "postgresql://tidings@127.0.0.1:1/tidings"]
      expectRefusal(try await installation.run("serve", changes: changes), naming: "tidings: ")
      expectRefusal(try await installation.run("migrate", changes: changes), naming: "tidings: ")
      expectRefusal(try await installation.run("keys", "list", changes: changes), naming: "tidings: ")
    }
  }

  @Test("A port in use is an error; the argument wins over the setting")
  func ports() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        expectRefusal(try await installation.run("serve", "--host", "nowhere.invalid"), naming: "nowhere.invalid:0")
        let taken = ["TIDINGS_PORT": String(server.port)]
        expectRefusal(try await installation.run("serve", changes: taken), naming: "in use")
        expectRefusal(try await installation.run("serve", "--port", String(server.port)), naming: "in use")
        try await installation.serve("--port", "0", changes: taken) { other in
          let status = try await other.status("/healthz")
          #expect(status == 200)
          #expect(other.port != server.port)
        }
        #expect(try await server.status("/healthz") == 200)
      }
    }
  }

  @Test("Settings come from a file, and the environment wins")
  func file() async throws {
    try await Installation.with { installation in
      let text = """
        # An installation.
        DATABASE_URL=\(installation.url)
        TIDINGS_SHARED_MAX_AGE=7

        """
      try await withFolder(["tidings.env": text]) { folder in
        let path = folder.appending(path: "tidings.env").path
        let cacheControl: @Sendable (RunningServer) async throws -> String? = { server in
          try await server.send("GET", "/v1/items")["Cache-Control"]
        }
        let fromFile = try await installation.serve("--settings", path, changes: ["DATABASE_URL": ""], cacheControl)
        #expect(fromFile?.contains("s-maxage=7") == true)
        let overridden = try await installation.serve(
          "--settings", path, changes: ["TIDINGS_SHARED_MAX_AGE": "3"], cacheControl)
        #expect(overridden?.contains("s-maxage=3") == true)
        expectRefusal(try await installation.run("serve", "--settings", path + ".nowhere"), naming: "--settings")
      }
    }
  }

  @Test("Logs are JSON where nobody looks, and text where it is asked for")
  func logFormat() async throws {
    try await Installation.with { installation in
      let json = try await installation.run("migrate", changes: ["TIDINGS_LOG_LEVEL": "trace"])
      #expect(json.errors.split(separator: "\n").allSatisfy { RunningServer.LogLine(String($0)) != nil })
      let process = try ChildProcess(
        ["serve"], environment: installation.environment(["TIDINGS_LOG_FORMAT": "text"]))
      for await line in process.errorLines where line.contains("listening") {
        #expect(RunningServer.LogLine(line) == nil)
        break
      }
      process.send(SIGTERM)
      #expect(await process.result().status == 0)
    }
  }
}
