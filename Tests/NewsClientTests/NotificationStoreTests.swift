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

  @Test("presents a request if the desktop does not show the notification any more that it replaces")
  func closed() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      presenter.hasHandles.withLock { $0 = false }
      try await notifications.add(NotificationRequest(identifier: "tide", title: "Low water"))
      #expect(presenter.replaced == ["1: Low water"])
      #expect(presenter.titles == ["High water", "Low water"])
    }
  }

  @Test("lists a request that was removed while it was being shown, if the desktop cannot withdraw it")
  func removedWithoutHandle() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      presenter.hasHandles.withLock { $0 = false }
      presenter.interruption.withLock { interruption in
        interruption = { try notifications.removePending(["tide"]) }
      }
      try await notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      #expect(presenter.titles == ["High water"] && presenter.withdrawn == [])
      #expect(try notifications.delivered.map(\.request.identifier) == ["tide"])
    }
  }

  @Test("tries a desktop that hangs for ten seconds")
  func hangingTrial() async throws {
    try await Installation.with { installation in
      let (presenter, clock) = (RecordingPresenter(), installation.clock)
      let notifications = try await installation.notifier(presenter).notifications
      presenter.mode.withLock { $0 = .hangs }
      let trial = Task { await notifications.test() }
      try await eventually("the timer is set") { clock.sleeping == [10] }
      clock.advance(by: 10)
      #expect(await trial.value == ["no response within 10 s"])
    }
  }

  @Test("mentions items of the same date in the order of the list")
  func sameDate() async throws {
    try await Installation.notifying { installation, presenter, client in
      let date = installation.feed.items[0].date + 60
      let ids = (0..<3).map { _ in UUID() }.sorted { $0.uuidString < $1.uuidString }
      installation.feed.publish(
        ids.indices.map { index in
          NewsItem(id: ids[index], version: 0, date: date, text: "text", title: "\(index)", updated: date)
        })
      await client.fetchAndDeliver()
      #expect(presenter.presented.map(\.body) == ["2\n1\n0"])
    }
  }

  @Test("remembers five thousand removed items, also after a full copy")
  func pastItems() async throws {
    try await Installation.with(extent: .full) { installation in
      let client = try installation.client()
      let item = installation.feed.publish("one")
      installation.feed.publish("kept")
      await client.performFetch()
      try await queue(installation).write { db in
        try db.execute(
          sql: """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
            INSERT INTO past_items (id) SELECT 'item ' || n FROM numbers
            """)
      }
      installation.feed.retract(item.id)
      installation.feed.moveEpoch(keepingHistory: false)
      #expect(await client.performFetch().removed == 1)
      let past = try await queue(installation).read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM past_items")
      }
      #expect(past == 5000)
      installation.feed.publish([item])
      await client.performFetch()
      installation.feed.retract(item.id)
      installation.feed.moveEpoch(keepingHistory: false)
      #expect(await client.performFetch().removed == 1, "it was removed before")
    }
  }

  @Test("follows the removal of an item that has returned")
  func removedAgain() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let item = installation.feed.publish("one")
      installation.feed.publish("kept")
      await client.performFetch()
      for _ in 0..<2 {
        installation.feed.retract(item.id)
        #expect(await client.performFetch().removed == 1)
        installation.feed.publish([item])
        #expect(await client.performFetch().inserted == 1)
      }
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
