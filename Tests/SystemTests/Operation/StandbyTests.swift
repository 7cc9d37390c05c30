import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Reads from a streaming standby, with replay paused by the tests.
@Suite struct StandbyTests {
  /// A primary with the schema, its standby, and a store that reads from both.
  private struct Pair: Sendable {
    let primary: TestCluster
    let standby: TestCluster
    /// The URLs of the databases.
    let url: String
    let standbyURL: String
    let store: NewsStore

    static func with(_ body: @Sendable (Pair) async throws -> Void) async throws {
      try await TestCluster.withCluster { primary in
        let database = try await TestDatabase.create(on: primary.url)
        let connection = PostgresConfiguration.forBusyMachine(database.url)
        _ = try await Migrator(configuration: connection, logger: NewsDatabase.logger)
          .migrate()
        let standby = try await TestCluster.reserve()
        try await standby.becomeStandby(of: primary)
        var components = try #require(URLComponents(string: await standby.url))
        components.path = "/" + database.name
        let standbyURL = try #require(components.string)
        let store = NewsStore(
          connection: connection, standby: PostgresConfiguration(connectionString: standbyURL),
          logger: NewsDatabase.logger)
        let following = Task { await store.follow() }
        let outcome: Result<Void, any Error>
        do {
          try await eventually("the state is known") { store.cachedSnapshot != nil }
          try await body(
            Pair(primary: primary, standby: standby, url: database.url, standbyURL: standbyURL, store: store))
          outcome = .success(())
        } catch { outcome = .failure(error) }
        following.cancel()
        await following.value
        await store.shutdown()
        try await standby.remove()
        try outcome.get()
      }
    }

    func publish(_ text: String, topics: [String] = []) async throws -> UUID {
      let content = ItemContent(
        state: .published, date: Date(timeIntervalSince1970: 1_767_225_600), text: text, topics: topics)
      return try await store.create(UUID(), content).item.item.id
    }

    func pauseReplay() async throws { try await TestDatabase.execute("SELECT pg_wal_replay_pause()", at: standbyURL) }

    func resumeReplay() async throws { try await TestDatabase.execute("SELECT pg_wal_replay_resume()", at: standbyURL) }

    var reads: ReplicaReads {
      guard let reads = store.replicaReads else { preconditionFailure("the store has a standby") }
      return reads
    }

    /// Waits until the standby serves a read.
    func untilUsed() async throws {
      let before = reads.used
      try await eventually("the standby answers") {
        _ = try await store.items(ItemQuery(limit: 7))
        return reads.used > before
      }
    }
  }

  @Test("A current standby serves items, changes, topics and searches")
  func current() async throws {
    try await Pair.with { pair in
      let id = try await pair.publish("harbour")
      try await pair.untilUsed()
      // If the standby serves the reads, they succeed without the primary.
      try await pair.primary.stop(immediate: true)
      #expect(try await pair.store.items(ItemQuery(limit: 7)).items.map(\.id) == [id])
      #expect(try await pair.store.newsItem(id).item.text == "harbour")
      #expect(try await pair.store.items(ItemQuery(search: SearchQuery("harbour"))).items.map(\.id) == [id])
      #expect(try await pair.store.changeList(ChangeQuery()).changes.count == 1)
      #expect(pair.reads.used >= 5)
      try await pair.primary.start()
    }
  }

  @Test("A lagging standby never serves older data than this process has sent; reads use the primary")
  func lagging() async throws {
    try await Pair.with { pair in
      _ = try await pair.publish("before")
      // One change behind is too old, too.
      for number in 1...5 {
        try await pair.untilUsed()
        try await pair.pauseReplay()
        let id = try await pair.publish("one behind: \(number)")
        #expect(try await pair.store.items(ItemQuery(limit: 7)).items.contains { $0.id == id })
        try await pair.resumeReplay()
      }
      try await pair.untilUsed()
      try await pair.pauseReplay()
      for number in 1...20 {
        let token = try await pair.store.snapshot().state(of: .feed).feed
        let id = try await pair.publish("\(number)")
        let page = try await pair.store.items(ItemQuery(limit: 150))
        #expect(page.items.contains { $0.id == id })
        #expect(try await pair.store.newsItem(id).item.text == "\(number)")
        let changes = try await pair.store.changeList(ChangeQuery(since: token))
        #expect(changes.changes.contains { if case .put(let item) = $0 { item.id == id } else { false } })
        // The store tries the standby again after a pause.
        try await Task.sleep(for: .milliseconds(20))
      }
      let reads = pair.reads
      #expect(reads.behind > 0)
      try await pair.resumeReplay()
      try await pair.untilUsed()
      #expect(pair.reads.used > reads.used)
    }
  }

  @Test("The lag of a standby is 0 while it is current, grows while its replay is paused, and is found by doctor")
  func lag() async throws {
    try await Pair.with { pair in
      _ = try await pair.publish("before")
      try await eventually("the standby is current") { pair.store.standbyLag == .zero }
      try await Installation.with(url: pair.url) { installation in
        let changes = ["DATABASE_READ_URL": pair.standbyURL]
        let (current, _) = try await DoctorTests.examine(installation, changes)
        #expect(current["standby"]?.status == "ok", "\(current)")
        #expect(current["standby"]?.message.contains("is current") == true)
        try await pair.pauseReplay()
        _ = try await pair.publish("after")
        try await eventually("the standby lags") { (pair.store.standbyLag ?? .zero) > .seconds(1) }
        let (lagging, _) = try await DoctorTests.examine(installation, changes)
        #expect(lagging["standby"]?.status == "warning")
        #expect(lagging["standby"]?.message.contains("pg_wal_replay_resume()") == true, "\(lagging)")
        try await pair.resumeReplay()
        try await eventually("the standby is current again") { pair.store.standbyLag == .zero }
      }
    }
  }

  @Test("A token that is newer than the process is read from the primary, not refused by a standby")
  func newerToken() async throws {
    try await Pair.with { pair in
      for number in 1...3 { _ = try await pair.publish("\(number)") }
      try await pair.untilUsed()
      // Continues a snapshot with a token from another process.
      try await pair.pauseReplay()
      let other = NewsStore(connection: PostgresConfiguration(connectionString: pair.url), logger: NewsDatabase.logger)
      for number in 4...6 {
        let content = ItemContent(
          state: .published, date: Date(timeIntervalSince1970: 1_767_225_600), text: "\(number)", topics: [])
        _ = try await other.create(UUID(), content)
      }
      let first = try await other.changeList(ChangeQuery(limit: 2))
      await other.shutdown()
      #expect(first.more)
      var rest = try await pair.store.changeList(ChangeQuery(since: first.token, limit: 100))
      #expect(first.changes.count + rest.changes.count == 6)
      rest = try await pair.store.changeList(ChangeQuery(since: rest.token))
      #expect(rest.changes.isEmpty)
      try await pair.resumeReplay()
    }
  }

  @Test("A new topic is visible at once, although topics have no versions")
  func topics() async throws {
    try await Pair.with { pair in
      _ = try await pair.publish("x")
      try await pair.untilUsed()
      try await pair.pauseReplay()
      _ = try await pair.store.createTopic("harbour", TopicContent(titles: ["en": "Harbour"], position: 1))
      #expect(try await pair.store.topic("harbour").topic.titles == ["en": "Harbour"])
      #expect(try await pair.store.topics().topics.map(\.slug) == ["harbour"])
      #expect(try await pair.store.items(ItemQuery(scope: Scope(topics: ["harbour"]))).items.isEmpty)
      try await Task.sleep(for: .milliseconds(200))
      let replaced = TopicContent(titles: ["en": "The harbour"], position: 1)
      _ = try await pair.store.replaceTopic("harbour", replaced, if: .exists)
      #expect(try await pair.store.topic("harbour").topic.titles == ["en": "The harbour"])
      try await pair.resumeReplay()
      // Once the standby has the topic, it must not return an earlier title either.
      let before = pair.reads.used
      try await eventually("the standby serves topics") {
        _ = try await pair.store.topics()
        return pair.reads.used > before
      }
      try await pair.pauseReplay()
      let renamed = TopicContent(titles: ["en": "The port"], position: 1)
      _ = try await pair.store.replaceTopic("harbour", renamed, if: .exists)
      #expect(try await pair.store.topics().topics.map(\.titles) == [["en": "The port"]])
      try await pair.resumeReplay()
    }
  }

  @Test("An unreachable standby, or one of an older history, is not used and delays no request")
  func away() async throws {
    try await Pair.with { pair in
      let id = try await pair.publish("x")
      try await pair.untilUsed()
      try await pair.standby.stop(immediate: true)
      for _ in 0..<10 { #expect(try await pair.store.items(ItemQuery(limit: 7)).items.map(\.id) == [id]) }
      #expect(pair.reads.failed > 0)
      try await pair.standby.start()
      try await pair.untilUsed()

      try await pair.pauseReplay()
      _ = try await pair.store.cutEpoch()
      try await eventually("the epoch is known") {
        let epoch = try await pair.store.epochs().first?.id
        return pair.store.cachedSnapshot?.feedVersion.epoch == epoch
      }
      let before = pair.reads
      try await Task.sleep(for: .milliseconds(200))
      let page = try await pair.store.items(ItemQuery(limit: 7))
      #expect(page.token.epoch == pair.store.cachedSnapshot?.feedVersion.epoch)
      #expect(pair.reads.used == before.used)
      try await pair.resumeReplay()
      try await pair.untilUsed()
    }
  }
}
