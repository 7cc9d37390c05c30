import FaultServer
import Foundation
import NewsClient
import NewsStore
import TestSupport
import Testing

@Suite("tidings-fetch simulate") struct SimulateTests {
  /// Runs a simulation and returns its lines without the times.
  private func play(_ command: Command, _ words: [String]) async throws -> (status: Int32, lines: [String]) {
    let result = try await command.start(["simulate"] + words).result()
    return (result.status, result.output.split(separator: "\n").map { String($0.dropFirst(11)) })
  }

  @Test("has the same result for a suspended app and for a launched one")
  func aliveAndDead() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        let alive = [
          "didLaunch", "willEnterForeground", "didEnterForeground", "didBecomeActive", "willResignActive",
          "didEnterBackground", "suspended", "wake",
        ]
        for (words, before) in [(["fetch"], alive), (["launch"], ["wake", "didLaunch"])] {
          _ = try await server.publish("one")
          let first = try await play(command, words)
          #expect(first.status == 0)
          #expect(Array(first.lines.prefix(before.count)) == before)
          #expect(first.lines.dropFirst(before.count).first?.hasPrefix("newData: 1 new, 0 changed, 0 removed;") == true)
          let second = try await play(command, words)
          #expect(second.status == 10)
          #expect(second.lines.contains { $0.hasPrefix("noData: 0 new, 0 changed, 0 removed; 1 request,") })
          #expect(second.lines.last == (words == ["fetch"] ? "suspended" : "terminated"))
        }
      }
    }
  }

  @Test("sends a push to either, and no request for an empty push", arguments: [[], ["--dead"]])
  func push(options: [String]) async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("one")
        #expect(try await play(command, ["push"] + options).status == 0)
        _ = try await server.publish("two")
        let (status, lines) = try await play(command, ["push", #"{"aps":{}}"#] + options)
        #expect(status == 10)
        #expect(lines.contains { $0.contains("; 0 requests") })
        let token = try #require(try await server.get("/v1/items")["Sync-Token"])
        let payload = #"{"aps":{"content-available":1},"token":"\#(token)"}"#
        #expect(try await play(command, ["push", payload] + options).status == 0)
        #expect(try await play(command, ["push", payload] + options).status == 10)
      }
    }
  }

  @Test("expires after 25 and 30 seconds, like a fetch with a response that takes a minute")
  func expiry() async throws {
    let feed = FaultFeed()
    feed.publish("one")
    feed.fault(next: .drip(over: .seconds(60)))
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: "http://127.0.0.1:1") { silent in
        try await Command.with(server: server.url) { dripping in
          async let expired = play(silent, ["expire"])
          let start = ContinuousClock.now
          let (status, report) = try await dripping.fetch()
          let duration = ContinuousClock.now - start
          #expect(status == 20)
          #expect(report?.error == "the fetch did not end within 30 s")
          #expect(report?.requests == 1)
          #expect((report?.bytes ?? 0) > 0)
          #expect(duration >= .seconds(29.5))
          #expect(try dripping.storedItems().isEmpty)
          let play = try await expired
          #expect(play.status == 20)
          #expect(play.lines.contains("expiration handler, 5.0 s left"))
          #expect(play.lines.contains("failed: the fetch did not end within 30 s"))
          #expect(!FileManager.default.fileExists(atPath: silent.folder.path), "the store is left alone")
        }
      }
    }
  }

  @Test("prints a week of a reader, and lists the known names after an unknown one")
  func week() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await command.run(
        "simulate", "week", "--personas", "one-pm-reader", "--newsrooms", "office-hours", "--days", "2")
      #expect(result.status == 0)
      #expect(result.output.hasPrefix("one-pm-reader, office-hours, 2 days\n"))
      #expect(["scheduler", "exponential", "fixed", "fixed-jitter"].allSatisfy { result.output.contains("\n\($0)") })
      let unknown = try await command.run("simulate", "week", "--personas", "nobody")
      #expect(unknown.status == 64)
      #expect(unknown.errors.contains("commuter, night-owl, one-pm-reader, random, weekend-reader"))
    }
  }
}
