import Foundation
import News
import PostgresClient
import TestSupport
import Testing

/// The first promise: a client that keeps asking ends with exactly what the server has.
///
/// It runs for a few seconds, or for `TIDINGS_TORTURE_SECONDS`, with the seed `TIDINGS_TORTURE_SEED`.
@Suite struct FollowerTests {
  private static let topics = ["city", "culture", "harbour", "science", "sport"]

  private static func setting(_ name: String, default standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test("Followers of the feed, of topics, of unions and of snapshots end equal to the table, whatever writers do")
  func followersEndEqualToTheTable() async throws {
    let seconds = Self.setting("TIDINGS_TORTURE_SECONDS", default: 6)
    let seed = UInt64(Self.setting("TIDINGS_TORTURE_SEED", default: 1))
    try await TestServer.with { server in
      try await server.makeTopics(Self.topics)
      let end = ContinuousClock.now + .seconds(seconds)
      let population = Population()
      let report = try await withThrowingTaskGroup(of: Report.self) { group in
        for index in 0..<3 {
          group.addTask {
            var writer = APIWriter(
              server: server, population: population, topics: Self.topics, seed: seed &* 31 + UInt64(index))
            while ContinuousClock.now < end { try await writer.write() }
            return Report(writes: writer.writes)
          }
          group.addTask {
            var writer = SQLWriter(
              sql: server.sql, population: population, topics: Self.topics, seed: seed &* 37 + UInt64(index))
            while ContinuousClock.now < end { try await writer.write() }
            return Report(commits: writer.commits, rollbacks: writer.rollbacks, refusals: writer.refusals)
          }
        }
        for follower in Self.followers {
          group.addTask { try await Self.follow(follower, server, until: end) }
        }
        return try await group.reduce(into: Report()) { $0.add($1) }
      }
      #expect(report.writes > 0)
      #expect(report.commits > 0)
      #expect(report.received > 0)
      if seconds >= 5 {
        #expect(report.rollbacks > 0)
        #expect(report.refusals > 0)
      }
      print("followers, seed \(seed), \(seconds) s: \(report)")
    }
  }

  private static let followers = [
    Follower(name: "the feed", topics: [], limit: 200),
    Follower(name: "the feed in small pages", topics: [], limit: 2),
    Follower(name: "a topic", topics: ["sport"], limit: 200),
    Follower(name: "a topic in pages of one", topics: ["harbour"], limit: 1),
    Follower(name: "a union", topics: ["city", "science"], limit: 50),
    Follower(name: "a union in small pages", topics: ["culture", "harbour", "sport"], limit: 2),
    Follower(name: "all topics", topics: topics, limit: 3),
    Follower(name: "snapshots of the feed", topics: [], limit: 7, restartsAfter: 40),
    Follower(name: "snapshots of a union", topics: ["city", "sport"], limit: 5, restartsAfter: 25),
  ]

  /// Follows until the end and then on until nothing is new; then it must have what is in the table.
  private static func follow(
    _ follower: Follower, _ server: TestServer, until end: ContinuousClock.Instant
  ) async throws -> Report {
    var follower = follower
    while ContinuousClock.now < end {
      if try await follower.poll(server) { try await Task.sleep(for: .milliseconds(5)) }
    }
    // The writers end on their own; their last transactions may take a moment.
    try await Task.sleep(for: .seconds(2))
    follower.restartsAfter = nil
    let limit = ContinuousClock.now + .seconds(60)
    while try await !follower.poll(server) {
      guard ContinuousClock.now < limit else {
        throw Follower.Broken(description: "\(follower.name) is told of something new for ever")
      }
    }
    try await compare(follower, server)
    return Report(polls: follower.polls, received: follower.received)
  }

  private static func compare(_ follower: Follower, _ server: TestServer) async throws {
    let rows = try await server.sql.query(
      """
      SELECT id, text, title, topics, date FROM items
      WHERE state = 'published' AND (topics && \(follower.topics) OR \(follower.topics.isEmpty))
      """)
    var missing = 0
    for row in rows {
      let id: UUID = try row.decode("id")
      guard let item = follower.items[id] else {
        missing += 1
        continue
      }
      #expect(item.text == (try row.decode("text")), "\(follower.name): \(id)")
      #expect(item.title == (try row.decode("title")), "\(follower.name): \(id)")
      #expect(item.topics == (try row.decode("topics")), "\(follower.name): \(id)")
      #expect(item.date == (try row.decode("date")), "\(follower.name): \(id)")
    }
    #expect(missing == 0, "\(follower.name) lacks items of the table")
    #expect(follower.items.count == rows.count - missing, "\(follower.name) has items that are not in the table")
  }
}

/// What happened during a run.
private struct Report: CustomStringConvertible {
  var writes = 0
  var commits = 0
  var rollbacks = 0
  var refusals = 0
  var polls = 0
  var received = 0

  mutating func add(_ other: Report) {
    writes += other.writes
    commits += other.commits
    rollbacks += other.rollbacks
    refusals += other.refusals
    polls += other.polls
    received += other.received
  }

  var description: String {
    """
    \(writes) writes through the API, \(commits) transactions of SQL (\(rollbacks) more rolled back, \(refusals) refused), \
    \(polls) polls, \(received) changes received
    """
  }
}
