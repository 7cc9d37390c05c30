import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Exports while the newsroom works.
@Suite struct ExportSnapshotTests {
  @Test("An export has the items of its beginning, however much is published before its last page")
  func published() async throws {
    try await NewsDatabase.withStore { store, sql in
      // Each item is once in the export, whatever its topics are, and one that readers cannot get any more is not.
      try await sql.makeTopics("sea")
      try await sql.publish((1...600).map { UUID($0) }, topics: ["sea"])
      try await sql.publish([UUID(700)])
      try await store.retract(UUID(700), reason: nil, if: .exists)
      let pages = Mutex<[[UUID]]>([])
      try await store.export { page, contents in
        let number = pages.withLock { pages in
          pages.append(page.map(\.item.id))
          return pages.count
        }
        #expect(contents.items == 600)
        if number == 1 { try await sql.publish([UUID(601)]) }
      }
      let found = pages.withLock { $0 }
      #expect(found.count == 2)
      #expect(found.flatMap { $0 } == (1...600).map { UUID($0) })
    }
  }

  @Test("Large items are exported in pages of at most 1 MiB, oldest first, none of them left out")
  func largeItems() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = (1...20).map { UUID($0) }
      for (days, id) in ids.enumerated() {
        let date = Date.newYear - 86_400 * Double(days)
        try await sql.publish([id], text: String(repeating: "x", count: 200_000), date: date)
      }
      let pages = Mutex<[[UUID]]>([])
      try await store.export { page, _ in pages.withLock { $0.append(page.map(\.item.id)) } }
      let found = pages.withLock { $0 }
      #expect(found.flatMap { $0 } == ids.reversed())
      #expect(found.allSatisfy { 1...5 ~= $0.count }, "\(found.map(\.count))")
    }
  }

  @Test("The records of a newsroom are of one moment, also if it is written before the last kind")
  func newsroom() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDraft(UUID(1))
      let counts = try await store.exportNewsroom(history: true) { lines in
        if lines.contains(where: { $0.hasPrefix(#"{"item": "#) }) { try await sql.makeDraft(UUID(2)) }
      }
      #expect(counts.records == ["item": 1, "history": 1])
      #expect(try await sql.value("SELECT count(*) FROM item_history") == 2)
    }
  }

  /// Waits until the session of the export has waited for its output for longer than others may, or has ended.
  private static func stall(_ sql: PostgresPool) async throws {
    try await eventually("the output has taken long") {
      try await sql.value(
        """
        SELECT count(*) = 0 FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'
          AND clock_timestamp() - state_change < interval '4 seconds'
        """)
    }
  }

  @Test("An export goes on however long its output takes", arguments: [false, true])
  func slowOutput(isNewsroom: Bool) async throws {
    try await NewsDatabase.with { url in
      var connection = PostgresConfiguration.forBusyMachine(url)
      connection.idleTransactionTimeout = .seconds(3)
      let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
      let sql = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      try await withResource(store, release: { await $0.shutdown() }) { store in
        try await withResource(sql, release: { await $0.shutdown() }) { sql in
          try await sql.publish([UUID(1)])
          let calls = Count()
          if isNewsroom {
            let counts = try await store.exportNewsroom(history: false) { _ in
              if calls.next() == 1 { try await Self.stall(sql) }
            }
            #expect(counts.records == ["item": 1])
          } else {
            try await store.export { page, _ in
              #expect(page.map(\.item.id) == [UUID(1)])
              if calls.next() == 1 { try await Self.stall(sql) }
            }
            #expect(calls.value == 1)
          }
        }
      }
    }
  }
}
