import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Scheduled items become visible once and never early, whatever is killed meanwhile.
///
/// `TIDINGS_EMBARGO_ITEMS` sets their number and requests the long form: each server and the database are killed at
/// least ten times, and the delay of each publication is limited. `make embargo` does so with 1,000 items.
@Suite struct EmbargoTests {
  private static let requested =
    ProcessInfo.processInfo.environment["TIDINGS_EMBARGO_ITEMS"].flatMap { Int($0) }
  private static let items = requested ?? 120
  /// The seconds until the last item is due.
  private static let seconds = Double(items) / (requested == nil ? 20 : 8)
  /// The number of kills of each server, and of the database.
  private static let kills = requested == nil ? 0 : 10
  /// The maximum delay of a publication while a server and the database accept work, in seconds; nil for no limit. The
  /// short form runs beside other tests, which may take the processors for any time.
  private static let maximumDelay: Double? = requested == nil ? nil : 1

  /// The outages of the database, and the number of all kills.
  private struct Outages {
    var database: [ClosedRange<Date>] = []
    var servers = [0, 0, 0]
  }

  @Test("Scheduled items become visible once and never early, though servers and the database are killed")
  func embargo() async throws {
    try await TestCluster.withCluster(settings: []) { cluster in
      let url = try await Self.prepare(cluster)
      try await Installation.with(url: url) { installation in
        let clock = WrongClock.isInstalled ? try await WrongClock() : nil
        defer { clock?.remove() }
        try clock?.jump(by: 3600)
        // The clock of the third server is an hour ahead.
        let servers = try await Servers(installation, [[:], [:], clock?.environment ?? [:]])
        try await withResource(servers, release: { await $0.kill() }) { servers in
          let due = try await Self.schedule(installation)
          let seen = try await withThrowingTaskGroup(of: [UUID: Int].self) { group in
            for reader in EmbargoReader.all { group.addTask { try await reader.follow(servers, due) } }
            let outages = try await Self.killEverything(cluster, servers, installation)
            try await Self.expectPublication(installation, outages)
            await servers.finish()
            return try await group.reduce(into: []) { $0.append($1) }
          }
          #expect(seen.count == EmbargoReader.all.count)
          for items in seen {
            #expect(Set(items.keys) == Set(due.keys))
            #expect(items.values.allSatisfy { $0 == 1 }, "each item is received once")
          }
        }
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
  ///
  /// - Returns: The times by id.
  private static func schedule(_ installation: Installation) async throws -> [UUID: Date] {
    let rows = try await installation.sql.query(
      """
      INSERT INTO items (id, state, publish_at, has_date, date, text)
      SELECT gen_random_uuid(), 'scheduled',
        date_trunc('milliseconds', clock_timestamp() + make_interval(secs => 1 + random() * \(seconds))),
        n % 3 <> 0, '2026-01-01', 'item ' || n
      FROM generate_series(1, \(items)) AS n
      RETURNING id, publish_at
      """)
    return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.decode("id"), try $0.decode("publish_at")) })
  }

  /// Kills servers and the database in turn until all items are due and all have been killed often enough.
  private static func killEverything(
    _ cluster: TestCluster, _ servers: Servers, _ installation: Installation
  ) async throws -> Outages {
    let end = Date() + seconds + 1
    var outages = Outages()
    var round = 0
    while Date() < end || min(outages.database.count, outages.servers.min() ?? 0) < kills {
      // In the long form, the database is killed as often as each server.
      let index = round % (kills == 0 ? 2 : 4)
      if kills == 0 ? index == 0 : index < 3 {
        let server = kills == 0 ? round / 2 % 3 : index
        try await servers.restart(server)
        outages.servers[server] += 1
      } else {
        let start = Date()
        try await cluster.kill()
        try await cluster.start()
        try await eventually("the database accepts work") {
          (try? await installation.sql.query("SELECT 1")) != nil
        }
        outages.database.append(start...Date())
      }
      round += 1
      try await Task.sleep(for: .seconds(kills == 0 ? seconds / 20 : Double.random(in: 0...2)))
    }
    return outages
  }

  /// Waits until all items are published, and checks when they were.
  private static func expectPublication(_ installation: Installation, _ outages: Outages) async throws {
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
        outages.database.filter { $0.contains(due) || $0.lowerBound > due && $0.lowerBound < published }
        .map(\.upperBound).max() ?? due
      longest = max(longest, published.timeIntervalSince(max(due, free)))
    }
    if let maximumDelay { #expect(longest <= maximumDelay, "the longest delay in seconds") }
    print(
      """
      embargo: \(items) items, \(outages.database.count) kills of the database, \(outages.servers) of the servers; the \
      longest delay while a server and the database accepted work was \(Int(longest * 1000)) ms
      """)
  }
}

/// A client that polls servers while they are killed.
private struct EmbargoReader: Sendable {
  /// The index of the server that it uses; nil for each in turn.
  var server: Int?
  /// The seconds for which a request waits for changes.
  var wait = 0

  static let all = [
    EmbargoReader(server: 0), EmbargoReader(server: 1), EmbargoReader(server: 2), EmbargoReader(),
    EmbargoReader(wait: 2),
    EmbargoReader(server: 2, wait: 2),
  ]

  /// Follows the changes until the servers are finished and all items were received, and checks that no item is early.
  ///
  /// - Parameter due: The times of publication by id.
  /// - Returns: How often each item was received.
  /// - Throws: `Unexpected` if no server answers for three minutes.
  func follow(_ servers: Servers, _ due: [UUID: Date]) async throws -> [UUID: Int] {
    var seen: [UUID: Int] = [:]
    var token: String?
    var isLast = false
    var lastAnswer = ContinuousClock.now
    while true {
      try Task.checkCancellation()
      guard ContinuousClock.now - lastAnswer < .seconds(180) else {
        throw Unexpected(description: "server \(server ?? -1) has not answered for three minutes")
      }
      let finished = await servers.finished
      let query = (token.map { ["since=\($0)"] } ?? []) + (wait > 0 && token != nil ? ["wait=\(wait)"] : [])
      let target = "/v1/changes?" + (["limit=100"] + query).joined(separator: "&")
      guard let response = try? await servers.client(server).send("GET", target), response.status == 200,
        let list = try? response.json(ChangeList.self)
      else {
        try await Task.sleep(for: .milliseconds(20))
        continue
      }
      lastAnswer = .now
      // The database and the tests have the same clock.
      let now = Date()
      for case .put(let item) in list.changes {
        #expect(due[item.id].map { $0 <= now } ?? false, "no reader receives an item early")
        seen[item.id, default: 0] += 1
      }
      token = list.token.description
      // A server learns of a publication by another one a moment later, which is longer on a busy machine. Another poll
      // shows whether an item comes twice.
      if let finished, !list.more, seen.count >= due.count || finished.duration(to: .now) > .seconds(60) {
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
  /// The time since which all items are published.
  private(set) var finished: ContinuousClock.Instant?

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

  /// Returns the server with an index, or for nil each time another one.
  func client(_ index: Int?) -> TestClient {
    if let index { return running[index].client }
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

  func finish() { finished = .now }

  func kill() async {
    for server in running {
      server.process.send(SIGKILL)
      _ = await server.process.result()
    }
  }
}
