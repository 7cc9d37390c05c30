import Foundation
import NewsStore
import TestKit
import TestSupport
import Testing

/// Each command with a failing dependency: it must print a sentence, exit with the documented code, and print JSON if
/// requested.
@Suite struct CommandFailureTests {
  private static let commands: [[String]] = [
    ["serve"], ["migrate"], ["migrate", "--check"], ["import", "--json", "/dev/null"], ["export"], ["keys", "list"],
    ["keys", "create", "--name", "desk", "--scope", "items:write"], ["keys", "revoke", "x"], ["epoch", "show"],
    ["epoch", "new"], ["purge", "--older-than", "1d"], ["doctor", "--json"], ["import", "/dev/null"],
    ["export", "--all"], ["subscriptions", "poll"],
  ]

  /// Runs a command with another connection string.
  private static func run(_ arguments: [String], database: String) async throws -> ChildProcess.Result {
    var environment = ChildProcess.environment(databaseURL: database)
    environment["TIDINGS_PORT"] = "0"
    return try await ChildProcess(arguments, environment: environment).result()
  }

  /// Expects a sentence on standard error that is not a dump of a Swift value, and JSON on standard output if
  /// requested.
  private static func expectSentence(
    _ result: ChildProcess.Result, of arguments: [String], status: Int32, containing text: String
  ) throws {
    let isDoctor = arguments[0] == "doctor"
    #expect(result.status == (isDoctor ? 1 : status), "\(arguments): \(result.errors)")
    let message: String
    if isDoctor {
      let findings = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: String]]
      message = findings?.compactMap { $0["status"] == "problem" ? $0["message"] : nil }.joined(separator: "\n") ?? ""
    } else {
      let complaints = result.errors.split(separator: "\n").filter { $0.hasPrefix("tidings: ") }
      #expect(complaints.count == 1, "\(arguments): \(result.errors)")
      message = complaints.joined()
    }
    if arguments.contains("--json"), !isDoctor {
      let counts = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      #expect(counts?["inserted"] as? Int == 0)
      #expect((counts?["error"] as? String)?.contains(text) == true, "\(result.output)")
    } else if !isDoctor {
      #expect(result.output == "", "\(arguments)")
    }
    #expect(message.contains(text), "\(arguments): \(message)")
    for dump in ["Error(", "errno:", "code:", "Optional("] {
      #expect(!message.contains(dump), "\(arguments): \(message)")
      #expect(!result.errors.contains("PostgresError("), "\(arguments): \(result.errors)")
    }
  }

  /// Runs all commands concurrently and expects the same failure of each.
  private static func expectFailures(
    database: String, status: Int32, containing text: String, within limit: Duration = .seconds(60)
  ) async throws {
    try await withThrowingTaskGroup { group in
      for arguments in commands {
        group.addTask {
          let began = ContinuousClock.now
          let result = try await run(arguments, database: database)
          try expectSentence(result, of: arguments, status: status, containing: text)
          #expect(.now - began < limit, "\(arguments)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("Without a database each command names its address and the setting")
  func noDatabase() async throws {
    try await Self.expectFailures(
      database: "postgresql://tidings@127.0.0.1:1/x", status: 69,
      containing: "cannot reach the database at 127.0.0.1:1: connection refused. Is it running? (DATABASE_URL)")
  }

  @Test("With a database that does not exist each command names it")
  func unknownDatabase() async throws {
    var components = try #require(URLComponents(string: try TestCluster.sharedURL))
    components.path = "/nowhere"
    try await Self.expectFailures(
      database: try #require(components.string), status: 69, containing: #"database "nowhere" does not exist"#)
  }

  @Test("With a database of a version before 1.0 each command says how to move the news")
  func prerelease() async throws {
    try await withTestDatabase { url in
      try await NewsDatabase.notePrereleaseMigrations(["0001_items_and_topics.sql"], url)
      try await Self.expectFailures(database: url, status: 1, containing: "\(MigrationError.prerelease)")
    }
  }

  @Test("With a wrong password each command names the user and never the password")
  func wrongPassword() async throws {
    try await TestCluster.withCluster { cluster in
      try await TestDatabase.execute("CREATE ROLE reader LOGIN PASSWORD 'right'", at: cluster.url)
      try await cluster.install([
        "pg_hba.conf": "host all reader 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
      ])
      let url = await cluster.url.replacing("tidings@", with: "reader:geheim@")
      try await Self.expectFailures(
        database: url, status: 69, containing: #"password authentication failed for user "reader""#)
      let result = try await Self.run(["migrate"], database: url)
      #expect(!result.errors.contains("geheim"))
    }
  }

  @Test("A database server that accepts connections but does not respond fails each command after the connect timeout")
  func silentServer() async throws {
    let socket = try ListeningSocket()
    defer { socket.close() }
    try await Self.expectFailures(
      database: "postgresql://tidings@127.0.0.1:\(socket.port)/x", status: 69, containing: "no answer in time",
      within: .seconds(50))
  }

  @Test("A malformed connection string is refused without showing it")
  func malformed() async throws {
    try await Self.expectFailures(
      database: "password=geheim oops", status: 69, containing: "connection string is malformed")
  }

  @Test("A port or address that cannot be used is named with its setting, and nothing else is logged")
  func listening() async throws {
    try await Installation.with { installation in
      let socket = try ListeningSocket()
      defer { socket.close() }
      for (changes, texts) in [
        (["TIDINGS_PORT": "\(socket.port)"], ["127.0.0.1:\(socket.port)", "in use", "TIDINGS_PORT"]),
        (["TIDINGS_HOST": "192.0.2.1"], ["192.0.2.1:0", "TIDINGS_HOST"]),
        (["TIDINGS_HOST": "nowhere.invalid"], ["nowhere.invalid:0", "TIDINGS_HOST"]),
      ] {
        let result = try await installation.run("serve", changes: changes)
        #expect(result.status == 1)
        let lines = result.errors.split(separator: "\n")
        for text in texts { #expect(lines.last?.contains(text) == true, "\(result.errors)") }
        #expect(lines.last?.hasPrefix("tidings: cannot listen on ") == true)
        #expect(lines.last?.contains("errno") == false)
        // The only warning concerns the durability of the test cluster.
        let warnings = lines.filter { $0.contains("warning") && !$0.contains("fsync") }
        #expect(warnings.isEmpty && !result.errors.contains("PostgresError"), "\(result.errors)")
      }
    }
  }

  @Test("A database that loses writes in a crash is refused with the repair before the exception")
  func durability() async throws {
    try await Installation.with { installation in
      let result = try await installation.run("serve", changes: ["TIDINGS_ALLOW_UNSAFE_DURABILITY": ""])
      let repair = try #require(result.errors.firstRange(of: "postgresql.conf"))
      let exception = try #require(result.errors.firstRange(of: "TIDINGS_ALLOW_UNSAFE_DURABILITY"))
      #expect(repair.lowerBound < exception.lowerBound)
    }
  }

  @Test("Results that cannot be written are an error; diagnostics that cannot be written are not")
  func standardStreams() async throws {
    try await Installation.with { installation in
      let tidings = ChildProcess.tidings
      func shell(_ redirection: String, _ command: String) async throws -> ChildProcess.Result {
        try await ChildProcess(
          ["-c", "exec '\(tidings)' \(command) \(redirection)"], executable: "/bin/sh",
          environment: installation.environment()
        ).result()
      }
      _ = try await installation.run("keys", "create", "--name", "desk", "--scope", "items:write")
      let commands = [
        "migrate", "import --json /dev/null", "keys list", "epoch show", "epoch new", "purge --older-than 1d",
        "doctor --json", "--version", "--help", "keys create --name a --scope items:write", "export --all",
        "subscriptions export",
      ]
      for command in commands {
        for (redirection, reason) in [(">/dev/full", "no space left on device"), (">&-", "bad file descriptor")] {
          let result = try await shell(redirection, command)
          #expect(result.status == 1, "\(command) \(redirection)")
          #expect(
            result.errors.hasSuffix("tidings: cannot write to standard output: \(reason)\n"),
            "\(command) \(redirection): \(result.errors)")
        }
        let plain = try await shell("2>&1", command)
        for redirection in ["2>&-", "2>/dev/full", "<&-"] {
          let result = try await shell(redirection, command)
          #expect(result.status == plain.status, "\(command) \(redirection)")
          #expect(!result.output.isEmpty, "\(command) \(redirection)")
        }
      }
      let input = try await shell("<&-", "import --json -")
      #expect(input.status == 1)
      #expect(input.output.contains(#""unreadable":1"#))
      // No output reached the database's socket through a closed standard stream.
      #expect(try await installation.run("migrate", "--check").status == 0)
    }
  }

  @Test("A server whose log cannot be written serves requests", arguments: ["2>&-", "2>/dev/full", ">&- <&-"])
  func silentServing(redirection: String) async throws {
    try await Installation.with { installation in
      let manager = try NotifySocket()
      defer { manager.close() }
      let port = try Loopback.freePort()
      let process = try ChildProcess(
        ["-c", "exec '\(ChildProcess.tidings)' serve --port \(port) \(redirection)"], executable: "/bin/sh",
        environment: installation.environment(["NOTIFY_SOCKET": manager.name]))
      #expect(try await manager.next().hasPrefix("READY=1\n"))
      let client = TestClient(url: "http://127.0.0.1:\(port)")
      #expect(try await client.send("GET", "/v1/items").status == 200)
      process.send(SIGTERM)
      #expect(await process.result().status == 0)
    }
  }
}
