import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The list of pushes, and the outbox from which they come.
@Suite struct PushListTests {
  private static let start = Date.pushStart
  private static let day = 86_400.0

  @Test("Pages have each of several pushes that were made at the same time once")
  func sameTime() async throws {
    try await NewsDatabase.withStore { store, _ in
      let content = ItemContent(state: .published, date: .newYear, text: "The ferry is back.")
      for number in 1...4 { _ = try await store.create(UUID(number), content, requestsAlert: true) }
      _ = try await store.collectOutbox(window: .seconds(60), at: Self.start)
      let all = try await store.pushes(limit: 9)
      #expect(all.count == 5 && all.allSatisfy { $0.created == Self.start })
      #expect(all.count { $0.kind == .silent && $0.starts == Self.start + 60 } == 1)
      var walked: [Push] = []
      while let push = try await store.pushes(limit: 1, before: walked.last?.id).first { walked.append(push) }
      #expect(walked == all)
    }
  }

  @Test("A push that is not finished is kept, however old it is")
  func unfinished() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1)])
      _ = try await store.collectOutbox(window: .seconds(40 * Self.day), at: Self.start)
      try await store.purgeDevices(at: Self.start + 31 * Self.day)
      #expect(try await store.pushes(limit: 9).count == 1)
      try await store.wake(at: Self.start + 40 * Self.day)
      // A push that another transaction has locked is left for the next time.
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM pushes FOR UPDATE")
        try await store.purgeDevices(at: Self.start + 40 * Self.day)
      }
      #expect(try await store.pushes(limit: 9).count == 1)
      try await store.purgeDevices(at: Self.start + 40 * Self.day)
      #expect(try await store.pushes(limit: 9).isEmpty)
    }
  }

  @Test("A transaction takes the oldest 500 rows of the outbox, and says that there are more")
  func rows() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1)])
      _ = try await sql.query(
        """
        INSERT INTO outbox (version, at, items, versions, kinds)
        SELECT o.version, o.at, o.items, o.versions, o.kinds FROM outbox AS o CROSS JOIN generate_series(2, 500)
        """)
      try await sql.publish([UUID(2)])
      #expect(try await store.collectOutbox(window: .zero, at: Self.start))
      #expect(try await sql.value("SELECT array_agg(version) FROM outbox", as: [Int].self) == [2])
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start))
      #expect(try await sql.value("SELECT count(*) FROM outbox") == 0)
    }
  }

  @Test("The age of the outbox is that of its oldest row, and never negative")
  func age() async throws {
    try await NewsDatabase.withStore { store, sql in
      func age(_ seconds: Double) async throws -> Double {
        try await store.countDeliveries(at: Self.start + seconds)
        return store.deliveryCounts().outboxSeconds
      }
      #expect(try await age(0) == 0)
      for (number, seconds) in [(1, 0.0), (2, 40.0)] {
        try await sql.publish([UUID(number)])
        _ = try await sql.query(
          "UPDATE outbox SET at = \(Self.start + seconds) WHERE items = ARRAY[\(UUID(number))]")
      }
      #expect(try await age(50) == 50 && store.deliveryCounts().outboxRows == 2)
      #expect(try await age(-10) == 0)
    }
  }
}
