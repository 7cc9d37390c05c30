import Foundation
import PostgresClient
import TestKit

/// A program that writes with its own SQL. Its transactions contain several items, stay open before and after
/// `publish()`, and are sometimes rolled back.
struct SQLWriter {
  let system: TortureSystem
  let topics: [String]
  var random: SplitMix64
  private(set) var commits = 0
  private(set) var rollbacks = 0
  private(set) var refusals = 0

  init(system: TortureSystem, topics: [String], seed: UInt64) {
    self.system = system
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
    var outcome = Ledger.Outcome.unknown
    do {
      try await system.sql.transaction { transaction in
        for statement in plan.statements { _ = try await transaction.query(statement) }
        try await Task.sleep(for: before)
        if ending != .forgetPublishing { _ = try await transaction.query("SELECT count(*) FROM publish(\(plan.ids))") }
        // All other publishers now wait for this transaction.
        try await Task.sleep(for: after)
        if ending == .rollback { throw RolledBack() }
      }
      commits += 1
      outcome = .done
    } catch is RolledBack {
      rollbacks += 1
      outcome = .refused
    } catch let error as PostgresError where error.sqlState == "TD004" && ending == .forgetPublishing {
      refusals += 1
      outcome = .refused
    } catch let error as PostgresError where error.sqlState?.hasPrefix("TD") == true {
      throw error
    } catch is PostgresError {
      // After a fault, the transaction may have been committed.
      try await Task.sleep(for: .milliseconds(20))
    }
    for attempt in plan.attempts { await system.ledger.end(attempt, outcome) }
  }

  private struct Plan {
    var ids: [UUID] = []
    var attempts: [Ledger.Attempt] = []
    var statements: [PostgresQuery] = []
  }

  private func plan(using random: inout SplitMix64) async -> Plan {
    var plan = Plan()
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let topics = Array(topics.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))).sorted()
      let text = "\(random.next())"
      if Bool.random(using: &random), let id = await system.ledger.lease(using: &random) {
        plan.ids.append(id)
        plan.statements.append(
          "UPDATE items SET text = \(text), topics = \(topics) WHERE id = \(id) AND state <> 'retracted'")
        plan.attempts.append(
          await system.ledger.begin(id) { content in
            content.map { $0.state == "retracted" ? $0 : $0.with(text: text, topics: topics) }
          })
      } else {
        let id = await system.ledger.create(using: &random)
        plan.ids.append(id)
        plan.statements.append(
          """
          INSERT INTO items (id, state, date, text, topics)
          VALUES (\(id), 'published', '2026-02-01T00:00:00Z', \(text), \(topics))
          """)
        plan.attempts.append(
          await system.ledger.begin(id) { _ in
            Ledger.Content(state: "published", text: text, title: nil, topics: topics)
          })
      }
    }
    return plan
  }
}
