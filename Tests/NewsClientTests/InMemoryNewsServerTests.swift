import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("A news server in memory") struct InMemoryNewsServerTests {
  private let clock = ManualClock()

  /// Runs the body with a client of a server.
  private func with(
    _ server: InMemoryNewsServer, _ extent: FollowedFeed.Extent, topics: [String] = [],
    _ body: (NewsFetcher) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-memory-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let feed = FollowedFeed(
      server: try #require(URL(string: "https://news.example/api")), topics: topics, extent: extent)
    try await body(
      NewsFetcher(
        .init(folder: folder, feed: feed, userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .fetch, clock: clock), transport: server, clock: clock))
  }

  private func item(_ number: Int, topics: [String] = ["harbour"]) -> NewsItem {
    let date = Date(timeIntervalSince1970: 1_767_225_600 + Double(number))
    return NewsItem(id: UUID(), version: 0, date: date, text: "item \(number)", topics: topics, updated: date)
  }

  @Test("is followed like any other", arguments: [FollowedFeed.Extent.window(100), .full], [[], ["harbour"]])
  func follow(extent: FollowedFeed.Extent, topics: [String]) async throws {
    let server = InMemoryNewsServer()
    let items = (0..<450).map { server.publish(item($0)) }
    try await with(server, extent, topics: topics) { client in
      let kept = extent == .full ? 450 : 100
      #expect(await client.performFetch().inserted == kept)
      #expect(try client.allNewsItems == Array(server.items.prefix(kept)))
      #expect(await client.performFetch().result == .noData)
      var edited = try #require(items.last)
      edited.text = "edited"
      server.publish(edited)
      server.publish(item(1000))
      server.publish(item(1001, topics: ["sport"]))
      server.remove(items[448].id)
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (topics.isEmpty ? 2 : 1, 1, 1))
      server.expireTokens()
      edited.topics = ["sport"]
      server.publish(edited)
      let resync = await client.performFetch()
      #expect(resync.result == .newData && resync.removed == (topics.isEmpty ? 0 : 1))
      let push = RemoteNotification(token: server.token(topics: topics))
      let count = server.requests.count
      #expect(await client.receive(push).result == .noData)
      #expect(server.requests.count == count)
    }
  }

  @Test("answers a delta of several pages")
  func pages() async throws {
    let server = InMemoryNewsServer()
    server.publish(item(0))
    try await with(server, .full) { client in
      await client.performFetch()
      for number in 1..<500 { server.publish(item(number)) }
      #expect(await client.performFetch().inserted == 499)
      let stored = try client.allNewsItems
      #expect(stored == server.items)
    }
  }

  @Test("lets fetches fail with each kind that an app tells apart")
  func failures() async throws {
    let server = InMemoryNewsServer()
    try await with(server, .window(10)) { client in
      server.fail(HTTPTransportError(.offline, "there is no network"))
      let offline = await client.performFetch()
      #expect(offline.failure?.kind == .offline && offline.failure?.isOffline == true)
      #expect(offline.error == offline.failure?.message)
      server.respond(
        with: .init(headers: [HTTPHeader("Content-Type", "text/html")], body: Data("<html>Sign in</html>".utf8)))
      #expect(await client.performFetch().failure?.kind == .wrongContent)
      server.respond(with: .init(status: 403))
      #expect(await client.performFetch().failure?.kind == .refused(until: nil))
      server.respond(with: .init(status: 503, headers: [HTTPHeader("Retry-After", "60")]))
      let until = clock.now.date + 60
      #expect(await client.performFetch().failure?.kind == .refused(until: until))
      #expect(await client.performFetch().failure?.kind == .refused(until: until))
      clock.advance(by: 61)
      let cancelled = Task { await client.performFetch() }
      cancelled.cancel()
      let failure = await cancelled.value.failure
      #expect(failure == nil || failure?.kind == .cancelled)
      let report = FetchReport(result: .noData)
      #expect(report.failure == nil && report.error == nil)
    }
  }
}
