import Foundation
import HTTPTypes
import NIOCore
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite struct ViewCacheTests {
  private static func view(_ text: String, _ version: Int, epoch: String = "aaaaaa") -> View {
    View(representation: Representation(Array(text.utf8)), feedVersion: FeedVersion(epoch: epoch, version: version))
  }

  private static func text(_ view: View) -> String {
    view.representation.assembledBody.map { String(buffer: $0) } ?? "no body"
  }

  /// Requests a view until it is kept.
  private static func keep(_ view: View, for key: ViewKey, in cache: ViewCache, _ state: FeedSnapshot) async throws {
    for _ in 0..<2 { _ = try await cache.view(key, in: state) { view } }
  }

  private static let feed = ViewKey(ItemListView())

  @Test("Concurrent requests for a view share one load, and only a change causes another")
  func singleFlight() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let made = Count()
    for version in 1...3 {
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 {
          group.addTask {
            let view = try await cache.view(Self.feed, in: FeedSnapshot.at(version)) {
              _ = made.next()
              try await Task.sleep(for: .milliseconds(20))
              return Self.view("\(version)", version)
            }
            #expect(Self.text(view) == "\(version)")
          }
        }
        try await group.waitForAll()
      }
      #expect(made.value == version)
    }
  }

  @Test("A caller that knows of a change does not join a load that began before it")
  func staleFlight() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    let old = Task {
      try await cache.view(Self.feed, in: FeedSnapshot.at(1)) {
        started.yield()
        for await _ in gate { break }
        return Self.view("old", 1)
      }
    }
    for await _ in starts { break }
    try await Self.keep(Self.view("new", 2), for: Self.feed, in: cache, FeedSnapshot.at(2))
    opening.yield()
    #expect(Self.text(try await old.value) == "old")
    // The load with the older snapshot finished later and does not replace the newer view.
    #expect(cache.cachedView(Self.feed, in: FeedSnapshot.at(2)).map(Self.text) == "new")
    #expect(cache.cachedView(Self.feed, in: FeedSnapshot.at(3)) == nil)
    #expect(cache.cachedView(Self.feed, in: FeedSnapshot.at(2, epoch: "bbbbbb")) == nil)
  }

  @Test("An error is thrown to all waiters and not cached")
  func errors() async throws {
    let cache = ViewCache(budget: 1 << 20)
    await #expect(throws: StoreError.unavailable) {
      try await cache.view(Self.feed, in: FeedSnapshot.at(1)) { throw StoreError.unavailable }
    }
    let view = try await cache.view(Self.feed, in: FeedSnapshot.at(1)) { Self.view("x", 1) }
    #expect(Self.text(view) == "x")
  }

  @Test("A load continues for the other waiters when its first caller is cancelled")
  func leaving() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await cache.view(Self.feed, in: FeedSnapshot.at(1)) {
        started.yield()
        for await _ in gate { break }
        try Task.checkCancellation()
        return Self.view("x", 1)
      }
    }
    for await _ in starts { break }
    let second = Task { try await cache.view(Self.feed, in: FeedSnapshot.at(1)) { Self.view("again", 1) } }
    first.cancel()
    try await Task.sleep(for: .milliseconds(20))
    opening.yield()
    #expect(Self.text(try await second.value) == "x")
  }

  @Test("A queued load is cancelled with its last waiter, and the next request starts another")
  func leavingTheQueue() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let limiter = ConcurrencyLimiter(limit: 1, timeout: .seconds(60))
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    let blocker = Task {
      try await limiter.run {
        started.finish()
        for await _ in gate {}
      }
    }
    for await _ in starts {}
    let requesters = (0..<2).map { _ in
      Task { try await cache.view(Self.feed, in: FeedSnapshot.at(1), limiter: limiter) { Self.view("never", 1) } }
    }
    try await eventually("the load is in the queue") { limiter.waiting == 1 }
    requesters[0].cancel()
    await #expect(throws: CancellationError.self) { try await requesters[0].value }
    // The second requester may have arrived after this cancellation and started a load of its own.
    requesters[1].cancel()
    await #expect(throws: CancellationError.self) { try await requesters[1].value }
    try await eventually("the queue is empty") { limiter.waiting == 0 }
    opening.finish()
    try await blocker.value
    let view = try await cache.view(Self.feed, in: FeedSnapshot.at(1), limiter: limiter) { Self.view("new", 1) }
    #expect(Self.text(view) == "new")
  }

  @Test("A change of an item invalidates only the view of that item, and a forgotten version validates nothing")
  func items() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let (one, other) = (UUID(), UUID())
    for id in [one, other] {
      try await Self.keep(Self.view("\(id)", 1), for: ViewKey(ItemView(id)), in: cache, FeedSnapshot.at(1))
    }
    let state = FeedSnapshot.at(2, changed: [(one, 2)])
    #expect(cache.cachedView(ViewKey(ItemView(one)), in: state) == nil)
    #expect(cache.cachedView(ViewKey(ItemView(other)), in: state).map(Self.text) == "\(other)")
    let many = (0..<3000).map { (UUID(), 3 + $0) }
    #expect(cache.cachedView(ViewKey(ItemView(other)), in: FeedSnapshot.at(3002, changed: many)) == nil)
  }

  @Test("A view is kept from its second request since the last change of its scope")
  func repetition() async throws {
    let cache = ViewCache(budget: 1 << 20)
    for version in 1...3 {
      let state = FeedSnapshot.at(version)
      #expect(cache.cachedView(Self.feed, in: state) == nil)
      _ = try await cache.view(Self.feed, in: state) { Self.view("x", version) }
      #expect(cache.cachedView(Self.feed, in: state) == nil)
      _ = try await cache.view(Self.feed, in: state) { Self.view("x", version) }
      #expect(cache.cachedView(Self.feed, in: state) != nil)
    }
  }

  @Test("Requests that are repeated once evict no view that is in use")
  func scan() async throws {
    let cache = ViewCache(budget: 1 << 20)
    let state = FeedSnapshot.at(1)
    let hot = (0..<20).map { ViewKey(TopicView("hot\($0)")) }
    for key in hot {
      try await Self.keep(Self.view(String(repeating: "x", count: 4000), 1), for: key, in: cache, state)
      #expect(cache.cachedView(key, in: state) != nil)
    }
    for number in 0..<5000 {
      try await Self.keep(
        Self.view(String(repeating: "x", count: 4000), 1), for: ViewKey(TopicView("t\(number)")), in: cache, state)
      if number % 50 == 0 { for key in hot { #expect(cache.cachedView(key, in: state) != nil) } }
    }
    #expect(cache.usage.bytes <= 1 << 20)
    #expect(cache.usage.evictions > 4000)
  }

  /// Returns a cache whose database may be silent, with the first page of version 1, loaded 30 s ago.
  private static func outage(
    limit: Duration = .seconds(60), key: ViewKey = feed
  ) async throws -> (cache: ViewCache, isDatabaseUnresponsive: Flag) {
    let (isDatabaseUnresponsive, began) = (Flag(), ContinuousClock.now)
    let age = Count()
    let cache = ViewCache(
      budget: 1 << 20, staleLimit: limit, isDatabaseUnresponsive: { isDatabaseUnresponsive.isSet },
      now: { began + .seconds(30 * age.value) })
    try await keep(view("old", 1), for: key, in: cache, FeedSnapshot.at(1))
    _ = age.next()
    return (cache, isDatabaseUnresponsive)
  }

  @Test("A view that cannot be loaded again is served stale, marked as such, up to the maximum age")
  func stale() async throws {
    let unavailable: @Sendable () async throws -> View = { throw StoreError.unavailable }
    let (cache, _) = try await Self.outage()
    let view = try await cache.view(Self.feed, in: FeedSnapshot.at(2), load: unavailable)
    #expect(view.isStale)
    #expect(Self.text(view) == "old")
    #expect(view.representation.fields[HTTPField.Name("Cache-Status")!] == "Tidings; hit; ttl=-30")
    // A stale view is not stored as current.
    #expect(cache.cachedView(Self.feed, in: FeedSnapshot.at(2)) == nil)
    await #expect(throws: StoreError.unavailable) {
      try await cache.view(Self.feed, in: FeedSnapshot.at(2, epoch: "bbbbbb"), load: unavailable)
    }
    await #expect(throws: CancellationError.self) {
      try await cache.view(Self.feed, in: FeedSnapshot.at(2)) { throw CancellationError() }
    }
    let short = try await Self.outage(limit: .seconds(29)).cache
    await #expect(throws: StoreError.unavailable) {
      try await short.view(Self.feed, in: FeedSnapshot.at(2), load: unavailable)
    }
  }

  @Test("A changed item is not served stale")
  func staleItem() async throws {
    let id = UUID()
    let (cache, isDatabaseUnresponsive) = try await Self.outage(key: ViewKey(ItemView(id)))
    isDatabaseUnresponsive.set()
    await #expect(throws: StoreError.unavailable) {
      try await cache.view(ViewKey(ItemView(id)), in: FeedSnapshot.at(2, changed: [(id, 2)])) {
        throw StoreError.unavailable
      }
    }
  }

  @Test("No caller waits for an unresponsive database, and a failed load is repeated once it responds")
  func silence() async throws {
    let (cache, isDatabaseUnresponsive) = try await Self.outage()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let making = Task {
      try await cache.view(Self.feed, in: FeedSnapshot.at(2)) {
        for await _ in gate { break }
        throw StoreError.unavailable
      }
    }
    isDatabaseUnresponsive.set(true)
    #expect(Self.text(try await making.value) == "old")
    let joined = try await cache.view(Self.feed, in: FeedSnapshot.at(2)) { Self.view("too early", 2) }
    #expect(Self.text(joined) == "old")
    isDatabaseUnresponsive.set(false)
    let new = try await cache.view(Self.feed, in: FeedSnapshot.at(2)) { Self.view("new", 2) }
    #expect(Self.text(new) == "new")
    opening.yield()
    #expect(cache.cachedView(Self.feed, in: FeedSnapshot.at(2)).map(Self.text) == "new")
  }
}
