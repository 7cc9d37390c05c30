import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Scheduled items become visible once and never early, whatever is killed meanwhile.
///
/// `TIDINGS_EMBARGO_ITEMS` sets their number, and with it the duration: 20 items become due in a second.
@Suite struct EmbargoTests {
  private static let items =
    ProcessInfo.processInfo.environment["TIDINGS_EMBARGO_ITEMS"].flatMap { Int($0) } ?? 120
  /// The seconds until the last item is due.
  private static let seconds = Double(items) / 20

  @Test("Scheduled items become visible once and never early, though servers and the database are killed")
  func embargo() async throws {
    try await TestCluster.withCluster(settings: []) { cluster in
      let url = try await Self.prepare(cluster)
      try await Installation.with(url: url) { installation in
        let clock = WrongClock.isInstalled ? try WrongClock() : nil
        defer { clock?.remove() }
        try clock?.jump(by: 3600)
        // The clock of the third server is an hour ahead.
        let launches: [[String: String]] = [[:], [:], clock?.environment ?? [:]]
        let servers = try await Servers(installation, launches)
        do {
          try await Self.schedule(installation)
          let follower = Task { try await Self.follow(servers) }
          let outages = try await Self.killEverything(cluster, servers, installation)
          try await Self.expectPublication(installation, outages)
          await servers.finish()
          let seen = try await follower.value
          let ids = try await installation.sql.query("SELECT id FROM items")
          #expect(Set(seen.keys) == Set(try ids.map { try $0.decode("id", as: UUID.self) }))
          #expect(seen.values.allSatisfy { $0 == 1 }, "each item is received once")
        } catch {
          await servers.kill()
          throw error
        }
        await servers.kill()
      }
    }
  }

  private static func prepare(_ cluster: TestCluster) async throws -> String {
    try await TestDatabase.execute("CREATE DATABASE news", at: await cluster.url)
    let url = await cluster.url.replacing("/postgres", with: "/news")
    _ = try await Migrator(configuration: .forBusyMachine(url), logger: NewsDatabase.logger).migrate()
    return url
  }

  /// Schedules the items at random times from now on. A third of them has no date.
  private static func schedule(_ installation: Installation) async throws {
    _ = try await installation.sql.query(
      """
      INSERT INTO items (id, state, publish_at, has_date, date, text)
      SELECT gen_random_uuid(), 'scheduled',
        date_trunc('milliseconds', clock_timestamp() + make_interval(secs => 1 + random() * \(seconds))),
        n % 3 <> 0, '2026-01-01', 'item ' || n
      FROM generate_series(1, \(items)) AS n
      """)
  }

  /// Kills servers and the database in turn until all items are due, ten times each in a run of 1,000 items.
  ///
  /// - Returns: The times in which the database was away.
  private static func killEverything(
    _ cluster: TestCluster, _ servers: Servers, _ installation: Installation
  ) async throws -> [ClosedRange<Date>] {
    let end = Date() + seconds + 1
    var outages: [ClosedRange<Date>] = []
    var round = 0
    while Date() < end {
      if round.isMultiple(of: 2) {
        try await servers.restart(round / 2 % 3)
      } else {
        let start = Date()
        try await cluster.kill()
        try await cluster.start()
        try await eventually("the database accepts work") {
          (try? await installation.sql.query("SELECT 1")) != nil
        }
        outages.append(start...Date())
      }
      round += 1
      try await Task.sleep(for: .seconds(seconds / 20))
    }
    return outages
  }

  /// Waits until all items are published, and checks when they were.
  private static func expectPublication(_ installation: Installation, _ outages: [ClosedRange<Date>]) async throws {
    try await eventually("all items are published") {
      try await installation.value("SELECT count(*) FROM items WHERE state <> 'published'") == 0
    }
    #expect(try await installation.counter() == items)
    let rows = try await installation.sql.query(
      """
      SELECT i.publish_at, l.updated, i.date, i.revision FROM items AS i
      JOIN change_log AS l ON l.item = i.id AND l.scope = ''
      """)
    var longest = 0.0
    for row in rows {
      let (due, published): (Date, Date) = (try row.decode("publish_at"), try row.decode("updated"))
      #expect(published >= due, "no item is early")
      #expect(try row.decode("revision") == 2)
      let date: Date = try row.decode("date")
      #expect(date < due - 86_400 || date >= due && date <= published)
      // A delay counts from the moment at which the database accepts work.
      let free =
        outages.filter { $0.contains(due) || $0.lowerBound > due && $0.lowerBound < published }
        .map(\.upperBound).max() ?? due
      longest = max(longest, published.timeIntervalSince(max(due, free)))
    }
    print(
      """
      embargo: \(items) items, \(outages.count) kills of the database; the longest delay while a server and the database \
      accepted work was \(Int(longest * 1000)) ms
      """)
  }

  /// Follows the changes through whichever server answers.
  ///
  /// - Returns: How often each item was received.
  private static func follow(_ servers: Servers) async throws -> [UUID: Int] {
    var seen: [UUID: Int] = [:]
    var token: String?
    var isLast = false
    while true {
      // After the last poll that begins when all is published, there is nothing more.
      let isFinished = await servers.isFinished
      let target = "/v1/changes" + (token.map { "?since=\($0)" } ?? "")
      guard let response = try? await servers.any().send("GET", target), response.status == 200,
        let list = try? response.json(ChangeList.self)
      else {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      for case .put(let item) in list.changes {
        #expect(seen[item.id] == nil || token != nil)
        seen[item.id, default: 0] += 1
      }
      token = list.token.description
      if isFinished, !list.more {
        if isLast { return seen }
        isLast = true
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// Servers over one database that are killed and started again.
private actor Servers {
  private let installation: Installation
  private let changes: [[String: String]]
  private var running: [RunningServer]
  private var next = 0
  private(set) var isFinished = false

  init(_ installation: Installation, _ changes: [[String: String]]) async throws {
    self.installation = installation
    self.changes = changes
    var running: [RunningServer] = []
    for change in changes { running.append(try await Self.start(installation, change)) }
    self.running = running
  }

  private static func start(_ installation: Installation, _ changes: [String: String]) async throws -> RunningServer {
    // Swift's runtime finds its arguments only in a process that has become this one by `exec`.
    try await installation.start(launcher: changes.isEmpty ? [] : ["/usr/bin/env"], changes: changes)
  }

  /// A server, each time another one.
  func any() -> TestClient {
    next = (next + 1) % running.count
    return running[next].client
  }

  /// Kills a server and starts it again.
  func restart(_ index: Int) async throws {
    let process = running[index].process
    process.send(SIGKILL)
    _ = await process.result()
    running[index] = try await Self.start(installation, changes[index])
  }

  func finish() { isFinished = true }

  func kill() async {
    for server in running {
      server.process.send(SIGKILL)
      _ = await server.process.result()
    }
  }
}
