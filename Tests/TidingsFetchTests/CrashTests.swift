import Foundation
import News
import NewsClient
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite("A fetch that is killed") struct CrashTests {
  /// The number of random times at which a fetch is killed.
  private static let moments = ProcessInfo.processInfo.environment["TIDINGS_CRASHES"].flatMap { Int($0) } ?? rounds(30)

  @Test(
    "leaves the old or the new state at any system call; the next fetch ends equal to the server",
    .enabled(if: CallFault.isAvailable, "needs strace"))
  func killedAtEachCall() async throws {
    try await overwrites { server, command in
      try await CallFault.kill.inject { try await attempt(server, command, wrapper: $0) }
    }
  }

  @Test(
    "by a full disk fails or succeeds; the next fetch ends equal to the server",
    .enabled(if: CallFault.isAvailable, "needs strace"))
  func fullDisk() async throws {
    try await overwrites { server, command in
      try await CallFault.fullDisk.inject { try await attempt(server, command, wrapper: $0) }
    }
  }

  @Test("at random moments leaves a usable store")
  func killedAtRandom() async throws {
    try await overwrites { server, command in
      var random = SplitMix64(seed: 5)
      for _ in 0..<Self.moments {
        let delay = Int.random(in: 0..<200, using: &random)
        let before = try await change(server, command)
        let process = try command.start(["fetch", "--json"])
        try await Task.sleep(for: .milliseconds(delay))
        process.send(SIGKILL)
        _ = await process.result()
        try await check(before, server, command)
      }
    }
  }

  /// Runs the body with a server that has items, and a store that has fetched them.
  private func overwrites(_ body: @Sendable (TestServer, Command) async throws -> Void) async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        for number in 0..<5 { _ = try await server.publish("item \(number)") }
        _ = try await command.fetch()
        try await body(server, command)
      }
    }
  }

  /// Fetches once with a fault.
  ///
  /// - Returns: Whether the fetch ended normally.
  private func attempt(_ server: TestServer, _ command: Command, wrapper: [String]) async throws -> Bool {
    let before = try await change(server, command)
    let (status, _) = try await command.fetch(wrapper: wrapper)
    try await check(before, server, command)
    return status == 0
  }

  /// Changes the items of the server.
  ///
  /// - Returns: The stored items before the fetch.
  private func change(_ server: TestServer, _ command: Command) async throws -> [NewsItem] {
    let before = try command.storedItems()
    if before.count > 8, let oldest = before.last {
      try await server.store.retract(oldest.id, reason: nil, if: .exists)
    }
    _ = try await server.publish("after \(before.first?.version ?? 0)")
    return before
  }

  /// Checks that the stored items are the previous ones or the server's, and that the next fetch yields the server's.
  private func check(_ before: [NewsItem], _ server: TestServer, _ command: Command) async throws {
    let expected = try await server.get("/v1/items").json(ItemList.self).items
    let items = try command.storedItems()
    #expect(items == before || items == expected)
    let (status, _) = try await command.fetch()
    #expect(status == (items == expected ? 10 : 0))
    #expect(try command.storedItems() == expected)
  }
}
