import FaultServer
import Foundation
import NIOCore
import NetworkAddresses
import NewsFollower
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Two processes that follow 500 feeds, or a quarter of them, in virtual time.
final class FeedSimulation: Sendable {
  /// Tuesday, 22:13:20 UTC.
  static let start = Date(timeIntervalSince1970: 1_700_000_000)
  /// The time between two steps in seconds. Feeds that become due in between are polled at the next step.
  static let step: Double = 600
  /// The time over which the first polls are spread, in seconds.
  private static let opening: Double = 4 * 3600

  let feeds: [SimulatedFeed]
  private let clock = VirtualClock(start)
  private let server: FaultServer
  private let followers: [FeedFollower]
  private let sql: PostgresPool
  private let record: Mutex<Record>

  private struct Record {
    /// The last request for each path, and the time in seconds for which its response asks to be left alone.
    var last: [String: (time: Date, wait: Double)] = [:]
    var indices: [String: Int] = [:]
    var violations: [String] = []
    /// The time at which each entry was found in the store, by its guid.
    var arrivals: [String: Date] = [:]
    var firstRequests: [Int: Date] = [:]
  }

  var now: Date { clock.now }
  var violations: [String] { record.withLock { $0.violations } }
  var arrivals: [String: Date] { record.withLock { $0.arrivals } }
  var firstRequests: [Int: Date] { record.withLock { $0.firstRequests } }
  var openConnections: Int { server.openConnections }
  var requests: Int { record.withLock { $0.indices.values.reduce(0, +) } }

  private init(_ server: FaultServer, _ followers: [NewsStore], _ clients: [OutgoingClient], _ sql: PostgresPool) {
    self.server = server
    self.sql = sql
    record = Mutex(Record())
    self.followers = zip(followers, clients).map { [clock] store, client in
      FeedFollower(store: store, client: client, logger: NewsDatabase.logger) { clock.now }
    }
    let (working, broken) = (SimulatedFeed.Kind.working, SimulatedFeed.Kind.broken)
    let kinds =
      (0..<rounds(350)).map { working[$0 % working.count] } + (0..<rounds(145)).map { broken[$0 % broken.count] }
      + SimulatedFeed.Kind.stuck
    feeds = kinds.enumerated().map { number, kind in
      // Every 29th feed is a fast one, so that each kind has some.
      SimulatedFeed(number: number, kind: kind, cadence: number % 29 == 0 ? 7200 : 57_600, start: Self.start)
    }
    server.respond { [weak self] request in self?.respond(to: request) ?? FaultResponse(status: 404) }
  }

  /// Runs the body with two followers that have a store and a client each.
  static func with(_ body: @Sendable (FeedSimulation) async throws -> Void) async throws {
    try await FaultServer.with { server in
      try await NewsDatabase.with { url in
        let connection = PostgresConfiguration.forBusyMachine(url)
        let stores = (0..<2).map { _ in
          NewsStore(
            connection: connection, pool: .forBusyMachine, waits: NewsStore.WaitLimits(), logger: NewsDatabase.logger)
        }
        let clients = try (0..<2).map { _ in try client() }
        let sql = PostgresPool(configuration: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
        let simulation = FeedSimulation(server, stores, clients, sql)
        try await withResource(
          simulation,
          release: { _ in
            for client in clients { await client.shutdown() }
            for store in stores { await store.shutdown() }
            await sql.shutdown()
          }
        ) { simulation in
          try await simulation.subscribe(stores[0])
          try await body(simulation)
        }
      }
    }
  }

  /// A client with a small limit of size, and timeouts that only a hanging test reaches.
  private static func client() throws -> OutgoingClient {
    var policy = AddressPolicy()
    policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
    var limits = OutgoingLimits()
    limits.bodyBytes = 1 << 18
    (limits.idleTime, limits.connectTime, limits.totalTime) = (.seconds(200), .seconds(200), .seconds(200))
    let resolver = NameResolver { host, port in
      [try SocketAddress(ipAddress: host == "private.example" ? "10.0.0.1" : "127.0.0.1", port: port)]
    }
    return OutgoingClient(policy: policy, userAgent: "Tidings", limits: limits, resolver: resolver)
  }

  private func subscribe(_ store: NewsStore) async throws {
    for feed in feeds {
      let id = UUID()
      let url = "http://\(feed.kind.host):\(server.port)\(feed.path)"
      _ = try await store.createSubscription(id, SubscriptionContent(url: url))
      let first = Self.start + Self.opening * Double(feed.number * 7 % 500) / 500
      _ = try await sql.query("UPDATE subscriptions SET next_poll = \(first) WHERE id = \(id)")
    }
  }

  // MARK: - Time

  /// Moves the clock, and lets both followers poll all feeds that are due.
  func advance() async throws {
    clock.advance(Self.step)
    let ended = Count()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for follower in followers {
        group.addTask {
          defer { _ = ended.next() }
          try await follower.pollDue()
        }
      }
      group.addTask {
        try await eventually("all feeds but the stuck ones are polled") { try await self.othersAreIdle() }
        try await eventually("the stuck polls end") {
          self.server.release()
          return ended.value == self.followers.count
        }
      }
      try await group.waitForAll()
    }
    try await noteArrivals()
    _ = server.takeRequests()
  }

  private func othersAreIdle() async throws -> Bool {
    let stuck = feeds.filter { $0.kind.role == .stuck }.map { "http://\($0.kind.host):\(server.port)\($0.path)" }
    let rows = try await sql.query(
      """
      SELECT 1 FROM subscriptions WHERE NOT url = ANY (\(stuck))
        AND (leased_until > \(now) OR (NOT paused AND next_poll <= \(now))) LIMIT 1
      """)
    return rows.isEmpty
  }

  private func noteArrivals() async throws {
    let known = arrivals.count
    // Items are never deleted here, so that new ones follow the known ones.
    let rows = try await sql.query(
      "SELECT source_guid FROM items WHERE source_guid IS NOT NULL ORDER BY created_at, id OFFSET \(max(0, known - 500))"
    )
    let guids = try rows.map { try $0.decode("source_guid", as: String.self) }
    record.withLock { record in
      for guid in guids where record.arrivals[guid] == nil { record.arrivals[guid] = now }
    }
  }

  /// Returns the last error of each feed by its first path; nil for a feed without one.
  func errors() async throws -> [String: String] {
    let rows = try await sql.query("SELECT url, coalesce(error_message, '') AS error FROM subscriptions")
    return Dictionary(
      try rows.map { row in
        let url = try row.decode("url", as: String.self)
        return ("/" + url.split(separator: "/")[2], try row.decode("error", as: String.self))
      }
    ) { first, _ in first }
  }

  // MARK: - Requests

  private func respond(to request: FaultRequest) -> FaultResponse {
    let name = request.path.split(separator: "/").first.flatMap { Int($0) }
    guard let name, feeds.indices.contains(name) else { return FaultResponse(status: 404) }
    let (feed, now) = (feeds[name], clock.now)
    return record.withLock { record in
      let index = record.indices[request.path, default: 0]
      record.indices[request.path] = index + 1
      record.firstRequests[name] = record.firstRequests[name] ?? now
      let (response, wait) = feed.kind.respond(
        .init(feed: feed, request: request, now: now, port: server.port, index: index))
      if let violation = Self.violation(feed, record.last[request.path], now) {
        record.violations.append("\(request.path) (\(feed.kind.name)) at \(now): \(violation)")
      }
      // Hints are those of the document, so that a page or a redirect in front of it has none.
      record.last[request.path] = (now, max(wait, 300, feed.kind.hint))
      return response
    }
  }

  private static func violation(_ feed: SimulatedFeed, _ last: (time: Date, wait: Double)?, _ now: Date) -> String? {
    guard let last else { return nil }
    // A feed that became due since the last step, at a time without a rest, is polled only now.
    if let rest = Self.rest(of: feed, at: now), Self.rest(of: feed, at: now - step) != nil { return rest }
    if feed.kind.mayRepeat, last.time == now { return nil }
    let passed = now.timeIntervalSince(last.time)
    return passed < last.wait ? "\(passed) s after the last one, with a wait of \(last.wait) s" : nil
  }

  /// Returns the hour or the day in which a feed asks not to be read; nil at other times.
  private static func rest(of feed: SimulatedFeed, at time: Date) -> String? {
    let hour = Int(time.timeIntervalSince1970 / 3600)
    // 1 January 1970 was a Thursday, the fifth day.
    let (hourOfDay, day) = (hour % 24, (hour / 24 + 4) % 7 + 1)
    if feed.kind.skippedHours.contains(hourOfDay) { return "in the hour \(hourOfDay)" }
    return feed.kind.skippedDay == day ? "on the day \(day)" : nil
  }
}
