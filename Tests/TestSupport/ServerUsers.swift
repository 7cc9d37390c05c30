package import Foundation
import News
package import PostgresClient
import Synchronization

/// Writers, readers and followers of servers over one database, at work while a test breaks something.
package final class ServerUsers: Sendable {
  /// What they have seen.
  package struct Record: Sendable {
    /// Ids of acknowledged writes, and when the last was acknowledged.
    package var acknowledged: [UUID] = []
    package var lastWrite = ContinuousClock.now
    /// Statuses of writes that were refused; 0 is a connection that broke.
    package var refusals: [Int: Int] = [:]
    /// Answers of refused writes that do not say when to come again.
    package var silentRefusals = 0
    package var longestRefusal = Duration.zero
    package var reads = 0
    package var longestRead = Duration.zero
    /// What went wrong with reads.
    package var failedReads: [String] = []
    /// A version with two contents.
    package var conflicts: [String] = []
    /// What a version stands for, by epoch and version.
    fileprivate var contents: [String: String] = [:]
    fileprivate var activeWriters: Int
    /// What each follower has.
    fileprivate var followed: [[UUID: Int]]

    fileprivate init(_ numbers: Numbers) {
      activeWriters = numbers.writers
      followed = Array(repeating: [:], count: numbers.followers)
    }
  }

  /// How many there are of each.
  package struct Numbers: Sendable {
    package var writers: Int
    package var readers: Int
    package var followers: Int

    package init(writers: Int = 8, readers: Int = 1, followers: Int = 2) {
      self.writers = writers
      self.readers = readers
      self.followers = followers
    }
  }

  private enum Phase {
    case writing, reading, over
  }

  private let state: Mutex<(phase: Phase, record: Record)>
  private let servers: [TestClient]
  private let readers: [TestClient]
  private let key: String

  /// Runs the body while they are at work; then all writers end, and the followers once they have what is in the table.
  ///
  /// - Parameters:
  ///   - servers: Where writers write and followers ask, in turn.
  ///   - readers: Where readers read; nil for the same.
  ///   - sql: Of the database, after the body.
  /// - Returns: What was seen.
  /// - Throws: `Unexpected` for acknowledged writes that are lost, and followers that do not come to the present.
  package static func with(
    _ numbers: Numbers = Numbers(), servers: [TestClient], readers: [TestClient]? = nil, key: String,
    sql: PostgresPool, _ body: @Sendable (ServerUsers) async throws -> Void
  ) async throws -> Record {
    let users = ServerUsers(numbers, servers: servers, readers: readers ?? servers, key: key)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<numbers.writers { group.addTask { await users.write(number) } }
      for number in 0..<numbers.readers { group.addTask { await users.read(number) } }
      for number in 0..<numbers.followers { group.addTask { await users.follow(number) } }
      let outcome: Result<Void, any Error>
      do {
        try await body(users)
        users.enter(.reading)
        try await users.wait("all writers end") { $0.activeWriters == 0 }
        try await users.compare(with: sql)
        outcome = .success(())
      } catch {
        outcome = .failure(error)
      }
      users.enter(.over)
      try await group.waitForAll()
      try outcome.get()
      return users.record
    }
  }

  private init(_ numbers: Numbers, servers: [TestClient], readers: [TestClient], key: String) {
    state = Mutex((.writing, Record(numbers)))
    self.servers = servers
    self.readers = readers
    self.key = key
  }

  /// What they have seen so far.
  package var record: Record { state.withLock { $0.record } }

  /// Waits until something is true of what they have seen.
  package func wait(_ what: String, within limit: Duration = .seconds(60), until: (Record) -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while !until(record) {
      guard ContinuousClock.now < end else { throw Unexpected(description: "never: \(what)") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Waits until a number of writes more are acknowledged.
  ///
  /// - Returns: How long the first took.
  @discardableResult
  package func waitForWrites(_ count: Int = 50, within limit: Duration = .seconds(60)) async throws -> Duration {
    let (began, before) = (ContinuousClock.now, record.acknowledged.count)
    try await wait("a write is acknowledged", within: limit) { $0.acknowledged.count > before }
    let first = ContinuousClock.now - began
    try await wait("writing goes on", within: limit) { $0.acknowledged.count >= before + count }
    return first
  }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }
  private var phase: Phase { state.withLock { $0.phase } }
  private func note(_ change: (inout Record) -> Void) { state.withLock { change(&$0.record) } }

  /// 25 writes a second.
  private func write(_ number: Int) async {
    defer { note { $0.activeWriters -= 1 } }
    var next = ContinuousClock.now
    var count = number
    while phase == .writing {
      next = max(next + .milliseconds(40), .now - .milliseconds(200))
      try? await Task.sleep(until: next, clock: .continuous)
      count += 1
      let id = UUID()
      let body = #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "\#(id)"}"#
      let began = ContinuousClock.now
      let answer = try? await servers[count % servers.count].send("POST", "/v1/editorial/items", key: key, body: body)
      note { record in
        if answer?.status == 201 {
          record.acknowledged.append(id)
          record.lastWrite = .now
        } else {
          record.refusals[answer?.status ?? 0, default: 0] += 1
          if let answer, answer["Retry-After"] == nil { record.silentRefusals += 1 }
          record.longestRefusal = max(record.longestRefusal, .now - began)
        }
      }
    }
  }

  /// What is in memory: the first page, whether anything is new, and what it is.
  private func read(_ number: Int) async {
    var (targets, tags) = (["/v1/state", "/v1/items?limit=20"], [String: String]())
    var count = number
    while phase != .over {
      count += 1
      let target = targets[count % targets.count]
      let server = readers[count / targets.count % readers.count]
      let began = ContinuousClock.now
      let outcome: String?
      do {
        let answer = try await server.send("GET", target, headers: [("If-None-Match", tags[target] ?? #""""#)])
        tags[target] = answer["ETag"]
        // As a reader does who was here a while ago.
        if let token = answer["Sync-Token"], count % 8 == 0 { targets[2...] = ["/v1/changes?since=\(token)"] }
        outcome = [200, 304].contains(answer.status) ? nil : "\(target): \(answer.status) \(answer.text)"
      } catch {
        outcome = "\(target): \(error)"
      }
      note { record in
        record.reads += 1
        record.longestRead = max(record.longestRead, .now - began)
        if let outcome { record.failedReads.append(outcome) }
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Takes what is new, and the snapshot where the token is no longer good; notes what each version stands for.
  private func follow(_ number: Int) async {
    var token: String?
    var items: [UUID: Int] = [:]
    var count = number
    while phase != .over {
      count += 1
      let target = "/v1/changes" + (token.map { "?since=\($0)" } ?? "")
      if let answer = try? await servers[count % servers.count].send("GET", target) {
        if answer.status == 410 { token = nil }
        if let list = try? answer.json(ChangeList.self) {
          // The first page of a snapshot replaces what was there.
          if token == nil { items = [:] }
          token = list.token.description
          apply(list, to: &items)
          let result = items
          note { if !list.more { $0.followed[number] = result } }
          if list.more { continue }
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func apply(_ list: ChangeList, to items: inout [UUID: Int]) {
    for change in list.changes {
      switch change {
      case .put(let item):
        items[item.id] = item.version
        note { record in
          // A version is good in the epoch of the token it comes with.
          let version = "\(list.token.epoch) \(item.version)"
          let known = record.contents.updateValue(item.text, forKey: version)
          if let known, known != item.text { record.conflicts.append(version) }
        }
      case .remove(let id, _): items[id] = nil
      case .unknown: break
      }
    }
  }

  /// A write that was cut off on its way may still commit: the table is read again until all have it.
  private func compare(with sql: PostgresPool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let rows = try await sql.query("SELECT item AS id, version FROM change_log WHERE scope = '' AND present")
      let stored = Dictionary(
        uniqueKeysWithValues: try rows.map {
          (try $0.decode("id", as: UUID.self), try $0.decode("version", as: Int.self))
        })
      let lost = record.acknowledged.filter { stored[$0] == nil }
      guard lost.isEmpty else {
        throw Unexpected(description: "\(lost.count) of \(record.acknowledged.count) acknowledged writes are lost")
      }
      if record.followed.allSatisfy({ $0 == stored }) { return }
      guard ContinuousClock.now < end else {
        throw Unexpected(description: "never: all followers have what is in the table")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
