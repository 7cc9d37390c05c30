import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("A feed that fails for a day") struct FailingFeedTests {
  /// Responses to a request for changes that only a fresh start can heal.
  private static let refusals: [(String, FeedFault)] = [
    ("410 without a problem", .response(.json("{}", status: 410))),
    ("400", .response(.json("{}", status: 400))), ("404", .response(.json("{}", status: 404))),
    (
      "a token of another form",
      .response(.json(#"{"changes":[],"more":false,"token":"v2:ZmFuY3k_next-format~1"}"#))
    ),
    (
      "too many changes",
      .response(
        .json(
          #"{"changes":[{"op":"later"}\#(String(repeating: #",{"op":"later"}"#, count: 200))],"#
            + #""more":false,"token":"1k3x9qam9pkx.10"}"#))
    ),
  ]

  @Test("starts again once a day, and shows the old items meanwhile", arguments: refusals)
  func healing(name: String, refusal: FeedFault) async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      feed.publish("two")
      feed.fault(next: refusal, times: 100, path: "/v1/changes")
      for hour in 0..<24 {
        #expect(await client.performFetch().result == .failed, "hour \(hour)")
        #expect(try client.allNewsItems.map(\.text) == ["one"])
        installation.clock.advance(by: 3600)
      }
      _ = installation.requests()
      let report = await client.performFetch()
      #expect((report.result, report.inserted, report.badge) == (.newData, 1, 2))
      #expect(installation.requests() == ["*/v1/changes", "/v1/items"])
      try installation.expectEqual(client)
      // The server still refuses the token, so the next start is a day away.
      feed.publish("three")
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 86_399)
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 1)
      #expect(await (try installation.client()).performFetch().inserted == 1)
      feed.removeFaults()
      #expect(await client.performFetch().result == .noData)
    }
  }

  @Test("because its page has no token shows the items once a day", arguments: [nil, "abc.1"])
  func missingToken(token: String?) async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      feed.fault(next: .header("Sync-Token", token), times: 100)
      let client = try installation.client()
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 86_401)
      #expect(await client.performFetch().inserted == 1)
      feed.publish("two")
      #expect(await client.performFetch().result == .failed)
      #expect(try client.allNewsItems.map(\.text) == ["one"])
      installation.clock.advance(by: 86_401)
      #expect(await client.performFetch().badge == 2)
      feed.removeFaults()
      #expect(await client.performFetch().result == .noData)
      #expect(try client.hasReached(feed.token()))
    }
  }

  @Test("starts again once a day even if that fails too")
  func hopeless() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      installation.feed.publish("one")
      await client.performFetch()
      installation.feed.fault(next: .response(.json("{}", status: 400)), times: 1000)
      await client.performFetch()
      installation.clock.advance(by: 86_401)
      _ = installation.requests()
      for _ in 0..<5 { await client.performFetch() }
      #expect(installation.requests().filter { $0 == "/v1/items" }.count == 1)
      #expect(try client.allNewsItems.map(\.text) == ["one"])
    }
  }

  @Test("because the server is down or offline does not start again")
  func unavailable() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      installation.feed.publish("one")
      await client.performFetch()
      installation.feed.fault(next: .response(.json("{}", status: 500)), times: 3)
      for _ in 0..<3 {
        let report = await client.performFetch()
        #expect(report.result == .failed && report.badge == 1)
        installation.clock.advance(by: 86_401)
      }
      _ = installation.requests()
      await client.performFetch()
      #expect(installation.requests() == ["*/v1/changes"])
    }
  }

  @Test("starts no other feed again")
  func otherFeed() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      await client.performFetch()
      installation.feed.fault(next: .response(.json("{}", status: 400)))
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 86_401)
      installation.feed.publish("goal", topics: ["sport"])
      var other = installation
      other.topics = ["sport"]
      installation.feed.fault(next: .header("Sync-Token", nil))
      #expect(await (try other.client()).performFetch().result == .failed, "it has not failed for a day")
    }
  }

  @Test("is none if a fetch in between has succeeded")
  func recovered() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      await client.performFetch()
      for result in [FetchResult.failed, .noData, .failed] {
        if result == .failed { installation.feed.fault(next: .response(.json("{}", status: 400))) }
        #expect(await client.performFetch().result == result)
        installation.clock.advance(by: 50_000)
      }
      installation.feed.fault(next: .response(.json("{}", status: 400)), path: "/v1/changes")
      _ = installation.requests()
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests() == ["*/v1/changes"])
    }
  }

  /// Lets the server send tokens of another form, and its items on pages of 200. A cursor is the position of an item.
  ///
  /// - Parameter next: Returns the link to the page that begins at a position; nil for none.
  private func replaceTokens(
    _ installation: Installation,
    next: @escaping @Sendable (Int) -> String? = {
      "</v1/items?cursor=0>; rel=\"first\", </v1/items?cursor=\($0)&limit=200>; rel=\"next\""
    }
  ) {
    let changes = #"{"changes":[],"more":false,"snapshot":true,"token":"v2:ZmFuY3k_next-format~1"}"#
    let feed = installation.feed
    feed.fault(next: .response(.json(changes)), times: 100, path: "/v1/changes")
    installation.server.respond { request in
      // The faults end with those of the changes.
      guard request.path == "/v1/items", feed.faultsLeft > 0 else { return feed.respond(request) }
      let first = Int(request.query["cursor"] ?? "0") ?? 0
      let items = feed.items.dropFirst(first)
      guard let body = try? NewsJSON.encode(ItemList(items: Array(items.prefix(200)))) else {
        return FaultResponse(status: 500)
      }
      let response = FaultResponse(
        headers: [("Content-Type", "application/json"), ("Sync-Token", "v2:ZmFuY3k_next-format~1")], body: body)
      guard items.count > 200, let link = next(first + 200) else { return response }
      return response.setting("Link", link)
    }
  }

  @Test("because of tokens of another form fetches all items as pages, if all are kept", arguments: [true, false])
  func pages(isNew: Bool) async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      let client = try installation.client()
      if !isNew {
        feed.publish("zero")
        await client.performFetch()
      }
      for number in 1...450 { feed.publish("item \(number)") }
      replaceTokens(installation)
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 86_401)
      _ = installation.requests()
      let report = await client.performFetch()
      #expect((report.result, report.inserted, report.removed) == (.newData, 450, 0), "\(report.error ?? "")")
      let changes = isNew ? ["/v1/changes"] : ["*/v1/changes", "/v1/changes"]
      #expect(installation.requests() == changes + ["/v1/items", "/v1/items", "/v1/items"])
      try installation.expectEqual(client)
      // The next start is a day away, and the feed is well once the tokens are.
      feed.publish("new")
      #expect(await client.performFetch().result == .failed)
      installation.clock.advance(by: 86_401)
      #expect(await client.performFetch().inserted == 1)
      feed.removeFaults()
      #expect(await client.performFetch().result == .noData)
      try installation.expectEqual(client)
      #expect(try client.hasReached(feed.token()))
    }
  }

  @Test(
    "finds the next page in every form of its link",
    arguments: [
      "</v1/items?limit=200&topics=arts,sport&cursor=CURSOR>; rel=\"next\"",
      "<?cursor=CURSOR>;title=\"a, <b>; rel=last\" ; rel=\"later NEXT\"",
      "</v1/items?cursor=0>; rel=next; anchor=\"/other\", </v1/items?cursor=CURSOR>; rel=next",
    ])
  func links(link: String) async throws {
    try await Installation.with(extent: .full, topics: ["arts", "sport"]) { installation in
      for number in 1...450 { installation.feed.publish("item \(number)", topics: ["sport"]) }
      replaceTokens(installation) { link.replacing("CURSOR", with: "\($0)") }
      let client = try installation.client()
      await client.performFetch()
      installation.clock.advance(by: 86_401)
      #expect(await client.performFetch().inserted == 450)
      try installation.expectEqual(client)
    }
  }

  @Test("has no other page if only another link or the text of a parameter names one")
  func noLink() async throws {
    try await Installation.with(extent: .full) { installation in
      for number in 1...450 { installation.feed.publish("item \(number)") }
      replaceTokens(installation) { "</v1/items?cursor=\($0)>; rel=\"first\"; title=\"rel=\\\"next\\\"\"" }
      let client = try installation.client()
      await client.performFetch()
      installation.clock.advance(by: 86_401)
      #expect(await client.performFetch().inserted == 200)
    }
  }

  @Test("continues these pages in the next wake")
  func severalWakes() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      for number in 1...900 { feed.publish("item \(number)") }
      replaceTokens(installation)
      let transport = SlowTransport(clock: installation.clock, seconds: 5)
      #expect(await (try installation.client()).performFetch().result == .failed)
      installation.clock.advance(by: 86_401)
      let first = await (try installation.client(transport)).performFetch()
      // The changes and three pages have taken 20 s, and another page may take twice as long as one.
      #expect(first.result == .noData && first.received == 600, "\(first.error ?? "")")
      let client = try installation.client()
      #expect(try client.count == 0)
      #expect(await client.performFetch().inserted == 900)
      try installation.expectEqual(client)
      #expect(installation.requests().count { $0 == "/v1/items" } == 5, "no page was requested twice")
    }
  }

  @Test("ends at a page that does not advance")
  func endlessPages() async throws {
    try await Installation.with(extent: .full) { installation in
      for number in 1...450 { installation.feed.publish("item \(number)") }
      replaceTokens(installation) { _ in "</v1/items?cursor=0>; rel=\"next\"" }
      let client = try installation.client()
      await client.performFetch()
      installation.clock.advance(by: 86_401)
      _ = installation.requests()
      let report = await client.performFetch()
      #expect(report.error?.hasSuffix("the list announces more pages, but does not advance") == true)
      #expect(installation.requests() == ["/v1/changes", "/v1/items", "/v1/items"])
    }
  }
}
