import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("The command fetch") struct FetchLimitTests {
  /// Runs the body with a feed with items.
  private func with(_ items: Int, _ body: @Sendable (FaultFeed, FaultServer, Command) async throws -> Void) async throws
  {
    let feed = FaultFeed()
    for number in 0..<items { feed.publish("item \(number)", title: "Title \(number)") }
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in try await body(feed, server, command) }
    }
  }

  @Test("refuses a time limit that it would not have")
  func timeout() async throws {
    try await with(1) { _, server, command in
      for arguments in [["fetch", "--timeout", "31"], ["fetch", "--scheduled", "--timeout", "120"]] {
        let refused = try await command.start(arguments).result()
        #expect(refused.status == 64 && refused.errors.contains("'--timeout' takes 1...30"), "\(refused.errors)")
      }
      #expect(server.requests.isEmpty)
      #expect(try await command.run("fetch", "--timeout", "30").status == 0)
    }
  }

  @Test("counts what a full copy has received as progress, and goes on with it")
  func progress() async throws {
    try await with(500) { feed, server, command in
      for _ in 0..<2 { feed.fault(next: .init { original, _ in original }) }
      feed.fault(next: .hang(at: .body(10)))
      let result = try await command.run("--window", "0", "fetch", "--timeout", "5")
      #expect(result.status == 10, "\(result.output) \(result.errors)")
      #expect(result.output == "noData: received 400 items so far; the next fetch continues\n")
      #expect(result.errors == "")
      #expect(try command.storedItems().isEmpty)
      _ = server.takeRequests()
      #expect(try await command.fetch().report?.inserted == 500)
      #expect(server.takeRequests().count == 1)
    }
  }

  @Test("killed during a full copy leaves the old or the new items, and the next one ends equal to the server")
  func killed() async throws {
    try await with(600) { feed, _, command in
      #expect(try await command.start(["--window", "0", "fetch"]).result().status == 0)
      var random = SplitMix64(seed: 7)
      var kinds: Set<Bool> = []
      for round in 0..<20 {
        let before = try command.storedItems()
        feed.retract(feed.items[300].id)
        feed.publish("after \(round)")
        feed.moveEpoch(keepingHistory: false)
        let process = try command.start(["--window", "0", "fetch"])
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<1500, using: &random)))
        process.send(SIGKILL)
        _ = await process.result()
        let after = try command.storedItems()
        #expect(after == before || after == feed.items, "round \(round)")
        kinds.insert(after == before)
        let (status, report) = try await command.fetch()
        #expect(status == (after == feed.items ? 10 : 0), "\(String(describing: report))")
        #expect(try command.storedItems() == feed.items)
      }
      #expect(kinds.contains(true))
    }
  }

  @Test("prints the wait of a server in status, and fetches from another one")
  func waits() async throws {
    try await with(1) { _, _, command in
      #expect(try await command.run("fetch").status == 0)
      try await FaultServer.with({ _ in .busy(503, retryAfter: .seconds(5000)) }) { wrong in
        let other = Command(server: wrong.url, folder: command.folder)
        #expect(try await other.run("fetch").status == 20)
        #expect(try await command.run("fetch").status == 10)
        let status = try await command.run("status").output
        #expect(status.contains("waits     \(wrong.url) accepts no requests until "), "\(status)")
      }
    }
  }

  @Test("says at once that another fetch is stopped")
  func stopped() async throws {
    try await with(1) { feed, server, command in
      feed.fault(next: .hang(at: .start))
      let process = try command.start(["fetch"])
      try await eventually("it has sent a request") { !server.requests.isEmpty }
      process.send(SIGSTOP)
      let start = ContinuousClock.now
      let result = try await command.run("fetch")
      #expect(ContinuousClock.now - start < .seconds(25))
      #expect(result.status == 20)
      #expect(result.output.contains("is stopped; continue it with kill -CONT"), "\(result.output)")
      process.send(SIGKILL)
      process.send(SIGCONT)
      _ = await process.result()
      #expect(try await command.run("fetch").status == 0)
    }
  }

  @Test("and the others print one sentence for a request that cannot be fulfilled")
  func sentences() async throws {
    try await with(1) { _, _, command in
      #expect(try await command.run("fetch").status == 0)
      let missing = try await command.run("show", "e0dcc5")
      #expect(missing.status == 20)
      #expect(
        missing.errors == "tidings-fetch: no stored item has the id 'e0dcc5'; tidings-fetch list prints the ids\n")
      let homeless = try await ChildProcess(
        ["list"], executable: ChildProcess.tidings + "-fetch", environment: ["PATH": "/usr/bin:/bin"]
      ).result()
      #expect(homeless.status == 64 && homeless.errors.hasPrefix("Error: HOME is not set"), "\(homeless.errors)")
      #expect(!homeless.errors.contains("Usage"))
      #expect(try await command.run("schedule", "set", "minimum").status == 0)
      let lines = try await command.run("status").output.split(separator: "\n")
      let next = try #require(lines.first { $0.hasPrefix("next      ") })
      #expect(next.hasSuffix(")") && !next.contains("no time is better"))
    }
  }

  @Test("prints a failure once on a terminal", .enabled(if: program("script") != nil, "needs script"))
  func once() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let script = try #require(program("script"))
      let result = try await command.start(
        ["fetch"], wrapper: ["/bin/sh", "-c", #"exec \#(script) -qec "$(printf "'%s' " "$0" "$@")" /dev/null"#]
      ).result()
      #expect(result.output.components(separatedBy: "connection refused").count == 2, "\(result.output)")
    }
  }
}
