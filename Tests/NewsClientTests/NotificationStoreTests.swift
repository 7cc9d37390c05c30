import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A store with notifications") struct NotificationStoreTests {
  private func queue(_ installation: Installation) throws -> DatabaseQueue {
    try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
  }

  @Test("that cannot record a failed delivery does not keep it from the log")
  func unrecordedFailure() async throws {
    try await Installation.with { installation in
      let (presenter, reports) = (RecordingPresenter(), Reports())
      let client = try await installation.notifier(presenter, log: reports.note)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      try await queue(installation).write { db in
        try db.execute(
          sql: """
            CREATE TRIGGER refusal BEFORE INSERT ON state WHEN NEW.name = 'notificationFailures'
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
      }
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("one", title: "One")
      await client.fetchAndDeliver()
      #expect(reports.texts == ["the desktop is away"])
    }
  }

  @Test("that lacks the tables of this version, because it cannot be written, has nothing to deliver")
  func missingTables() async throws {
    try await Installation.notifying { installation, presenter, client in
      try await queue(installation).write { db in try db.execute(sql: "DROP TABLE requests") }
      #expect(await client.notifications.deliver() == [])
    }
  }

  @Test("keeps no correction of a notification that the desktop does not show any more")
  func gone() async throws {
    try await Installation.notifying { installation, presenter, client in
      let other = try await installation.notifier(presenter)
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      item.title = "Flood"
      installation.feed.publish([item])
      item.title = "Flood in the harbour"
      presenter.interruption.withLock { interruption in
        interruption = { [item] in
          installation.feed.publish([item])
          await other.performFetch()
          presenter.hasHandles.withLock { $0 = false }
        }
      }
      await client.fetchAndDeliver()
      // Its delivery waits for that of the first client.
      _ = await other.application.suspend()
      #expect(presenter.replaced == ["1: Flood"])
      let marked = try await queue(installation).read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM notifications WHERE change IS NOT NULL")
      }
      #expect(marked == 0)
    }
  }
}
