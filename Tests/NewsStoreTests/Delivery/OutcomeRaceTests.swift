import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Outcomes and claims that meet other writers of the same rows.
@Suite struct OutcomeRaceTests {
  private static let start = Date.pushStart

  /// Records that messages were accepted, while another transaction has changed their rows and ends only then.
  private static func record(
    _ messages: [PushMessage], during changes: [PostgresQuery], _ store: NewsStore, _ sql: PostgresPool
  ) async throws {
    let recording = try await sql.transaction { transaction in
      for change in changes { _ = try await transaction.query(change) }
      let recording = Task {
        try await store.recordOutcomes(
          messages.map { PushOutcome(message: $0, result: .sent) }, at: Self.start + 2)
      }
      try await eventually("the outcomes wait for the rows") {
        try await sql.value(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'
          """) == 1
      }
      return recording
    }
    try await recording.value
  }

  @Test("A push that takes the place of a message while its outcome is recorded follows it")
  func replaced() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      let messages = try await store.claim()
      try await sql.publish([UUID(2)])
      _ = try await store.collectOutbox(window: .zero, at: Self.start + 1)
      let change: PostgresQuery =
        "UPDATE deliveries SET push = (SELECT p.id FROM pushes AS p WHERE p.item = \(UUID(2)))"
      try await Self.record(messages, during: [change], store, sql)
      #expect(try await store.claim(at: Self.start + 2).map(\.content.contentID) == [UUID(2)])
    }
  }

  @Test("An outcome that waits for the claim of another process has no effect")
  func claimed() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let messages = try await store.claim()
      #expect(messages.map(\.kind) == [.alert, .silent])
      let changes: [PostgresQuery] = [
        "UPDATE deliveries SET lease = gen_random_uuid()", "UPDATE alert_deliveries SET lease = gen_random_uuid()",
      ]
      try await Self.record(messages, during: changes, store, sql)
      #expect(try await store.pushes(limit: 9).allSatisfy { $0.sent == 0 })
      #expect(try await store.claim(at: Self.start + 60).map(\.kind) == [.alert, .silent])
    }
  }

  @Test("A device that returns its code while a further one is made can repeat its request")
  func confirmedDuringClaim() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.webPush(1))
      let message = try #require(try await store.send(.webpush, .retry(after: 30, reason: "no answer")).first)
      let code = try #require(message.content.code)
      let claiming = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE devices SET state = 'active'")
        let claiming = Task { try await store.claim(.webpush, at: Self.start + 30) }
        try await eventually("the claim waits for the device") {
          try await sql.value(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 1
        }
        return claiming
      }
      _ = try await claiming.value
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
    }
  }
}
