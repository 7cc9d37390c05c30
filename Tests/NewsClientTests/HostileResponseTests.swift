import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A bad response") struct HostileResponseTests {
  /// Faults that must make a fetch fail.
  private static let faults: [(String, FeedFault)] =
    [
      ("cut in the head", .truncate(at: .inHead)), ("cut in the body", .truncate(at: .body(7))),
      ("reset", .reset(at: .start)), ("reset in the body", .reset(at: .body(7))),
      ("a captive portal", .response(.captivePortal(claiming: "text/html"))),
      ("a captive portal that says JSON", .response(.captivePortal(claiming: "application/json"))),
      ("a bomb", .response(.gzipBomb(expandingTo: 1 << 30, list: "items"))),
      ("a huge body", .response(.huge(bytes: 20 << 20, list: "changes"))),
      ("404", .response(.json("{}", status: 404))), ("500", .response(.json("{}", status: 500))),
      ("no type", .header("Content-Type", nil)),
    ]
    + WrongJSON.allCases.filter { !$0.isGood && !$0.isOpen }.map { ("\($0)", FeedFault.json($0)) }

  @Test("fails the fetch without a change; the next fetch ends equal to the server", arguments: faults)
  func failures(name: String, fault: FeedFault) async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      // The token of a page is in the header, so the fault has no effect on the first fetch.
      if name != "\(WrongJSON.tokenIsGarbage)" {
        installation.feed.fault(next: fault)
        #expect(await client.performFetch().result == .failed, "as the first")
        #expect(try client.allNewsItems.isEmpty)
      }
      #expect(await client.performFetch().result == .newData)
      let before = try client.allNewsItems
      installation.feed.publish("two")
      installation.feed.fault(next: fault)
      #expect(await client.performFetch().result == .failed, "as a delta")
      #expect(try client.allNewsItems == before)
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test(
    "that is only unusual is read, or refused without damage",
    arguments: WrongJSON.allCases.filter { $0.isGood || $0.isOpen }
  )
  func odd(wrong: WrongJSON) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      await client.performFetch()
      installation.feed.publish("one")
      installation.feed.fault(next: .json(wrong))
      let report = await client.performFetch()
      if wrong.isGood { #expect(report.inserted == 1) }
      if report.result == .failed { await client.performFetch() }
      #expect(try client.allNewsItems.map(\.id) == installation.feed.items.map(\.id))
    }
  }

  @Test("from an outdated cache changes nothing")
  func stale() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let client = try installation.client()
      feed.publish("one")
      await client.performFetch()
      let earlier = feed.snapshot
      feed.publish("two")
      await client.performFetch()
      // The response of a cache that has stored an older response for this URL.
      let held = feed.token()
      feed.fault(
        next: .init { original, _ in
          original.body { _ in Data(#"{"changes":[],"more":false,"token":"\#(earlier.token(of: .feed))"}"#.utf8) }
            .removing("Content-Encoding").setting("ETag", "\"x\"").framed(.chunked)
        })
      feed.publish("three")
      #expect(await client.performFetch().result == .noData)
      #expect(try client.hasReached(held))
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test("from an outdated cache is not accepted after an expired token; the old items remain")
  func staleList() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let earlier = feed.token()
      feed.publish("two")
      let client = try installation.client()
      await client.performFetch()
      let held = feed.token()
      feed.publish("three")
      feed.expireTokens()
      feed.fault(next: .header("Sync-Token", "\(earlier)"), path: "/v1/items")
      #expect(await client.performFetch().result == .failed)
      #expect(try client.hasReached(held))
      #expect(try client.allNewsItems.map(\.text) == ["two", "one"])
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test("that announces more without end fails the fetch, and the next fetch ends equal to the server")
  func endless() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      let before = try client.allNewsItems
      let held = feed.token()
      let ahead = SyncToken(epoch: held.epoch, scope: .feed, version: held.version + 100)
      func page(_ token: SyncToken) -> FeedFault {
        .response(.json(#"{"changes":[],"more":true,"token":"\#(token)"}"#))
      }
      _ = installation.requests()
      feed.fault(next: page(held), times: 50)
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests() == ["*/v1/changes"], "the token does not move")
      #expect(try client.allNewsItems == before)
      feed.removeFaults()
      for token in Array(repeating: [ahead, held], count: 25).joined() { feed.fault(next: page(token)) }
      #expect(await client.performFetch().result != .newData)
      #expect(installation.requests() == ["*/v1/changes", "*/v1/changes"], "the version goes back")
      #expect(try client.allNewsItems == before)
      feed.removeFaults()
      feed.publish("two")
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test("to a snapshot that announces more without end fails the fetch, and the next fetch begins again")
  func endlessSnapshot() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      for number in 1...9 { feed.publish("item \(number)") }
      let client = try installation.client()
      let current = feed.token()
      func page(_ position: Int) -> FeedFault {
        let token = SyncToken(epoch: current.epoch, scope: .feed, version: current.version, position: position)
        return .response(.json(#"{"changes":[],"more":true,"snapshot":true,"token":"\#(token)"}"#))
      }
      for position in Array(repeating: [7, 3], count: 25).joined() { feed.fault(next: page(position)) }
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests() == ["/v1/changes", "*/v1/changes"], "the position goes back")
      #expect(try client.allNewsItems.isEmpty)
      feed.removeFaults()
      #expect(await client.performFetch().inserted == 9)
      try installation.expectEqual(client)
    }
  }

  @Test("to a request for a snapshot that has only changes removes no item")
  func noSnapshot() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      feed.moveEpoch(keepingHistory: false)
      feed.fault(next: .init { original, _ in original })
      feed.fault(next: .response(.json(#"{"changes":[],"more":false,"token":"\#(feed.token())"}"#)))
      #expect(await client.performFetch().result == .failed)
      try installation.expectEqual(client)
    }
  }

  @Test("with a length that overflows counts as one without a body")
  func hugeLength() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      installation.feed.fault(
        next: .init { _, _ in
          FaultResponse(status: 304).setting("Content-Encoding", "br").setting("Content-Length", "\(Int.max)")
        })
      let report = await client.performFetch()
      #expect(report.result == .noData)
      #expect(report.bytes < 10_000)
    }
  }

  @Test("A store that is not a database is renamed, and all items are fetched again")
  func corrupt() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      try FileManager.default.createDirectory(at: installation.folder, withIntermediateDirectories: true)
      let file = installation.folder.appending(path: "news.sqlite")
      try Data(repeating: 0x5a, count: 20_000).write(to: file)
      let client = try installation.client()
      #expect(await client.performFetch().result == .newData)
      try installation.expectEqual(client)
      let names = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
      #expect(names.contains { $0.hasPrefix("news.sqlite.broken-") })
    }
  }

  @Test("A store that is damaged while it is open is renamed too")
  func corruptMeanwhile() async throws {
    try await Installation.with { installation in
      for number in 0..<50 { installation.feed.publish(String(repeating: "item \(number) ", count: 100)) }
      let client = try installation.client()
      await client.performFetch()
      // Overwrites all pages except the first, in the database file and in its log.
      for name in ["news.sqlite", "news.sqlite-wal"] {
        let file = try FileHandle(forUpdating: installation.folder.appending(path: name))
        let size = try file.seekToEnd()
        if size > 8192 {
          try file.seek(toOffset: 4096)
          try file.write(contentsOf: Data(repeating: 0x5a, count: Int(size) - 4096))
        }
        try file.close()
      }
      // The first read of an uncached page detects the fault; the next fetch is then like a first start.
      let next = try installation.client()
      _ = try? next.allNewsItems
      #expect(await next.performFetch().result == .newData)
      try installation.expectEqual(next)
      let names = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
      #expect(names.contains { $0.hasPrefix("news.sqlite.broken-") })
    }
  }
}
