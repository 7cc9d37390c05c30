import Foundation
import News
import NewsStore
import PostgresClient
import TestRandom
import TestSupport

/// What the writers of the follower test know of the items there are.
actor Population {
  private var ids: [UUID] = []

  func add(_ id: UUID) { ids.append(id) }

  func random(using random: inout SplitMix64) -> UUID? { ids.randomElement(using: &random) }
}

/// An editor who creates, edits, moves, publishes and retracts through the API.
struct APIWriter {
  let server: TestServer
  let population: Population
  let topics: [String]
  var random: SplitMix64
  private(set) var writes = 0

  init(server: TestServer, population: Population, topics: [String], seed: UInt64) {
    self.server = server
    self.population = population
    self.topics = topics
    random = SplitMix64(seed: seed)
  }

  mutating func write() async throws {
    let fields = randomFields()
    if Int.random(in: 0..<10, using: &random) < 4 {
      let answer = try await server.write("POST", "items", "{\(fields)}")
      await population.add(try answer.json(EditorialItem.self, status: 201).item.id)
    } else if let id = await population.random(using: &random) {
      try await change(id, fields)
    }
    writes += 1
  }

  private mutating func change(_ id: UUID, _ fields: String) async throws {
    let path = "items/\(id.uuidString.lowercased())"
    let answer: TestResponse
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: answer = try await server.write("DELETE", path)
    case 2, 3, 4: answer = try await server.write("PUT", path, "{\(fields)}", ("If-Match", "*"))
    case 5, 6:
      let topics = randomTopics()
      answer = try await server.write("PATCH", path, #"{"topics": [\#(topics)]}"#, ("If-Match", "*"))
    default:
      answer = try await server.write(
        "PATCH", path, #"{"title": "\#(Int.random(in: 0..<3, using: &random))"}"#, ("If-Match", "*"))
    }
    // Somebody else may have retracted it; a published one cannot become a draft.
    guard [200, 204, 410, 422].contains(answer.status) else {
      throw TestResponse.Unexpected(description: "\(answer.status): \(answer.text)")
    }
  }

  private mutating func randomTopics() -> String {
    topics.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).map { "\"\($0)\"" }
      .joined(separator: ",")
  }

  private mutating func randomFields() -> String {
    let day = Int.random(in: 1...28, using: &random)
    let state = Int.random(in: 0..<8, using: &random) == 0 ? "draft" : "published"
    return #"""
      "date": "2026-01-\#(day < 10 ? "0" : "")\#(day)T12:00:00Z", "text": "\#(random.next())", "state": "\#(state)",
      "topics": [\#(randomTopics())]
      """#
  }
}

/// A program that writes SQL of its own: several items a transaction, which it holds open, before and after
/// `publish()`, and rolls back at times.
struct SQLWriter {
  let sql: PostgresPool
  let population: Population
  let topics: [String]
  var random: SplitMix64
  private(set) var commits = 0
  private(set) var rollbacks = 0
  private(set) var refusals = 0

  init(sql: PostgresPool, population: Population, topics: [String], seed: UInt64) {
    self.sql = sql
    self.population = population
    self.topics = topics
    random = SplitMix64(seed: seed)
  }

  private enum Ending: CaseIterable {
    case commit, commitAgain, commitOnce, rollback, forgetPublishing
  }

  private struct RolledBack: Error {}

  mutating func write() async throws {
    var random = random
    defer { self.random = random }
    let ending = Ending.allCases.randomElement(using: &random) ?? .commit
    let plan = await plan(using: &random)
    let before = Duration.milliseconds(Int.random(in: 0...150, using: &random))
    let after = Duration.milliseconds(Int.random(in: 0...3, using: &random) == 0 ? 60 : 0)
    do {
      try await sql.transaction { transaction in
        for statement in plan.statements { _ = try await transaction.query(statement) }
        try await Task.sleep(for: before)
        if ending != .forgetPublishing { _ = try await transaction.query("SELECT count(*) FROM publish(\(plan.ids))") }
        // Every other publisher waits for this one now.
        try await Task.sleep(for: after)
        if ending == .rollback { throw RolledBack() }
      }
      for id in plan.created { await population.add(id) }
      commits += 1
    } catch is RolledBack {
      rollbacks += 1
    } catch let error as PostgresError where error.sqlState == "TD004" && ending == .forgetPublishing {
      refusals += 1
    }
  }

  private struct Plan {
    var ids: [UUID] = []
    var created: [UUID] = []
    var statements: [PostgresQuery] = []
  }

  private func plan(using random: inout SplitMix64) async -> Plan {
    var plan = Plan()
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let topics = Array(topics.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))).sorted()
      let text = "\(random.next())"
      if Bool.random(using: &random), let id = await population.random(using: &random) {
        plan.ids.append(id)
        plan.statements.append(
          "UPDATE items SET text = \(text), topics = \(topics) WHERE id = \(id) AND state <> 'retracted'")
      } else {
        let id = UUID()
        plan.ids.append(id)
        plan.created.append(id)
        plan.statements.append(
          """
          INSERT INTO items (id, state, date, text, topics)
          VALUES (\(id), 'published', '2026-02-01T00:00:00Z', \(text), \(topics))
          """)
      }
    }
    return plan
  }
}
