import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct ConsoleCommandTests {
  /// Returns the lines of the list, split into columns.
  private func list(_ installation: Installation) async throws -> [[String]] {
    let result = try await installation.run("console", "sessions")
    #expect(result.status == 0 && result.errors == "")
    return result.output.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
  }

  /// Runs the body with a store on the installation's database.
  private func withStore<Value: Sendable>(
    _ installation: Installation, _ body: @Sendable (NewsStore) async throws -> Value
  ) async throws -> Value {
    let store = NewsStore(
      connection: .forBusyMachine(installation.url), pool: .forBusyMachine, logger: NewsDatabase.logger)
    return try await withResource(store, release: { await $0.shutdown() }, body)
  }

  /// Returns the code of the address that `console link` has printed.
  private func printedCode(_ result: ChildProcess.Result) throws -> String {
    try #require(result.status == 0, "\(result.errors)")
    let match = try #require(result.output.wholeMatch(of: /\S+#([A-Za-z0-9_-]{43})\n/), "\(result.output)")
    return String(match.1)
  }

  @Test(
    "A link is printed alone, with the public address or that of the loopback, and opens one session",
    arguments: [
      (["TIDINGS_PORT": "8123"], "http://127.0.0.1:8123", true),
      (
        ["TIDINGS_PORT": "8123", "TIDINGS_PUBLIC_URL": "http://news.example/tidings/"], "http://news.example/tidings",
        true
      ),
      (["TIDINGS_PUBLIC_URL": "https://news.example"], "https://news.example", false),
    ])
  func link(changes: [String: String], url: String, isLocal: Bool) async throws {
    try await Installation.with { installation in
      _ = try await installation.makeKey()
      let result = try await installation.run("console", "link", "--key", "desk", changes: changes)
      let code = try printedCode(result)
      #expect(result.output == "\(url)/console/link#\(code)\n")
      #expect(result.errors.contains("10 minutes"))
      #expect(result.errors.contains("without https") == isLocal)
      #expect(!result.errors.contains(code))
      try await withStore(installation) { store in
        let session = try await store.openSession(code: code)?.session
        #expect(session?.key.name == "desk")
        let second = try await store.openSession(code: code)
        #expect(second == nil)
      }
    }
  }

  @Test("Sessions are listed with their key and times, and ended one by one or by their key")
  func life() async throws {
    try await Installation.with { installation in
      _ = try await installation.makeKey()
      #expect(try await list(installation).isEmpty)
      let opened = try await withStore(installation) { store in
        var opened: [(token: String, session: ConsoleSession)] = []
        for _ in 0..<3 {
          let result = try await installation.run("console", "link", "--key", "desk")
          opened.append(try #require(try await store.openSession(code: try printedCode(result))))
        }
        return opened
      }
      let listed = try await list(installation)
      #expect(listed.map { $0[0] } == opened.reversed().map { $0.session.id.uuidString.lowercased() })
      for (line, (token, session)) in zip(listed, opened.reversed()) {
        #expect(line.count == 5 && line[1] == "desk")
        #expect(
          line.dropFirst(2) == [session.createdAt, session.lastUsedAt, session.expiresAt].map(RFC3339.string)[...])
        #expect(!line.joined().contains(token))
      }

      let first = opened[0].session.id.uuidString
      let ended = try await installation.run("console", "end", first)
      #expect(ended.status == 0 && ended.output == "" && ended.errors == "")
      #expect(try await list(installation).count == 2)
      let again = try await installation.run("console", "end", first)
      #expect(again.status == 1 && again.output == "")
      #expect(
        again.errors == "tidings: there is no session with the id \(first.lowercased()). "
          + "`tidings console sessions` shows the ids.\n")
      let rest = try await installation.run("console", "end", "--key", "desk")
      #expect(rest.status == 0 && rest.output == "ended 2\n" && rest.errors == "")
      #expect(try await list(installation).isEmpty)
    }
  }

  @Test("A key that is unknown, ambiguous, revoked or expired gets no link, with the sentence of `keys`")
  func refused() async throws {
    try await Installation.with { installation in
      func errors(_ arguments: String...) async throws -> String {
        let process = try ChildProcess(["console"] + arguments, environment: installation.environment())
        let result = await process.result()
        #expect(result.status == 1 && result.output == "")
        return result.errors
      }
      for command in ["link", "end"] {
        #expect(try await errors(command, "--key", "nobody").contains("there is no key with the id or name nobody."))
      }
      _ = try await installation.makeKey()
      _ = try await installation.sql.query("UPDATE api_keys SET expires_at = clock_timestamp()")
      #expect(try await errors("link", "--key", "desk").contains("the key desk has expired"))
      _ = try await installation.sql.query("UPDATE api_keys SET expires_at = NULL")
      _ = try await installation.makeKey()
      #expect(try await errors("link", "--key", "desk").contains("several keys have the name desk. Give the id: "))
      _ = try await installation.sql.query("UPDATE api_keys SET revoked_at = clock_timestamp()")
      #expect(try await errors("link", "--key", "desk").contains("the key desk is revoked"))
    }
  }

  @Test(
    "Incomplete and contradictory arguments are refused",
    arguments: [
      ["link"], ["end"], ["end", "desk"], ["end", "0a8ce3ad-6f1c-4f39-9d5c-a1d5b4b8a8c0", "--key", "desk"],
      ["sessions", "desk"],
    ])
  func arguments(arguments: [String]) async throws {
    try await Installation.with { installation in
      let process = try ChildProcess(["console"] + arguments, environment: installation.environment())
      let result = await process.result()
      #expect(result.status == 64 && result.output == "", "\(result.errors)")
    }
  }

  @Test("With TIDINGS_CONSOLE=false, the server has no console, and there are no links to it")
  func off() async throws {
    try await Installation.with { installation in
      _ = try await installation.makeKey()
      for isOn in [true, false] {
        let changes = isOn ? [:] : ["TIDINGS_CONSOLE": "false"]
        try await installation.serve(changes: changes) { server in
          for target in ["/console", "/console/sign-in"] {
            let status = try await Self.status(target, server)
            #expect((status == 404) == !isOn, "\(target): \(status)")
          }
          #expect(try await server.status("/") == 200)
        }
      }
      let result = try await installation.run("console", "link", "--key", "desk", changes: ["TIDINGS_CONSOLE": "false"])
      #expect(result.status == 78 && result.output == "")
      #expect(result.errors.contains("TIDINGS_CONSOLE is false"))
      #expect(try await installation.value("SELECT count(*) FROM console_links") == 0)
    }
  }

  /// Returns the status of a page, which is not part of the contract.
  private static func status(_ target: String, _ server: RunningServer) async throws -> Int {
    let request = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n"
    return try #require(try await RawConnection.exchange(request, port: server.port).first).status
  }

  @Test("An export of the whole newsroom has neither sessions nor links")
  func export() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let opened = try await withStore(installation) { try #require(try await $0.openSession(key: key)) }
      let code = try printedCode(try await installation.run("console", "link", "--key", "desk"))
      let result = try await installation.run("export", "--all", "--history")
      #expect(result.status == 0 && !result.output.isEmpty)
      let digests: [String] = try await installation.sql.query(
        """
        SELECT encode(digest, 'hex') AS text FROM console_sessions UNION ALL
        SELECT encode(digest, 'base64') FROM console_links
        """
      ).map { try $0.decode("text") }
      #expect(digests.count == 2)
      for secret in [opened.token, code, opened.session.id.uuidString.lowercased()] + digests {
        #expect(!result.output.contains(secret))
      }
    }
  }
}
