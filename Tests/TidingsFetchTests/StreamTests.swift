import FaultServer
import Foundation
import News
import TestSupport
import Testing

@Suite("The standard streams of tidings-fetch") struct StreamTests {
  /// The fault of a standard stream.
  enum Fate: String, CaseIterable {
    case closed = ">&-"
    case full = ">/dev/full"

    /// Returns the redirection for the shell that runs the command.
    func redirection(_ descriptor: Int) -> String { "\(descriptor)\(rawValue)" }
  }

  /// All commands that print something, with their exit statuss when the output succeeds.
  static let printing: [([String], Int32)] = [
    (["fetch"], 10), (["fetch", "--json"], 10), (["fetch", "--scheduled"], 10), (["list"], 0), (["list", "--json"], 0),
    (["snapshot"], 0), (["snapshot", "--json"], 0), (["badge"], 0), (["log"], 0), (["log", "--json"], 0),
    (["status"], 0), (["schedule", "show"], 0), (["schedule", "set", "5m"], 0), (["transfers"], 0),
    (["transfers", "list", "--json"], 0), (["simulate", "fetch"], 10), (["simulate", "launch"], 10),
    (["simulate", "push", "{}"], 10),
    (["simulate", "week", "--personas", "one-pm-reader", "--newsrooms", "office-hours", "--days", "1"], 0),
    (["schedule", "install", "--no-start"], 0), (["schedule", "uninstall"], 0), (["--version"], 0), (["--help"], 0),
    (["upload", "/etc/hostname", "SERVER/upload"], 0),
  ]

  private func shell(_ command: Command, _ redirections: String, _ arguments: [String]) async throws
    -> ChildProcess.Result
  {
    let words = arguments.map { $0.replacingOccurrences(of: "SERVER", with: command.server) }
    let process = try command.start(words, wrapper: ["/bin/sh", "-c", "exec \"$@\" \(redirections)", "sh"])
    return await process.result()
  }

  /// Runs the body with a store that has an item and a transfer.
  private func with(_ body: @Sendable (Command) async throws -> Void) async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with({ request in
      request.path.hasPrefix("/v1/") ? feed.respond(request) : FaultResponse(status: 404)
    }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        let output = command.folder.appending(path: "x").path
        #expect(try await command.run("download", server.url + "/x", "--output", output, "--wait").status == 20)
        try await body(command)
      }
    }
  }

  @Test("that cannot be written end every command with 20 and a message", arguments: Fate.allCases)
  func output(fate: Fate) async throws {
    try await with { command in
      for (arguments, expected) in Self.printing {
        let plain = try await shell(command, "", arguments)
        #expect(plain.status == expected, "\(arguments): \(plain.errors)")
        let result = try await shell(command, fate.redirection(1), arguments)
        #expect(result.status == 20, "\(arguments): \(result.errors)")
        #expect(
          result.errors.contains("tidings-fetch: cannot write the result: "), "\(arguments): \(result.errors)")
      }
    }
  }

  @Test("for errors do not affect the result if they cannot be written", arguments: Fate.allCases)
  func errors(fate: Fate) async throws {
    try await with { command in
      for (arguments, expected) in Self.printing {
        let result = try await shell(command, fate.redirection(2), arguments)
        #expect(result.status == expected, "\(arguments)")
        let both = try await shell(command, fate.redirection(1) + " " + fate.redirection(2), arguments)
        #expect(both.status == 20, "\(arguments)")
        let none = try await shell(command, "<&- " + fate.redirection(1) + " " + fate.redirection(2), arguments)
        #expect(none.status == 20, "\(arguments)")
      }
    }
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await shell(command, fate.redirection(2), ["fetch", "--json"])
      #expect(result.status == 20)
      #expect(result.output.contains(#""result":"failed""#))
      #expect(try await command.run("log").output.contains("failed"))
    }
  }

  @Test("that the reader has closed end a command without a message, with the code of its result")
  func readerGone() async throws {
    try await with { command in
      for (arguments, expected) in Self.printing where !arguments[0].hasPrefix("simulate") {
        let words = arguments.map { $0.replacingOccurrences(of: "SERVER", with: command.server) }
        let process = try command.start(
          words, wrapper: ["/bin/bash", "-c", "sleep 0.3; exec \"$@\"", "bash"], closingOutput: true)
        let result = await process.result()
        #expect(result.status == (arguments[0] == "fetch" ? expected : 0), "\(arguments)")
        #expect(!result.errors.contains("rash"), "\(arguments): \(result.errors)")
      }
      let push = try command.start(
        ["push", "receive"], wrapper: ["/bin/bash", "-c", "sleep 0.3; exec \"$@\" </dev/null", "bash"],
        closingOutput: true)
      let received = await push.result()
      #expect(received.status == 10, "\(received.errors)")
    }
  }

  @Test("that cannot be written end watch", arguments: Fate.allCases)
  func watch(fate: Fate) async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        let result = try await shell(command, fate.redirection(1), ["watch"])
        #expect(result.status == 20)
        #expect(result.errors.contains("tidings-fetch: cannot write the result: "), "\(result.errors)")
      }
    }
  }

  @Test("that the reader has closed end watch")
  func watch() async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        let process = try command.start(["watch"], closingOutput: true)
        let result = await process.result()
        #expect(result.status == 0)
        #expect(!result.errors.contains("rash"), "\(result.errors)")
      }
    }
  }
}
