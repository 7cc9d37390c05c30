import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// The state in memory after commits of the same process.
@Suite struct OwnCommitTests {
  private static let topics = ["a", "b", "c"]

  private static func content(_ number: Int, _ random: inout SplitMix64) -> ItemContent {
    func some<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
    var content = ItemContent(
      state: Int.random(in: 0..<5, using: &random) == 0 ? .draft : .published,
      date: .newYear + Double(Int.random(in: -2000..<2000, using: &random)) / 1000, text: "text \(number)\n\"é\u{301}",
      topics: topics.filter { _ in Bool.random(using: &random) })
    content.title = some("title \(number)")
    content.summary = some("\u{7}\u{2028}summary")
    content.html = some("<p>\(number)</p>")
    content.language = some(["en", "en-GB", "DE"].randomElement(using: &random) ?? "en")
    content.author = some(["Ann", "é"].randomElement(using: &random) ?? "Ann")
    content.url = some("https://example.com/\(number)")
    content.breaking = Bool.random(using: &random)
    if Bool.random(using: &random) {
      content.attachments = [
        Attachment(url: "https://example.com/\(number).png", type: "image/png", alt: "a \"b\""),
        Attachment(url: "https://example.com/é", type: "audio/mpeg"),
      ]
    }
    return content
  }

  /// Writes random items through the store.
  ///
  /// - Returns: The latest version that was acknowledged.
  private static func write(_ store: NewsStore, _ random: inout SplitMix64, among count: Int) async throws -> Int {
    let id = UUID(Int.random(in: 0..<count, using: &random))
    let content = content(Int.random(in: 0..<1000, using: &random), &random)
    do {
      if Int.random(in: 0..<8, using: &random) == 0 {
        try await store.retract(id, reason: nil, if: .exists)
        return 0
      }
      let isNew = (try? await store.editorialItem(id)) == nil
      return try await store.write(id, if: isNew ? .absent : .exists) { _ in content }.item.item.version
    } catch StoreError.retracted, StoreError.notFound, StoreError.preconditionFailed {
      return 0
    }
  }

  /// Compares all that the state in memory knows with the database.
  private static func expectCurrent(_ store: NewsStore, _ url: String) async throws {
    let memory = try #require(store.stateCache.latest).state
    let other = NewsStore(connection: .forBusyMachine(url), logger: NewsDatabase.logger)
    let read = try await other.snapshot(withWindowsOf: Scope(topics: topics))
    #expect(memory.feedVersion == read.feedVersion)
    #expect(memory.scopes == read.scopes)
    for scope in [Scope.feed] + topics.map({ Scope(topics: [$0]) }) + [Scope(topics: topics)] {
      for html in [false, true] {
        let query = ItemQuery(scope: scope, limit: 200, includesHTML: html)
        let page = try #require(memory.page(query))
        let expected = try await other.page(query)
        #expect(page.items == expected.items && page.next == expected.next && page.modified == expected.modified)
        let epoch = page.feedVersion.epoch
        // The fragments of written items equal those of the rows in the database.
        guard let fragments = store.fragmentsInMemory(of: page.items, as: .json(html: html), epoch: epoch)
        else { continue }
        #expect(try await other.fragments(of: page.items, as: .json(html: html), epoch: epoch) == fragments)
      }
    }
    await other.shutdown()
  }

  @Test("After each own write the state is current without a query, with the item and its pages", arguments: 1...4)
  func withoutQueries(seed: UInt64) async throws {
    try await NewsDatabase.with { url in
      var random = SplitMix64(seed: seed)
      let store = NewsStore(connection: .forBusyMachine(url), logger: NewsDatabase.logger)
      for topic in Self.topics { _ = try await store.createTopic(topic, TopicContent(titles: [:], position: 0)) }
      store.stateCache.isFollowed = true
      _ = try await store.snapshot(withWindowsOf: Scope(topics: Self.topics))
      let start = ContinuousClock.now
      for step in 0..<60 {
        let (generation, before) = (store.generation, store.cachedSnapshot?.feedVersion)
        _ = try await Self.write(store, &random, among: 30)
        #expect(store.generation != generation || store.cachedSnapshot?.feedVersion == before)
        if step.isMultiple(of: 12) { try await Self.expectCurrent(store, url) }
      }
      try await Self.expectCurrent(store, url)
      // The age counts from the last query.
      let passed = ContinuousClock.now - start
      #expect(try #require(store.stateCache.latest).age > passed)
      let page = try #require(store.cachedSnapshot?.page(ItemQuery(limit: 200, includesHTML: true)))
      #expect(store.fragmentsInMemory(of: page.items, as: .json(html: true), epoch: page.feedVersion.epoch) != nil)
      await store.shutdown()
    }
  }

  @Test("Beside other writers, queries and topics, the state never goes back and ends current", arguments: 1...3)
  func besideOthers(seed: UInt64) async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
      let other = NewsStore(connection: connection, logger: NewsDatabase.logger)
      for topic in Self.topics { _ = try await store.createTopic(topic, TopicContent(titles: [:], position: 0)) }
      let following = Task { await store.follow() }
      try await eventually("it follows") { store.cachedSnapshot != nil }
      _ = try await store.snapshot(withWindowsOf: Scope(topics: Self.topics))
      let isOver = Flag()
      let watching = Task {
        var last = 0
        while !isOver.isSet {
          let version = store.cachedSnapshot?.feedVersion.version ?? last
          #expect(version >= last)
          last = version
          await Task.yield()
        }
      }
      try await withThrowingTaskGroup { group in
        for writer in 0..<12 {
          group.addTask {
            var random = SplitMix64(seed: seed * 100 + UInt64(writer))
            for _ in 0..<25 {
              let own = writer < 9
              let version = try await Self.write(own ? store : other, &random, among: 200)
              if own { #expect(try #require(store.cachedSnapshot).feedVersion.version >= version) }
            }
          }
        }
        group.addTask {
          for number in 0..<20 {
            _ = try await other.createTopic("t\(number)", TopicContent(titles: [:], position: 1))
            _ = try await store.snapshot(withWindowsOf: Scope(topics: Self.topics))
          }
        }
        try await group.waitForAll()
      }
      isOver.set()
      await watching.value
      try await store.stateCache.refresh()
      try await Self.expectCurrent(store, url)
      following.cancel()
      await following.value
      await other.shutdown()
      await store.shutdown()
    }
  }

  @Test("A database that is reset to before an own commit has a new epoch")
  func reset() async throws {
    try await NewsDatabase.withStore { store, sql in
      store.stateCache.isFollowed = true
      let first = try await store.stateCache.refresh()
      for number in 1...3 {
        _ = try await store.create(
          UUID(number), ItemContent(state: .published, date: .newYear, text: "x", topics: []))
      }
      #expect(store.cachedSnapshot?.feedVersion.version == 3)
      _ = try await sql.query("UPDATE scopes SET version = 1")
      let second = try await store.stateCache.refresh()
      #expect(second.feedVersion.epoch != first.feedVersion.epoch)
      #expect(second.feedVersion.version == 1)
    }
  }

  @Test("The generation changes with the state that a query reads, and not without a change")
  func generations() async throws {
    try await NewsDatabase.withStore { store, sql in
      store.stateCache.isFollowed = true
      try await store.stateCache.refresh()
      let generation = store.generation
      try await store.stateCache.refresh()
      #expect(store.generation == generation)
      try await sql.publish([UUID(1)])
      try await store.stateCache.refresh()
      #expect(store.generation != generation)
    }
  }

  // MARK: The cache alone

  private static func state(_ version: Int, epoch: String = "e", floor: Int = 0) -> FeedSnapshot {
    FeedSnapshot(
      feedVersion: FeedVersion(epoch: epoch, version: version),
      scopes: ["": .init(version: version, floor: floor, shiftedAt: .newYear)], reach: [:],
      recent: .init(after: version))
  }

  private static func commit(_ base: Int, _ count: Int = 1, epoch: String = "e") -> OwnCommit {
    OwnCommit(
      epoch: epoch, base: base, scopes: ["": .init(version: base + count, floor: 0, shiftedAt: .newYear)],
      changes: (1...count).map {
        LoggedItem(change: .init(item: UUID(base + $0), version: base + $0), entry: nil, topics: [])
      },
      read: DatabaseInstant(.newYear))
  }

  /// A cache whose queries answer with given states, each only when it is let through.
  private final class Queries: Sendable {
    private let answers: Mutex<[FeedSnapshot]>
    let begun = Atomic(0)
    private let (permits, permit) = AsyncStream.makeStream(of: Void.self)

    init(_ answers: [FeedSnapshot]) {
      self.answers = Mutex(answers)
    }

    func next() async -> FeedSnapshot {
      begun.add(1, ordering: .relaxed)
      for await _ in permits { break }
      return answers.withLock { $0.removeFirst() }
    }

    func letThrough() { permit.yield() }
  }

  @Test("The answer of a query that is older than own commits is advanced by them")
  func olderAnswer() async throws {
    let queries = Queries([Self.state(10), Self.state(10, floor: 3), Self.state(12), Self.state(20)])
    let cache = FeedStateCache { _ in await queries.next() }
    cache.isFollowed = true
    queries.letThrough()
    try await cache.refresh()
    for (before, expected) in [(12, 12), (13, 13)] {
      let query = Task { try await cache.refresh() }
      let begun = before - 10
      try await eventually("the query runs") { queries.begun.load(ordering: .relaxed) == begun }
      cache.apply(before == 12 ? Self.commit(10, 2) : Self.commit(12))
      #expect(cache.latest?.state.version == expected)
      queries.letThrough()
      #expect(try await query.value.version == expected)
      #expect(cache.latest?.state.version == expected)
      #expect(cache.latest?.state.version(of: .item(UUID(expected))) == expected)
    }
    // A newer answer needs none of them.
    queries.letThrough()
    #expect(try await cache.refresh().version == 20)
  }

  @Test("A commit waits for the one before it, and one of another epoch is ignored")
  func order() async throws {
    let cache = FeedStateCache { _ in Self.state(10) }
    cache.isFollowed = true
    cache.apply(Self.commit(10))
    #expect(cache.latest == nil)
    try await cache.refresh()
    #expect(cache.latest?.state.version == 11)
    cache.apply(Self.commit(14))
    cache.apply(Self.commit(12, 2))
    #expect(cache.latest?.state.version == 11)
    cache.enter("e")
    cache.apply(Self.commit(11, epoch: "f"))
    #expect(cache.latest?.state.version == 11)
    cache.apply(Self.commit(11))
    #expect(cache.latest?.state.version == 15)
    cache.apply(Self.commit(11))
    #expect(cache.latest?.state.version == 15)
    cache.enter("f")
    cache.apply(Self.commit(15))
    #expect(cache.latest == nil)
  }

  @Test("Own commits beside an unanswered query are bounded, and the state stays usable")
  func bound() async throws {
    let queries = Queries([Self.state(0), Self.state(0), Self.state(500)])
    let cache = FeedStateCache { _ in await queries.next() }
    cache.isFollowed = true
    queries.letThrough()
    try await cache.refresh()
    let query = Task { try await cache.refresh() }
    try await eventually("the query runs") { queries.begun.load(ordering: .relaxed) == 2 }
    for base in 0..<500 { cache.apply(Self.commit(base)) }
    let reached = try #require(cache.latest).state.version
    #expect((100..<500).contains(reached))
    queries.letThrough()
    #expect(try await query.value.version == reached)
    queries.letThrough()
    #expect(try await cache.refresh().version == 500)
    cache.apply(Self.commit(500))
    #expect(cache.latest?.state.version == 501)
  }
}
