import BackgroundFetch
import Foundation
import News
import NewsClient
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch") struct CommandTests {
  /// The route to a server.
  enum Way: CaseIterable {
    case direct, proxied, cached

    static let installed = allCases.filter { $0 == .direct || Proxy.isInstalled }
  }

  @Test("fetches all items, then nothing, then published and retracted ones", arguments: Way.installed)
  func fetching(way: Way) async throws {
    try await TestServer.with { server in
      try await reach(server, by: way) { url in
        try await Command.with(server: url) { command in
          _ = try await server.publish("one")
          let item = try await server.publish("two").item
          var (status, report) = try await command.fetch()
          #expect(status == 0)
          #expect(report?.result == .newData)
          #expect((report?.inserted, report?.badge) == (2, 2))
          (status, report) = try await command.fetch()
          #expect(status == 10)
          #expect((report?.result, report?.requests) == (.noData, 1))
          #expect(report?.bytes ?? 1000 < 700)

          _ = try await server.publish("three")
          try await eventuallyFetched(command) { $0.inserted == 1 && $0.updated == 0 && $0.removed == 0 }
          try await server.store.retract(item.id, reason: nil, if: .exists)
          try await eventuallyFetched(command) { $0.inserted == 0 && $0.updated == 0 && $0.removed == 1 }
          #expect(try await command.items() == server.get("/v1/items").json(ItemList.self).items)
          #expect(try await command.run("badge").output == "2\n")
          #expect(try await command.run("open").status == 0)
          #expect(try await command.run("badge").output == "0\n")
        }
      }
    }
  }

  private func reach(
    _ server: TestServer, by way: Way, _ body: @Sendable (_ url: String) async throws -> Void
  ) async throws {
    if way == .direct { return try await body(server.url) }
    try await Proxy.with(try await Proxy(servers: [server.port], cache: way == .cached)) { proxy in
      try await body(proxy.client.url)
    }
  }

  /// Fetches until the cache in between has the change.
  private func eventuallyFetched(_ command: Command, _ isExpected: @escaping (FetchReport) -> Bool) async throws {
    var found: FetchReport?
    try await eventually("there is something new") {
      let (status, report) = try await command.fetch()
      if status == 0 { found = report }
      return status != 10
    }
    let report = try #require(found)
    #expect(isExpected(report), "\(report)")
  }

  @Test("fails with 20 and a message without a server, and keeps the stored items")
  func failing() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let (status, report) = try await command.fetch()
      #expect(status == 20)
      #expect(report?.result == .failed)
      let result = try await command.run("fetch")
      #expect(result.output.hasPrefix("failed: "))
      #expect(result.errors.hasPrefix("tidings-fetch: no response"))
    }
  }

  @Test("has no scheduled fetch before an interval is set, and none after signing out")
  func schedule() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      var (status, report) = try await command.fetch("--scheduled")
      #expect((status, report?.requests) == (10, 0))
      #expect(try await command.run("schedule", "set", "minimum").status == 0)
      #expect(try await command.run("schedule", "show").output.contains("interval  minimum\n"))
      (status, report) = try await command.fetch("--scheduled")
      #expect(status == 20 || status == 10)
      #expect(try await command.run("signout").status == 0)
      (status, report) = try await command.fetch("--scheduled")
      #expect((status, report?.requests) == (10, 0))
      let bad = try await command.run("schedule", "set", "often")
      #expect(bad.status == 64)
      #expect(bad.errors.contains("interval"))
    }
  }

  @Test("remembers the feed; without one, a command names the missing option")
  func remembered() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("A first headline")
        _ = try await command.fetch()
        let environment = ["TIDINGS_STORE": command.folder.path, "TZ": "UTC", "PATH": "/usr/bin:/bin"]
        func run(_ arguments: String..., environment: [String: String] = environment) async throws
          -> ChildProcess.Result
        {
          try await ChildProcess(arguments, executable: ChildProcess.tidings + "-fetch", environment: environment)
            .result()
        }
        #expect(try await run("fetch").status == 10)
        let status = try await run("status").output
        #expect(status.contains("server    \(server.url)\n"))
        #expect(status.contains("items     1, badge 1\n"))
        #expect(status.contains("\nSun  "))
        #expect(try await run("snapshot").output.contains("A first headline"))
        #expect(try await run("log", "--json").output.split(separator: "\n").count == 2)
        let missing = try await run("fetch", environment: ["TIDINGS_STORE": command.folder.path + "-other"])
        #expect(missing.status == 64)
        #expect(missing.errors.contains("--server"))
      }
    }
  }
}
