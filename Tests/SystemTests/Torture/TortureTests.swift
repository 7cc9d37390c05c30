import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Tests the first promise: a client that keeps polling converges on exactly the server's state, whatever writers do
/// and whatever breaks, and no acknowledged write is lost.
///
/// The tests run for a few seconds, or for `TIDINGS_TORTURE_SECONDS`, with the seed `TIDINGS_TORTURE_SEED`. To test
/// that they detect faults, `TIDINGS_TORTURE_MUTATION` names a file of statements that break the schema, or
/// `TIDINGS_TEST_EXECUTABLE` names a faulty server.
@Suite struct TortureTests {
  private static let topics = ["city", "culture", "harbour", "science", "sport"]

  /// The numbers of writers.
  private typealias Writers = (api: Int, sql: Int, editors: Int)

  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["TIDINGS_TORTURE_SECONDS"].flatMap { Int($0) }
  private static let seed = environment["TIDINGS_TORTURE_SEED"].flatMap { UInt64($0) } ?? 1

  @Test("All followers converge on the table, and no acknowledged write is lost, under all faults")
  func torture() async throws {
    // A short run omits the slow faults, to leave time for the others.
    let faults = FaultInjector.Fault.allCases.filter { Self.seconds != nil || !FaultInjector.Fault.slow.contains($0) }
    try await Self.run(faults.filter { $0 != .pauseReplay }, for: .seconds(Self.seconds ?? 8))
  }

  @Test("The same holds when a standby serves reads and falls behind")
  func standby() async throws {
    let faults =
      FaultInjector.Fault.allCases.filter { !FaultInjector.Fault.slow.contains($0) } + [.pauseReplay, .pauseReplay]
    try await Self.run(faults, for: .seconds((Self.seconds ?? 16) / 2), withStandby: true)
  }

  @Test("Groups of writes are killed in all phases, and no outcome is unknown that the database knows")
  func groups() async throws {
    let faults: [FaultInjector.Fault] = [.killServer, .killDatabase, .killDatabase, .dropConnections]
    let report = try await Self.run(faults, for: .seconds(Self.seconds ?? 8), writers: (api: 24, sql: 1, editors: 1))
    // A server asks for five seconds what became of a transaction.
    #expect(report.unknowns == 0 || report.longestOutage > .seconds(3), "\(report)")
  }

  /// Runs followers, readers and writers under faults, and compares the results at the end.
  @discardableResult
  private static func run(
    _ faults: [FaultInjector.Fault], for duration: Duration, withStandby: Bool = false, writers: Writers = (3, 3, 2)
  ) async throws -> Report {
    let mutation = try Self.environment["TIDINGS_TORTURE_MUTATION"].map {
      Mutation(script: try String(contentsOfFile: $0, encoding: .utf8))
    }
    let withProxy = Self.seconds != nil && Proxy.isInstalled
    return try await TortureSystem.with(
      topics: Self.topics, mutation: mutation, followers: Self.followers.count, withProxy: withProxy,
      withStandby: withStandby
    ) { system in
      let end = ContinuousClock.now + duration
      let report = try await withThrowingTaskGroup(of: Report.self) { group in
        for follower in Self.followers {
          group.addTask {
            try await Self.follow(follower, system, seed: Self.seed &* 41 &+ UInt64(follower.name.utf8.count))
          }
        }
        if let cache = system.cache {
          group.addTask {
            var reader = CacheReader(cache, before: system.servers)
            while try await system.isRunning() {
              try await reader.poll()
              try await Task.sleep(for: .milliseconds(50))
            }
            return Report(replaced: reader.replaced)
          }
        }
        Self.addReaders(of: system, to: &group)
        group.addTask { try await Self.listen(to: system, topics: [], seed: Self.seed &* 47) }
        group.addTask { try await Self.listen(to: system, topics: ["city", "sport"], seed: Self.seed &* 53) }
        group.addTask {
          let report = try await Self.write(to: system, writers, faults, until: end)
          await system.finishWriting()
          return report
        }
        return try await group.reduce(into: Report()) { $0.add($1) }
      }
      try await Self.audit(system)
      #expect(report.writes > 0)
      #expect(report.edits > 0)
      #expect(report.commits > 0)
      #expect(report.received > 0)
      #expect(report.bodies > 0)
      #expect(!report.faults.isEmpty)
      print(
        "torture, seed \(Self.seed), \(duration)\(withProxy ? ", with nginx" : "")\(withStandby ? ", with a standby" : ""): \(report)"
      )
      return report
    }
  }

  /// Adds the load beside the followers: repeated and unrepeated reads, and endless bodies.
  private static func addReaders(of system: TortureSystem, to group: inout ThrowingTaskGroup<Report, any Error>) {
    for index in 0..<8 {
      group.addTask {
        var reader = UncachedReader(system: system, topics: topics, seed: seed &* 59 &+ UInt64(index))
        while try await system.isRunning() { try await reader.read() }
        return Report(reads: reader.reads)
      }
    }
    for index in 0..<2 {
      group.addTask {
        var reader = ListReader(system: system, seed: seed &* 67 &+ UInt64(index))
        while try await system.isRunning() {
          try await reader.read()
          try await Task.sleep(for: .milliseconds(5))
        }
        return Report()
      }
      group.addTask {
        var sender = EndlessSender(system: system, seed: seed &* 61 &+ UInt64(index))
        while try await system.isRunning() { try await sender.send() }
        return Report(bodies: sender.bodies)
      }
    }
  }

  /// Whether a writer continues: until the end of the run, and on a busy machine until it has written at all.
  private static func isBusy(_ writes: Int, _ end: ContinuousClock.Instant) -> Bool {
    let now = ContinuousClock.now
    return now < end || writes == 0 && now < end + .seconds(60)
  }

  /// Runs writers and faults.
  private static func write(
    to system: TortureSystem, _ writers: Writers, _ faults: [FaultInjector.Fault], until end: ContinuousClock.Instant
  ) async throws -> Report {
    try await withThrowingTaskGroup(of: Report.self) { group in
      for index in 0..<writers.api {
        group.addTask {
          var writer = APIWriter(system: system, topics: topics, seed: seed &* 31 &+ UInt64(index) << 32)
          while isBusy(writer.writes, end) { try await system.writerGate.pass { try await writer.write() } }
          return Report(writes: writer.writes, unknowns: writer.unknowns)
        }
      }
      for index in 0..<writers.editors {
        group.addTask {
          var editor = APIWriter(system: system, topics: topics, seed: seed &* 71 &+ UInt64(index) << 32)
          while isBusy(editor.writes, end) { try await system.writerGate.pass { try await editor.edit() } }
          return Report(edits: editor.writes)
        }
      }
      for index in 0..<writers.sql {
        group.addTask {
          var writer = SQLWriter(system: system, topics: topics, seed: seed &* 37 &+ UInt64(index) << 32)
          while isBusy(writer.commits, end) { try await system.writerGate.pass { try await writer.write() } }
          return Report(commits: writer.commits, rollbacks: writer.rollbacks, refusals: writer.refusals)
        }
      }
      group.addTask {
        var injector = FaultInjector(system: system, seed: seed &* 43)
        while ContinuousClock.now < end { try await injector.inject(faults) }
        return Report(faults: injector.counts, longestOutage: injector.longestOutage)
      }
      return try await group.reduce(into: Report()) { $0.add($1) }
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
    Follower(name: "the feed by its state", topics: [], limit: 100, pollsState: true),
    Follower(name: "the feed, waiting", topics: [], limit: 100, waitSeconds: 2),
    Follower(name: "a topic, waiting", topics: ["science"], limit: 100, waitSeconds: 1),
    Follower(name: "a union by its state", topics: ["culture", "science"], limit: 20, pollsState: true),
    Follower(name: "the feed, now and then", topics: [], limit: 200, maximumSleep: 2),
    Follower(name: "a union, now and then", topics: ["city", "sport"], limit: 50, maximumSleep: 3),
  ]

  /// Follows while there are writers, and then until the follower matches the table.
  private static func follow(_ follower: Follower, _ system: TortureSystem, seed: UInt64) async throws -> Report {
    var follower = follower
    var random = SplitMix64(seed: seed)
    var failures = 0
    var inspections = 0
    while try await system.isRunning() {
      if await system.inspections > inspections {
        inspections += 1
        try await inspect(&follower, system, system.servers, &random)
        await system.follow()
      }
      guard let reader = system.readers.randomElement(using: &random) else { break }
      switch try await follower.poll(reader) {
      case .progress: break
      case .nothingNew: try await Task.sleep(for: .milliseconds(5))
      case .failure:
        failures += 1
        try await Task.sleep(for: .milliseconds(50))
      }
      if follower.maximumSleep > 0 {
        try await Task.sleep(for: .seconds(Double.random(in: 0...follower.maximumSleep, using: &random)))
      }
    }
    try await inspect(&follower, system, system.readers, &random)
    return Report(polls: follower.polls, failures: failures, received: follower.received, resyncs: follower.resyncs)
  }

  /// Polls until a follower has the current token, and then compares it with the table.
  ///
  /// An interrupted transaction may still commit, and a server learns of it a little later. Therefore only a table at
  /// the version that the server has reported is compared.
  private static func inspect(
    _ follower: inout Follower, _ system: TortureSystem, _ readers: [TestClient], _ random: inout SplitMix64
  ) async throws {
    let restartsAfter = follower.restartsAfter
    follower.restartsAfter = nil
    defer { follower.restartsAfter = restartsAfter }
    let limit = ContinuousClock.now + .seconds(60)
    while true {
      let reader = readers[Int.random(in: 0..<readers.count, using: &random)]
      if case .progress = try await follower.poll(reader) { continue }
      let current = try await system.currentTokens(of: follower.topics)
      if !follower.isInSnapshot, follower.token == current.scope {
        let table = try await system.published(in: follower.topics)
        if table.version == current.feed?.version { return try compare(follower, table.rows) }
      }
      guard ContinuousClock.now < limit else {
        throw Ledger.Violation(description: "\(follower) does not reach \(current.scope?.description ?? "any token")")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Follows events over successive connections; the events must list all changes.
  private static func listen(to system: TortureSystem, topics: [String], seed: UInt64) async throws -> Report {
    var listener = EventListener(topics: topics, seed: seed)
    while try await system.isRunning() { try await listener.listen(to: system) }
    let end = ContinuousClock.now + .seconds(60)
    while true {
      if let token = listener.token, try await system.isCurrent(token, for: topics) { break }
      guard ContinuousClock.now < end else {
        let current = try await system.currentToken(of: topics)
        throw Ledger.Violation(
          description: "events \(topics) end at \(listener.token as Any), not at \(current as Any)")
      }
      try await listener.listen(to: system)
    }
    return Report(events: listener.events)
  }

  private static func compare(_ follower: Follower, _ rows: [PostgresRow]) throws {
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

  /// Compares the table with the acknowledged writes.
  private static func audit(_ system: TortureSystem) async throws {
    try await system.retry("the schedule is applied") {
      let late = try await system.sql.query(
        "SELECT 1 FROM items WHERE state = 'scheduled' AND publish_at <= clock_timestamp()")
      if !late.isEmpty { throw Ledger.Violation(description: "\(late.count) items are late") }
    }
    for ids in await system.ledger.atomicCreations {
      let count = try await system.sql.query("SELECT 1 FROM items WHERE id = ANY (\(ids))").count
      #expect(count == 0 || count == ids.count, "an atomic batch is written as a whole")
    }
    var absent = await system.ledger.ids
    for row in try await system.sql.query("SELECT id, state, text, title, topics FROM items") {
      let id: UUID = try row.decode("id")
      absent.remove(id)
      try await system.ledger.check(
        id,
        Ledger.Content(
          state: row.decode("state"), text: row.decode("text"), title: row.decode("title"), topics: row.decode("topics")
        ))
    }
    for id in absent { try await system.ledger.check(id, nil) }
  }
}

/// The statistics of a run.
private struct Report: CustomStringConvertible {
  var writes = 0
  /// The answers that the outcome of a write is unknown.
  var unknowns = 0
  /// The writes of editors who schedule, withdraw and restore, and of their batches.
  var edits = 0
  var commits = 0
  var rollbacks = 0
  var refusals = 0
  var polls = 0
  var failures = 0
  var received = 0
  var resyncs = 0
  var replaced = 0
  var events = 0
  var reads = 0
  var bodies = 0
  var faults: [FaultInjector.Fault: Int] = [:]
  var longestOutage: Duration = .zero

  mutating func add(_ other: Report) {
    writes += other.writes
    unknowns += other.unknowns
    edits += other.edits
    commits += other.commits
    rollbacks += other.rollbacks
    refusals += other.refusals
    polls += other.polls
    failures += other.failures
    received += other.received
    resyncs += other.resyncs
    replaced += other.replaced
    events += other.events
    reads += other.reads
    bodies += other.bodies
    faults.merge(other.faults, uniquingKeysWith: +)
    longestOutage = max(longestOutage, other.longestOutage)
  }

  var description: String {
    """
    \(writes) writes through the API (\(unknowns) outcomes unknown), \(edits) by editors, \(commits) transactions of SQL (\(rollbacks) more rolled back, \(refusals) refused), \
    \(polls) polls (\(failures) failed), \(received) changes received, \(resyncs) resyncs, \(replaced) tokens expired in the \
    cache, \(events) events, \(reads) unrepeated reads, \(bodies) endless bodies; \
    \(faults.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", "))
    """
  }
}
