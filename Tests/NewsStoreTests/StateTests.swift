import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct StateTests {
  private static func state(_ version: Int, epoch: String = "aaaaaa") -> FeedSnapshot {
    FeedSnapshot(
      feedVersion: FeedVersion(epoch: epoch, version: version),
      scopes: ["": FeedSnapshot.ScopeState(version: version, floor: 0, shiftedAt: .distantPast)], reach: [epoch: .max],
      recent: FeedSnapshot.RecentChanges(after: version))
  }

  @Test("Concurrent callers share one running query and one that follows it")
  func coalescing() async throws {
    let (starts, started) = AsyncStream.makeStream(of: Int.self)
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let count = Count()
    let stateCache = FeedStateCache { _ in
      let number = count.next()
      started.yield(number)
      if number == 1 { for await _ in gate { break } }
      return Self.state(number)
    }
    let first = Task { try await stateCache.refresh().version }
    for await _ in starts { break }
    // The first query is in progress. It must not answer callers that arrive now.
    let others = (0..<50).map { _ in Task { try await stateCache.refresh().version } }
    try await Task.sleep(for: .milliseconds(50))
    opening.yield()
    #expect(try await first.value == 1)
    for other in others { #expect(try await other.value == 2) }
    #expect(count.value == 2)
  }

  @Test("A failed query leaves the state unchanged, and the next query runs")
  func failure() async throws {
    let count = Count()
    let stateCache = FeedStateCache { _ in
      if count.next() == 2 { throw StoreError.unavailable }
      return Self.state(count.value)
    }
    try await stateCache.refresh()
    await #expect(throws: StoreError.unavailable) { try await stateCache.refresh() }
    #expect(stateCache.latest?.state.version == 1)
    try await stateCache.refresh()
    #expect(stateCache.latest?.state.version == 3)
  }

  @Test("The database counts as unresponsive from its first failure, or after two seconds without a response")
  func outage() async throws {
    let start = ContinuousClock.now
    let seconds = Count()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    let count = Count()
    let stateCache = FeedStateCache(now: { start + .seconds(seconds.value) }) { _ in
      switch count.next() {
      case 2, 3: throw StoreError.unavailable
      case 5:
        started.finish()
        for await _ in gate {}
      default: break
      }
      return Self.state(count.value)
    }
    try await stateCache.refresh()
    for _ in 0..<5 { _ = seconds.next() }
    // The state was not requested for that time, which reveals nothing about the database.
    #expect(stateCache.latest?.age == .seconds(5))
    #expect(stateCache.latest?.outage == nil)
    await #expect(throws: StoreError.unavailable) { try await stateCache.refresh() }
    #expect(stateCache.latest?.outage == .zero)
    _ = seconds.next()
    await #expect(throws: StoreError.unavailable) { try await stateCache.refresh() }
    #expect(stateCache.latest?.outage == .seconds(1))
    try await stateCache.refresh()
    #expect(stateCache.latest?.outage == nil)
    let hanging = Task { try await stateCache.refresh() }
    for await _ in starts {}
    for _ in 0..<2 { _ = seconds.next() }
    #expect(stateCache.latest?.outage == nil)
    _ = seconds.next()
    #expect(stateCache.latest?.outage == .seconds(3))
    opening.finish()
    _ = try await hanging.value
    #expect(stateCache.latest?.outage == nil)
  }

  @Test("A state whose epoch ended during the query is not returned")
  func endedEpoch() async throws {
    let epochs = Mutex(["b", "a", "b"])
    let entering = Mutex<(@Sendable (String) -> Void)?>(nil)
    let stateCache = FeedStateCache { _ in
      let epoch = epochs.withLock { $0.removeLast() }
      // Meanwhile another connection finds the next epoch.
      if epoch == "a" { entering.withLock(\.self)?("b") }
      return Self.state(1, epoch: epoch)
    }
    entering.withLock { $0 = { stateCache.enter($0) } }
    stateCache.enter("b")
    try await stateCache.refresh()
    #expect(stateCache.latest?.state.feedVersion.epoch == "b")
    try await stateCache.refresh()
    #expect(stateCache.latest == nil)
    try await stateCache.refresh()
    #expect(stateCache.latest?.state.feedVersion.epoch == "b")
  }

  @Test("The changes after a token are current until the scope changes, from its floor upwards")
  func currentChanges() {
    let scopes = ["": FeedSnapshot.ScopeState(version: 5, floor: 3, shiftedAt: .distantPast)]
    let state = FeedSnapshot(
      feedVersion: FeedVersion(epoch: "a", version: 5), scopes: scopes, reach: ["a": .max],
      recent: FeedSnapshot.RecentChanges(after: 5))
    func isCurrent(since: Int, at version: Int) -> Bool {
      state.isCurrent(.changes(.feed, since: since), since: FeedVersion(epoch: "a", version: version))
    }
    #expect(isCurrent(since: 3, at: 5) && isCurrent(since: 4, at: 5))
    #expect(!isCurrent(since: 2, at: 5) && !isCurrent(since: 3, at: 4))
  }

  @Test("The age of the state counts from the start of its query")
  func age() async throws {
    let start = ContinuousClock.now
    let seconds = Count()
    let stateCache = FeedStateCache(now: { start + .seconds(seconds.value) }) { _ in
      _ = seconds.next()
      return Self.state(1)
    }
    #expect(stateCache.latest == nil)
    try await stateCache.refresh()
    #expect(stateCache.latest?.age == .seconds(1))
  }

  @Test("Recent changes of items are known, and nothing is claimed about older ones")
  func recentChanges() {
    let ids = (0..<3000).map { _ in UUID() }
    var recent = FeedSnapshot.RecentChanges(after: 10)
    #expect(recent.isUnchanged(ids[0], since: 10) == true)
    #expect(recent.isUnchanged(ids[0], since: 9) == nil)
    recent.add(ids.prefix(2).enumerated().map { .init(item: $1, version: 11 + $0) })
    #expect(recent.isUnchanged(ids[0], since: 10) == false)
    #expect(recent.isUnchanged(ids[0], since: 11) == true)
    #expect(recent.isUnchanged(ids[1], since: 11) == false)
    #expect(recent.isUnchanged(ids[2], since: 10) == true)
    recent.add(ids.dropFirst(2).enumerated().map { .init(item: $1, version: 13 + $0) })
    // The oldest changes are evicted, so the result is unknown for versions before them.
    #expect(recent.isUnchanged(ids[0], since: 12) == nil)
    #expect(recent.isUnchanged(ids[0], since: recent.floor) == true)
    #expect(recent.isUnchanged(ids[2999], since: 3009) == false)
    #expect(recent.isUnchanged(ids[2999], since: 3010) == true)
    #expect(3010 - recent.floor >= FeedSnapshot.RecentChanges.count)
  }

  @Test("A state advanced by changes equals a state that is read in full")
  func advancing() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
      for topic in ["a", "b"] { _ = try await store.createTopic(topic, TopicContent(titles: [:], position: 0)) }
      var known = try await store.stateCache.refresh()
      #expect(known.version == 0)
      let ids = (0..<4).map { UUID($0) }
      for (number, topics) in [["a"], ["a", "b"], [], ["b"]].enumerated() {
        _ = try await store.create(
          ids[number], ItemContent(state: .published, date: .newYear, text: "x", topics: topics))
        let next = try await store.stateCache.refresh()
        #expect(!next.isCurrent(.feed, since: known.feedVersion))
        #expect(next.isCurrent(.scope(Scope(topics: ["a"])), since: known.feedVersion) == !topics.contains("a"))
        #expect(next.isCurrent(.topics, since: known.feedVersion) == topics.isEmpty)
        #expect(!next.isCurrent(.item(ids[number]), since: known.feedVersion))
        #expect(next.isCurrent(.item(UUID(99)), since: known.feedVersion))
        known = next
      }
      _ = try await store.replaceTopic("a", TopicContent(titles: ["en": "A"], position: 1), if: .exists)
      let retitled = try await store.stateCache.refresh()
      #expect(!retitled.isCurrent(.topics, since: known.feedVersion))
      #expect(retitled.isCurrent(.feed, since: known.feedVersion))
      try await store.retract(ids[1], reason: nil, if: .exists)
      let last = try await store.stateCache.refresh()
      #expect(!last.isCurrent(.item(ids[1]), since: known.feedVersion))
      #expect(last.isCurrent(.item(ids[0]), since: known.feedVersion))
      let afresh = NewsStore(connection: connection, logger: NewsDatabase.logger)
      let fresh = try await afresh.stateCache.refresh()
      for store in [store, afresh] { await store.shutdown() }
      #expect(fresh.scopes == last.scopes)
      #expect(fresh.feedVersion == last.feedVersion)
      #expect(fresh.reach == last.reach)
    }
  }

  @Test("Only changes of topics, plain SQL included, invalidate responses about topics")
  func topicsByPlainSQL() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b", "c")
      var known = try await store.stateCache.refresh()
      let steps: [(sql: PostgresQuery, isChange: Bool)] = [
        (#"UPDATE topics SET titles = '{"en": "A"}' WHERE slug = 'a'"#, true),
        ("UPDATE topics SET position = position WHERE slug = 'a'", false),
        ("UPDATE topics SET titles = '{}', revision = revision - 1 WHERE slug = 'a'", true),
        ("WITH gone AS (DELETE FROM topics WHERE slug = 'b') INSERT INTO topics (slug) VALUES ('d')", true),
        ("DELETE FROM topics WHERE slug = 'c'", true),
        ("DELETE FROM topics WHERE slug = 'c'", false),
        ("UPDATE topics SET titles = titles", false),
        ("TRUNCATE topics", true),
      ]
      _ = try await sql.query("INSERT INTO scopes (scope) VALUES ('d')")
      for (number, step) in steps.enumerated() {
        _ = try await sql.query(step.sql)
        let next = try await store.stateCache.refresh()
        #expect(next.isCurrent(.topics, since: known.feedVersion) != step.isChange, "step \(number)")
        #expect(next.feedVersion.topicsRevision >= known.feedVersion.topicsRevision)
        known = next
      }
    }
  }

  @Test("An editor with a revision from before an edit by plain SQL does not overwrite the topic")
  func topicLock() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      let seen = try await store.topic("a").topic
      _ = try await sql.query(#"UPDATE topics SET titles = '{"en": "A"}'"#)
      let content = TopicContent(titles: ["en": "B"], position: 0)
      await #expect(throws: StoreError.preconditionFailed) {
        try await store.replaceTopic("a", content, if: .revisions([seen.revision ?? 0]))
      }
      let now = try await store.topic("a").topic
      #expect(try await store.replaceTopic("a", content, if: .revisions([now.revision ?? 0])).revision == 3)
    }
  }

  @Test("The state advances while readers and writers of this process hold all connections of the pool")
  func ownConnection() async throws {
    try await NewsDatabase.withStore { store, sql in
      let following = Task { await store.follow() }
      defer { following.cancel() }
      try await eventually("it follows") { store.cachedSnapshot != nil }
      // Reads of items wait for this transaction; reads of the state do not.
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let (locks, locked) = AsyncStream.makeStream(of: Void.self)
      let locking = Task {
        try await sql.transaction { transaction in
          _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
          locked.finish()
          for await _ in gate {}
        }
      }
      for await _ in locks {}
      let readers = (0..<30).map { number in Task { try? await store.newsItem(UUID(number)) } }
      try await eventually("the pool is busy") { store.connections.waiting > 10 }
      try await Task.sleep(for: .seconds(3))
      #expect(!store.isDatabaseUnresponsive)
      try await sql.makeTopics("new")
      try await eventually("the state advances") { store.cachedSnapshot?.scopes["new"] != nil }
      opening.finish()
      try await locking.value
      for reader in readers { _ = await reader.value }
    }
  }

  @Test("After a restore, a write is acknowledged once it is readable, and no earlier state is returned")
  func rewound() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 1...3 { try await sql.publish([UUID(number)], text: "\(number)") }
      // Simulates a subscriber; the state is read only when it must be.
      store.stateCache.isFollowed = true
      let before = try await store.stateCache.refresh()
      #expect(store.cachedSnapshot?.version == 3)
      _ = try await sql.query("DELETE FROM change_log WHERE version > 1")
      _ = try await sql.query("ALTER TABLE items DISABLE TRIGGER USER")
      _ = try await sql.query("DELETE FROM items WHERE id <> \(UUID(1))")
      _ = try await sql.query("ALTER TABLE items ENABLE TRIGGER USER")
      _ = try await sql.query("UPDATE scopes SET version = 1")
      try await sql.endOtherSessions()
      // The version repeats one that memory has already passed, in another epoch.
      var version = 0
      try await eventually("the database is there again") {
        do {
          version = try await store.create(UUID(4), ItemContent(state: .published, date: .newYear, text: "4")).0.item
            .version
          return true
        } catch StoreError.unavailable {
          return false
        }
      }
      #expect(version == 2)
      let now = try #require(store.cachedSnapshot)
      #expect(now.feedVersion.epoch != before.feedVersion.epoch)
      #expect(now.version == 2)
    }
  }

  @Test("The state of a following store includes its own writes and those of others without a request")
  func following() async throws {
    try await NewsDatabase.withStore { store, sql in
      let following = Task { await store.follow() }
      defer { following.cancel() }
      try await eventually("it follows") { store.stateCache.isFollowed && store.stateCache.latest != nil }
      let (item, _) = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"))
      #expect(store.stateCache.latest?.state.version == item.item.version)
      try await sql.publish([UUID(2)])
      try await eventually("NOTIFY is followed") { store.stateCache.latest?.state.version == 2 }
      // Without a notification, polling finds the topic.
      _ = try await sql.query("ALTER TABLE topics DISABLE TRIGGER topics_notify")
      try await sql.makeTopics("quiet")
      try await eventually("the topic is found") { store.stateCache.latest?.state.scopes["quiet"] != nil }
      // The listening connection is lost, but no change is.
      _ = try await sql.query(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'
        """)
      try await sql.publish([UUID(3)])
      try await eventually("it goes on") { store.stateCache.latest?.state.version == 3 }
    }
  }
}
