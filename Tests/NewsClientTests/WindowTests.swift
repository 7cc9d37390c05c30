import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("The stored items") struct WindowTests {
  /// The header of a page that is not the last one.
  private static let hasMore = FeedFault.header("Link", "</v1/items?cursor=x>; rel=\"next\"")

  /// Publishes eight items and fetches the newest.
  private static func fetchedWindow(_ installation: Installation) async throws -> ([NewsItem], NewsFetcher) {
    let items = (1...8).map { installation.feed.publish("item \($0)") }
    installation.feed.fault(next: hasMore)
    let client = try installation.client()
    await client.performFetch()
    return (items, client)
  }

  @Test("A window has the newest items: changes of older ones are ignored, and old ones are evicted")
  func window() async throws {
    try await Installation.with(extent: .window(3)) { installation in
      let feed = installation.feed
      let items = (1...5).map { feed.publish("item \($0)") }
      feed.fault(next: Self.hasMore)
      let client = try installation.client()
      #expect(await client.performFetch().inserted == 3)
      #expect(try client.allNewsItems.map(\.text) == ["item 5", "item 4", "item 3"])
      var old = items[0]
      old.text = "item 1, corrected"
      feed.publish([old])
      #expect(await client.performFetch().result == .noData)
      feed.publish("item 6")
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (1, 0, 0))
      #expect(try client.allNewsItems.map(\.text) == ["item 6", "item 5", "item 4"])
    }
  }

  @Test("A window with a gap takes no items that are older than its oldest")
  func gap() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let feed = installation.feed
      let (items, client) = try await Self.fetchedWindow(installation)
      feed.retract(items[6].id)
      var old = items[0]
      old.text = "item 1, corrected"
      feed.publish([old])
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (0, 0, 1))
      #expect(try client.allNewsItems.map(\.text) == ["item 8", "item 6", "item 5"])
    }
  }

  @Test("An item of a window that receives an older date than its oldest leaves it")
  func movedOut() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let (items, client) = try await Self.fetchedWindow(installation)
      var moved = items[6]
      moved.date = Date(timeIntervalSince1970: 0)
      installation.feed.publish([moved])
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (0, 0, 1))
      #expect(try client.allNewsItems.map(\.text) == ["item 8", "item 6", "item 5"])
    }
  }

  @Test("A window that is fetched again loses what is too old for it, which counts as no removal")
  func fetchedAgain() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let feed = installation.feed
      let (items, client) = try await Self.fetchedWindow(installation)
      for number in 9...10 { feed.publish("item \(number)") }
      feed.retract(items[7].id)
      feed.expireTokens()
      feed.fault(next: Self.hasMore, path: "/v1/items")
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (2, 0, 1))
      #expect(try client.allNewsItems.map(\.text) == ["item 10", "item 9", "item 7", "item 6"])
    }
  }

  @Test("A window of which half is left is not refilled")
  func half() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let (items, client) = try await Self.fetchedWindow(installation)
      for item in items[6...] { installation.feed.retract(item.id) }
      _ = installation.requests()
      #expect(await client.performFetch().removed == 2)
      #expect(await client.performFetch().result == .noData)
      #expect(installation.requests() == ["*/v1/changes", "*/v1/changes"])
    }
  }

  @Test("A feed that fits into the window is followed completely, old dates included")
  func whole() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      installation.feed.publish("very old", date: Date(timeIntervalSince1970: 0))
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }

  @Test("An older item that enters a window that is fetched again is not news")
  func entersAgain() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let feed = installation.feed
      let (items, client) = try await Self.fetchedWindow(installation)
      for number in 9...10 { feed.publish("item \(number)") }
      for item in items[5...] { feed.retract(item.id) }
      feed.expireTokens()
      feed.fault(next: Self.hasMore, path: "/v1/items")
      #expect(await client.performFetch().inserted == 3)
      #expect(try client.allNewsItems.map(\.text) == ["item 10", "item 9", "item 5", "item 4"])
      #expect(try client.badge == 3)
    }
  }

  @Test("A window is refilled by a conditional request after more than half of it was retracted")
  func refill() async throws {
    try await Installation.with(extent: .window(4)) { installation in
      let feed = installation.feed
      let (items, client) = try await Self.fetchedWindow(installation)
      let earlier = feed.token()
      for item in items[5...] { feed.retract(item.id) }
      // The item is older than the window. When it enters the window it does not count as new, although the store
      // already has its version.
      var corrected = items[3]
      corrected.text = "item 4, corrected"
      feed.publish([corrected])
      #expect(await client.performFetch().removed == 3)
      feed.fault(next: .header("Sync-Token", "\(earlier)"), path: "/v1/items")
      #expect(await client.performFetch().result == .noData, "a cache has sent an outdated list")
      _ = installation.requests()
      await client.performFetch()
      let requests = installation.server.takeRequests()
      #expect(requests.map(\.path) == ["/v1/changes", "/v1/items"] && requests.allSatisfy(\.isConditional))
      #expect(requests.last?.query["at"] == "\(feed.token())", "no cache may send an older page")
      #expect(try client.allNewsItems.map(\.text) == ["item 5", "item 4, corrected", "item 3", "item 2"])
      #expect(try client.badge == 1, "the others are gone, and the refilled ones are not news")
    }
  }

  @Test("A delta of many pages is applied at once; one of very many continues in the next wake")
  func manyPages() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      let client = try installation.client()
      feed.publish("first")
      await client.performFetch()
      for number in 0..<900 { feed.publish("item \(number)") }
      #expect(await client.performFetch().inserted == 900)
      try installation.expectEqual(client)
    }
  }

  @Test("A delta of more pages than a wake requests is continued by the next wake")
  func veryManyPages() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      let held = feed.token()
      for number in 1...25 {
        let token = SyncToken(epoch: held.epoch, scope: .feed, version: held.version + number)
        feed.fault(next: .response(.json(#"{"changes":[],"more":\#(number < 25),"token":"\#(token)"}"#)))
      }
      _ = installation.requests()
      for pages in [20, 5] {
        #expect(await client.performFetch().result == .noData)
        #expect(installation.requests().count == pages)
      }
    }
  }

  @Test("A delta replaces no item by an older version of it")
  func olderVersion() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let first = feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      var corrected = first
      corrected.text = "one, corrected"
      feed.publish([corrected])
      await client.performFetch()
      let token = SyncToken(epoch: feed.token().epoch, scope: .feed, version: feed.token().version + 1)
      let page = ChangeList(changes: [.put(first)], more: false, snapshot: nil, token: token)
      feed.fault(next: .response(.json(String(decoding: try NewsJSON.encode(page), as: UTF8.self))))
      #expect(await client.performFetch().result == .noData)
      #expect(try client.allNewsItems.map(\.text) == ["one, corrected"])
    }
  }

  @Test("An interrupted snapshot is continued, and not shown before it is complete")
  func staging() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      for number in 0..<500 { feed.publish("item \(number)") }
      feed.fault(next: .init { original, _ in original })
      feed.fault(next: .truncate(at: .body(100)))
      let client = try installation.client()
      #expect(await client.performFetch().result == .failed)
      #expect(try client.allNewsItems.isEmpty)
      feed.retract(feed.items[499].id)
      _ = installation.requests()
      let next = try installation.client()
      #expect(await next.performFetch().result == .newData)
      #expect(installation.requests().count == 2, "the first page was kept")
      try installation.expectEqual(next)
    }
  }

  @Test("A snapshot that expires begins again without the staged items that were retracted")
  func expiredStaging() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      for number in 0..<300 { feed.publish("item \(number)") }
      let oldest = try #require(feed.items.last)
      feed.fault(next: .init { original, _ in original })
      feed.fault(next: .truncate(at: .body(100)))
      let client = try installation.client()
      #expect(await client.performFetch().result == .failed)
      feed.expireTokens()
      feed.retract(oldest.id)
      _ = installation.requests()
      #expect(await client.performFetch().inserted == 299)
      #expect(installation.requests().count == 3, "the rest was refused, and both pages have come again")
      try installation.expectEqual(client)
    }
  }

  @Test("A snapshot that expires twice fails the fetch; the next fetch continues")
  func expiringStaging() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      for number in 0..<300 { feed.publish("item \(number)") }
      let original = FeedFault { original, _ in original }
      let expired = FeedFault.response(.tokenExpired(reason: "expired", token: feed.token()))
      for fault in [original, expired, original, expired] { feed.fault(next: fault) }
      let client = try installation.client()
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests().count == 4)
      #expect(try client.allNewsItems.isEmpty)
      #expect(await client.performFetch().inserted == 300)
      #expect(installation.requests().count == 1, "the first page was kept")
      try installation.expectEqual(client)
    }
  }

  @Test(
    "After a 410 the old items remain until the new ones are stored, at most once a wake",
    arguments: [FollowedFeed.Extent.window(100), .full])
  func expired(extent: FollowedFeed.Extent) async throws {
    try await Installation.with(extent: extent) { installation in
      let feed = installation.feed
      let item = feed.publish("one")
      feed.publish("two")
      let client = try installation.client()
      await client.performFetch()
      feed.retract(item.id)
      feed.publish("three")
      feed.moveEpoch(keepingHistory: false)
      feed.fault(next: .init { original, _ in original })
      feed.fault(next: .truncate(at: .body(3)))
      #expect(await client.performFetch().result == .failed)
      #expect(try client.allNewsItems.map(\.text) == ["two", "one"])
      _ = installation.requests()
      let report = await client.performFetch()
      #expect((report.inserted, report.removed) == (1, 1))
      try installation.expectEqual(client)
      let requests = installation.server.takeRequests()
      #expect(requests.map(\.path) == ["/v1/changes", extent == .full ? "/v1/changes" : "/v1/items"])
      #expect(requests.map(\.isConditional) == [true, false])
      #expect(requests.last?.query["at"] == "\(feed.token())", "no cache may send an older page")
      // A client does not loop if a server answers every request with 410.
      feed.moveEpoch(keepingHistory: false)
      feed.fault(next: .response(.tokenExpired(reason: "epoch", token: feed.token())), times: 10)
      #expect(await client.performFetch().result == .failed)
      #expect(installation.requests().count <= 3)
      #expect(try client.allNewsItems.count == 2)
    }
  }

  @Test("A promotion with the same history needs no resync; a restore does")
  func epochs() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let earlier = feed.snapshot
      let client = try installation.client()
      await client.performFetch()
      feed.moveEpoch(keepingHistory: true)
      feed.publish("two")
      _ = installation.requests()
      #expect(await client.performFetch().inserted == 1)
      #expect(installation.requests() == ["*/v1/changes"])
      feed.restore(earlier)
      feed.publish("other")
      #expect(await client.performFetch().result == .newData)
      try installation.expectEqual(client)
    }
  }
}
