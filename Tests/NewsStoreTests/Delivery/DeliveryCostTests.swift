import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The cost of statements about a few of many devices.
@Suite struct DeliveryCostTests {
  @Test("A process that has found no messages at first reads only those that it claims later")
  func claimAfterEmptiness() async throws {
    try await withTwoStores { first, second, sql in
      // The statistics then say that the table is empty, as after the restoration of a dump.
      _ = try await sql.query("VACUUM ANALYZE deliveries")
      #expect(try await first.claim().isEmpty)
      try await sql.makeDevices(3000)
      try await sql.publish([UUID(1)])
      try await second.wake()
      #expect(try await first.claim(limit: 20).count == 20)
      // The end of a connection writes its numbers.
      await first.shutdown()
      func rowsRead() async throws -> Int {
        let rows = try await sql.query("SELECT idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'deliveries'")
        return try rows.first?.decode(0, as: Int?.self) ?? 0
      }
      try await eventually("the numbers are written") { try await rowsRead() >= 20 }
      #expect(try await rowsRead() < 1000)
    }
  }
}
