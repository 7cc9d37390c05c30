package import Foundation
import News
package import PostgresClient
import Synchronization

/// Writers, readers and followers of several servers over one database, active while a test breaks something.
package final class ServerUsers: Sendable {
  /// The observations of all users.
  package struct Record: Sendable {
    /// The ids of acknowledged writes, and the time of the last acknowledgement.
    package var acknowledged: [UUID] = []
    package var lastWrite = ContinuousClock.now
    package var maximumWriteDuration = Duration.zero
    /// The number of refused writes by status; 0 is a broken connection.
    package var refusals: [Int: Int] = [:]
    /// The number of refused writes without `Retry-After`.
    package var refusalsWithoutRetryAfter = 0
    package var maximumRefusalDuration = Duration.zero
    package var reads = 0
    package var maximumReadDuration = Duration.zero
    /// Descriptions of failed reads.
    package var failedReads: [String] = []
    /// The versions that were seen with two different contents.
    package var conflicts: [String] = []
    /// The content of each version, by epoch and version.
    fileprivate var contents: [String: String] = [:]
    fileprivate var activeWriters: Int
    /// The items of each follower.
    fileprivate var followed: [[UUID: Int]]

    fileprivate init(_ numbers: Numbers) {
      activeWriters = numbers.writers
      followed = Array(repeating: [:], count: numbers.followers)
    }
  }

  /// The number of users of each kind.
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

  /// Runs the body while the users are active. Afterwards the writers stop, and the followers stop once they match the
  /// table.
  ///
  /// - Parameters:
  ///   - servers: The servers that writers and followers use in turn.
  ///   - readers: The servers that readers use; nil for the same servers.
  ///   - sql: A pool for the database, used after the body.
  /// - Returns: The observations of all users.
  /// - Throws: `Unexpected` if an acknowledged write is lost, or if a follower does not reach the current state.
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

  /// The observations so far.
  package var record: Record { state.withLock { $0.record } }

  /// Waits until a condition holds for the observations.
  package func wait(_ what: String, within limit: Duration = .seconds(60), until: (Record) -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while !until(record) {
      guard ContinuousClock.now < end else { throw Unexpected(description: "timed out: \(what)") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Waits until the given number of further writes is acknowledged.
  ///
  /// - Returns: The time until the first acknowledgement.
  @discardableResult
  package func waitForWrites(_ count: Int = 50, within limit: Duration = .seconds(60)) async throws -> Duration {
    let (began, before) = (ContinuousClock.now, record.acknowledged.count)
    try await wait("a write is acknowledged", within: limit) { $0.acknowledged.count > before }
    let first = ContinuousClock.now - began
    try await wait("writes continue", within: limit) { $0.acknowledged.count >= before + count }
    return first
  }

  private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }
  private var phase: Phase { state.withLock { $0.phase } }
  private func note(_ change: (inout Record) -> Void) { state.withLock { change(&$0.record) } }

  /// Writes 25 items a second.
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
      let response = try? await servers[count % servers.count].send("POST", "/v1/editorial/items", key: key, body: body)
      note { record in
        if response?.status == 201 {
          record.acknowledged.append(id)
          record.lastWrite = .now
          record.maximumWriteDuration = max(record.maximumWriteDuration, .now - began)
        } else {
          record.refusals[response?.status ?? 0, default: 0] += 1
          if let response, response["Retry-After"] == nil { record.refusalsWithoutRetryAfter += 1 }
          record.maximumRefusalDuration = max(record.maximumRefusalDuration, .now - began)
        }
      }
    }
  }

  /// Reads what is in memory: the first page, the state, and the changes.
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
        let response = try await server.send("GET", target, headers: [("If-None-Match", tags[target] ?? #""""#)])
        tags[target] = response["ETag"]
        // The older token resembles a reader that returns after a while.
        if let token = response["Sync-Token"], count % 8 == 0 { targets[2...] = ["/v1/changes?since=\(token)"] }
        outcome = [200, 304].contains(response.status) ? nil : "\(target): \(response.status) \(response.text)"
      } catch {
        outcome = "\(target): \(error)"
      }
      note { record in
        record.reads += 1
        record.maximumReadDuration = max(record.maximumReadDuration, .now - began)
        if let outcome { record.failedReads.append(outcome) }
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Fetches changes, or the snapshot if the token has expired, and records the content of each version.
  private func follow(_ number: Int) async {
    var token: String?
    var items: [UUID: Int] = [:]
    var count = number
    while phase != .over {
      count += 1
      let target = "/v1/changes" + (token.map { "?since=\($0)" } ?? "")
      if let response = try? await servers[count % servers.count].send("GET", target) {
        if response.status == 410 { token = nil }
        if let list = try? response.json(ChangeList.self) {
          // The first page of a snapshot replaces all items.
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
          // A version belongs to the epoch of the token that it arrives with.
          let version = "\(list.token.epoch) \(item.version)"
          let known = record.contents.updateValue(item.text, forKey: version)
          if let known, known != item.text { record.conflicts.append(version) }
        }
      case .remove(let id, _): items[id] = nil
      case .unknown: break
      }
    }
  }

  /// Compares the followers with the table. An interrupted write may still commit, so the table is read again until all
  /// followers match.
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
        throw Unexpected(description: "timed out: all followers match the table")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
