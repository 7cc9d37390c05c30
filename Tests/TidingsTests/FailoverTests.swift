import Foundation
import News
import PostgresClient
import Synchronization
import TestSupport
import TestTime
import Testing

/// The primary is lost and a synchronous standby takes its place, under writers, readers and followers.
@Suite struct FailoverTests {
  /// What writers, readers and followers have seen.
  private struct Record {
    /// Ids of acknowledged writes, and when the last was acknowledged.
    var acknowledged: [UUID] = []
    var lastWrite = ContinuousClock.now
    /// Statuses of writes that were refused.
    var refusals: [Int: Int] = [:]
    /// Answers of refused writes that do not say when to come again.
    var silentRefusals = 0
    var longestRefusal = Duration.zero
    var reads = 0
    var failedReads: [Int] = []
    /// What a version stood for, by epoch and version.
    var contents: [String: String] = [:]
    var conflicts: [String] = []
  }

  private static let settings = ["fsync=off", "full_page_writes=off", "wal_keep_size=1GB", "max_connections=300"]

  @Test("A failover loses no acknowledged write, uses no version twice, and stops neither reads nor writes for long")
  func failover() async throws {
    try await TestCluster.withCluster(settings: Self.settings) { primary in
      let standby = try await TestCluster.reserve()
      let ports = try [await primary.url, await standby.url].map { try #require(URLComponents(string: $0)?.port) }
      try await TestDatabase.execute("CREATE DATABASE news", at: await primary.url)
      let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
      let url = "postgresql://tidings@\(hosts)/news?target_session_attrs=read-write"
      do {
        try await Installation.with(url: url) { installation in
          #expect(try await installation.run("migrate").status == 0)
          try await Self.follow(primary, with: standby, at: url)
          let key = try await installation.makeKey()
          try await installation.serve { server in
            try await Self.failOver(server, key: key, installation, from: primary, to: standby)
          }
        }
      } catch {
        try? await standby.remove()
        throw error
      }
      try await standby.remove()
    }
  }

  /// Makes a synchronous standby.
  private static func follow(_ primary: TestCluster, with standby: TestCluster, at url: String) async throws {
    try await standby.becomeStandby(of: primary)
    try await TestDatabase.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", at: url)
    try await TestDatabase.execute("SELECT pg_reload_conf()", at: url)
    let sql = PostgresPool(configuration: .patient(url), pool: .patient, logger: NewsDatabase.logger)
    try await eventually("the standby is synchronous") {
      try await !sql.query("SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')").isEmpty
    }
    await sql.shutdown()
  }

  private static func failOver(
    _ server: RunningServer, key: String, _ installation: Installation, from primary: TestCluster,
    to standby: TestCluster
  ) async throws {
    let record = Traffic()
    let work =
      (0..<8).map { _ in Task { await record.write(to: server, key: key) } }
      + [Task { await record.read(from: server) }]
      + (0..<2).map { _ in Task { await record.follow(server) } }
    try await eventually("there is traffic") { record.state.withLock { $0.acknowledged.count > 200 && $0.reads > 50 } }
    let began = ContinuousClock.now
    try await primary.kill()
    // Fenced: it cannot come back.
    try await primary.clear()
    try await Task.sleep(for: .seconds(2))
    let promoting = ContinuousClock.now
    try await standby.promote()
    let promoted = ContinuousClock.now
    try await eventually("writes are taken again") { record.state.withLock { $0.lastWrite > promoted } }
    let resumed = ContinuousClock.now
    let before = record.state.withLock { $0.acknowledged.count }
    try await eventually("writing goes on") { record.state.withLock { $0.acknowledged.count > before + 100 } }
    record.isOver.store(true, ordering: .relaxed)
    for task in work { await task.value }

    let seen = record.state.withLock { $0 }
    print(
      """
      failover: \(seen.acknowledged.count) writes acknowledged, \(seen.reads) reads, refused \(seen.refusals); \
      promotion took \(promoted - promoting), writes again \(resumed - promoted) after it, \
      \(resumed - began) after the loss; the longest refusal took \(seen.longestRefusal)
      """)
    #expect(resumed - promoted < .seconds(10))
    #expect(seen.failedReads.isEmpty, "\(seen.failedReads)")
    #expect(seen.conflicts.isEmpty, "\(seen.conflicts)")
    #expect(Set(seen.refusals.keys).isSubset(of: [503]), "\(seen.refusals)")
    #expect(seen.silentRefusals == 0)
    let stored = Set(
      try await installation.sql.query("SELECT item FROM change_log WHERE scope = '' AND present").map {
        try $0.decode("item", as: UUID.self)
      })
    let lost = seen.acknowledged.filter { !stored.contains($0) }
    #expect(lost.isEmpty, "\(lost.count) of \(seen.acknowledged.count)")
  }

  /// Those who use the server.
  private final class Traffic: Sendable {
    let state = Mutex(Record())
    let isOver = Atomic(false)

    private var goesOn: Bool { !isOver.load(ordering: .relaxed) }

    /// 25 writes a second.
    func write(to server: RunningServer, key: String) async {
      var next = ContinuousClock.now
      while goesOn {
        next = max(next + .milliseconds(40), .now - .milliseconds(200))
        try? await Task.sleep(until: next, clock: .continuous)
        let id = UUID()
        let body = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "\#(id)"}"#
        let began = ContinuousClock.now
        guard let answer = try? await server.send("POST", "/v1/editorial/items", key: key, body: body) else {
          state.withLock { $0.refusals[0, default: 0] += 1 }
          continue
        }
        state.withLock { state in
          if answer.status == 201 {
            state.acknowledged.append(id)
            state.lastWrite = .now
          } else {
            state.refusals[answer.status, default: 0] += 1
            if answer["Retry-After"] == nil { state.silentRefusals += 1 }
            state.longestRefusal = max(state.longestRefusal, .now - began)
          }
        }
      }
    }

    /// What is in memory.
    func read(from server: RunningServer) async {
      var tag = ""
      while goesOn {
        let answer = try? await server.client.send("GET", "/v1/state", headers: [("If-None-Match", tag)])
        if let fresh = answer?["ETag"] { tag = fresh }
        state.withLock { state in
          state.reads += 1
          if let status = answer?.status, [200, 304].contains(status) { return }
          state.failedReads.append(answer?.status ?? 0)
        }
        try? await Task.sleep(for: .milliseconds(5))
      }
    }

    /// Takes what is new, and the snapshot where the token is no longer good; notes what each version stands for.
    func follow(_ server: RunningServer) async {
      var token: String?
      while goesOn {
        let target = "/v1/changes" + (token.map { "?since=\($0)" } ?? "")
        guard let answer = try? await server.send("GET", target) else { continue }
        if answer.status == 410 { token = nil }
        if let list = try? answer.json(ChangeList.self) {
          token = list.token.description
          note(list)
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }

    private func note(_ list: ChangeList) {
      state.withLock { state in
        for case .put(let item) in list.changes {
          // A version is good in the epoch of the token it comes with.
          let known = state.contents.updateValue(item.text, forKey: "\(list.token.epoch) \(item.version)")
          if let known, known != item.text { state.conflicts.append("\(list.token.epoch) \(item.version)") }
        }
      }
    }
  }
}
