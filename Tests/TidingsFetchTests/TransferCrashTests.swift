import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import TestSupport
import Testing

@Suite("Transfers whose process is killed again and again", .timeLimit(.minutes(5))) struct TransferCrashTests {
  /// Runs the body with a server that never responds to `/bad`.
  private func serving(_ body: @Sendable (FaultServer, Command) async throws -> Void) async throws {
    try await FaultServer.with({ request in
      let response = FaultResponse(body: Data("news".utf8))
      return request.path == "/bad" ? response.hanging(at: .start) : response
    }) { server in
      try await Command.with(server: server.url) { try await body(server, $0) }
    }
  }

  private func worker(_ command: Command) async throws -> Int32 {
    let lock = FetchLock(path: command.folder.appending(path: "transfers/worker.lock").path)
    try await eventually("there is a worker") { lock.holder.map { kill($0, 0) == 0 } == true }
    return try #require(lock.holder)
  }

  /// Ends the worker when it has requested the bad file again.
  private func end(_ signal: Int32, _ server: FaultServer, _ command: Command, attempt: Int) async throws {
    try await eventually("it is under way") { server.requests.count { $0.path == "/bad" } >= attempt }
    let process = try await worker(command)
    kill(process, signal)
    try await eventually("it has ended") { kill(process, 0) != 0 }
  }

  private func begin(_ command: Command, _ server: FaultServer, _ name: String) async throws {
    let output = command.folder.appending(path: name).path
    #expect(try await command.run("download", server.url + "/" + name, "--output", output).status == 0)
  }

  private func states(_ command: Command) throws -> [Transfer.State] {
    try TransferJournal(store: command.folder).transfers().map(\.state)
  }

  @Test("end only the transfer at which two processes have crashed")
  func crashes() async throws {
    try await serving { server, command in
      try await begin(command, server, "bad")
      try await end(SIGKILL, server, command, attempt: 1)
      try await begin(command, server, "one")
      try await end(SIGKILL, server, command, attempt: 2)
      try await begin(command, server, "two")
      try await eventually("the others are complete") { try states(command) == [.failed, .finished, .finished] }
      let list = try await command.run("transfers").output
      #expect(
        list.contains("1  failed  0 B  bad: the process of the transfers has crashed 2 times during this one"),
        "\(list)")
      #expect(server.requests.count { $0.path == "/bad" } == 2)
    }
  }

  @Test("continue if it is told to end", arguments: [SIGTERM, SIGINT])
  func terminated(signal: Int32) async throws {
    try await serving { server, command in
      try await begin(command, server, "bad")
      for attempt in 1...3 {
        try await end(signal, server, command, attempt: attempt)
        _ = try await command.run("transfers")
      }
      try await eventually("it is under way") { server.requests.count { $0.path == "/bad" } >= 4 }
      server.release()
      try await eventually("it is complete") { try states(command) == [.finished] }
    }
  }

  @Test("go on in a new process while they are shown")
  func shown() async throws {
    try await serving { server, command in
      let output = command.folder.appending(path: "bad").path
      let display = try command.start(["download", server.url + "/bad", "--output", output, "--wait"])
      try await end(SIGKILL, server, command, attempt: 1)
      // The display looks for a worker every five seconds.
      try await eventually("a new worker tries again") { server.requests.count { $0.path == "/bad" } == 2 }
      server.release()
      #expect(await display.result().status == 0)
    }
  }

  @Test("go on when the terminal is closed, with the same request")
  func hangup() async throws {
    try await serving { server, command in
      try await begin(command, server, "bad")
      try await eventually("it is under way") { server.requests.count == 1 }
      let process = try await worker(command)
      kill(process, SIGHUP)
      server.release()
      try await eventually("it is complete") { try states(command) == [.finished] }
      #expect(server.requests.count == 1)
    }
  }

  @Test("are private within the store, and follow the umask elsewhere", arguments: ["022", "027", "077"])
  func modes(umask: String) async throws {
    try await serving { server, command in
      let wrapper = ["/bin/sh", "-c", "umask \(umask); exec \"$@\"", "sh"]
      let manager = FileManager.default
      try manager.createDirectory(
        at: command.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      let output = command.folder.path + "-output"
      defer { try? manager.removeItem(atPath: output) }
      func run(_ words: String...) async throws { _ = try await command.start(words, wrapper: wrapper).result() }
      try await run("fetch")
      try await run("schedule", "set", "1h")
      try await run("download", server.url + "/x", "--output", output, "--wait")
      let mode = try #require(try manager.attributesOfItem(atPath: output)[.posixPermissions] as? Int)
      #expect(mode == 0o666 & ~(Int(umask, radix: 8) ?? 0))
      let names = try manager.subpathsOfDirectory(atPath: command.folder.path)
      #expect(names.contains("news.sqlite"))
      for name in names {
        let attributes = try manager.attributesOfItem(atPath: command.folder.appending(path: name).path)
        let mode = attributes[.posixPermissions] as? Int ?? 0
        #expect(mode & 0o077 == 0, "\(name) has \(String(mode, radix: 8))")
      }
    }
  }

  @Test("are listed by the names of their files and the headline of the item")
  func names() async throws {
    try await serving { server, command in
      let journal = try TransferJournal(store: command.folder)
      let url = try #require(URL(string: server.url + "/media/petrel-at-dawn.jpg?w=800"))
      let file = command.folder.appending(path: "attachments/" + String(repeating: "2c", count: 32))
      let headline = "Night ferry returns to the harbour after a week of storms"
      _ = try journal.add(TransferRequest(download: url, to: file), description: headline)
      let line = try await command.run("transfers").output
      #expect(line.hasPrefix("1  suspended  0 B  petrel-at-dawn.jpg (Night ferry returns to the harbour"), "\(line)")
      #expect(line.hasSuffix(")\n") && !line.contains("storms"), "\(line)")
      #expect(try await command.run("transfers", "--json").output.contains(#""description":"\#(headline)""#))
    }
  }

  @Test("are joined by a payload that must end within ten seconds", .timeLimit(.minutes(3)))
  func payload() async throws {
    try await serving { _, command in
      try FileManager.default.createDirectory(at: command.folder, withIntermediateDirectories: true)
      let pipe = command.folder.appending(path: "pipe").path
      // The process itself holds the writing end, so the input never ends.
      let wrapper = ["/bin/sh", "-c", "mkfifo '\(pipe)'; exec 3<>'\(pipe)'; exec \"$@\" <&3", "sh"]
      let start = ContinuousClock.now
      let result = try await command.start(["push", "receive"], wrapper: wrapper).result()
      #expect(result.status == 20)
      #expect(result.errors.contains("the input has not ended within 10 s"), "\(result.errors)")
      #expect(ContinuousClock.now - start >= .seconds(10))
    }
  }

  @Test(
    "and redirects to a port that does not exist end neither a fetch nor the process",
    arguments: ["99999", "18446744073709551616"])
  func ports(port: String) async throws {
    try await FaultServer.with({ request in
      request.path == "/good"
        ? FaultResponse(body: Data("news".utf8))
        : .redirect(.text("http://127.0.0.1:\(port)/x"), from: request)
    }) { server in
      try await Command.with(server: server.url) { command in
        let fetch = try await command.run("fetch")
        #expect(fetch.status == 20)
        #expect(fetch.errors.contains("the redirect has no valid Location"), "\(fetch.errors)")
        let bad = try await command.run(
          "download", server.url + "/bad", "--output", command.folder.appending(path: "bad").path, "--wait")
        #expect(bad.status == 20)
        let good = try await command.run(
          "download", server.url + "/good", "--output", command.folder.appending(path: "good").path, "--wait")
        #expect(good.status == 0, "\(good.errors)")
        for words in [
          ["download", "http://127.0.0.1:\(port)/", "--output", "/tmp/x"], ["--server", "http://a:\(port)", "fetch"],
        ] {
          #expect(try await command.start(words).result().status == 64)
        }
      }
    }
  }
}
