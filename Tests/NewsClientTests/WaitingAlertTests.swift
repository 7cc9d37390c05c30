import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("The alert of a push that waits for the desktop") struct WaitingAlertTests {
  /// The clock begins at 22:13:20.
  private static let night = QuietHours(from: 22 * 60, to: 7 * 60)

  private func alert(about item: NewsItem, _ title: String, at date: Date? = nil) -> NotificationRequest {
    NotificationRequest(
      identifier: "item-\(item.id.uuidString.lowercased())", title: title, category: "x-tidings.news",
      deliveryDate: date)
  }

  @Test("is forgotten once its item is retracted, whether it was fetched before", arguments: [true, false])
  func retracted(isStored: Bool) async throws {
    try await Installation.notifying(quietHours: Self.night) { installation, presenter, client in
      let item = installation.feed.publish("text", title: "Ferry")
      try await client.notifications.add(alert(about: item, "Ferry"))
      if isStored { await client.fetchAndDeliver() }
      #expect(try client.notifications.pending.count == 1)
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(try client.notifications.pending == [])
      installation.clock.advance(by: 9 * 3600)
      await client.notifications.deliver()
      #expect(presenter.titles == [])
    }
  }

  @Test("is withdrawn if it was shown and its item is retracted before any fetch has stored it")
  func neverStored() async throws {
    try await Installation.notifying { installation, presenter, client in
      let item = installation.feed.publish("text", title: "Ferry")
      try await client.notifications.add(alert(about: item, "Ferry"))
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Ferry"] && presenter.withdrawn == ["1"])
    }
  }

  @Test("has the text of its item once that is corrected, and waits no longer if it is breaking")
  func corrected() async throws {
    try await Installation.notifying(quietHours: Self.night) { installation, presenter, client in
      var item = installation.feed.publish("text", title: "Frery")
      let date = installation.clock.now.date + 60
      try await client.notifications.add(alert(about: item, "Frery", at: date))
      await client.fetchAndDeliver()
      item.title = "Ferry"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      let pending = try client.notifications.pending
      #expect(pending.map(\.title) == ["Ferry"] && pending.map(\.body) == ["text"])
      #expect(pending.map(\.deliveryDate) == [date])
      installation.clock.advance(by: 60)
      await client.notifications.deliver()
      #expect(presenter.titles == [])
      item.breaking = true
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Ferry"])
    }
  }

  private enum Event: CaseIterable {
    case read, allRead, opened, turnedOff, old
  }

  @Test(
    "is forgotten if the item is read, the app is opened, notifications are turned off, or it is two days old",
    arguments: Event.allCases)
  private func forgotten(event: Event) async throws {
    try await Installation.notifying { installation, presenter, client in
      let items = ["Ferry", "Flood", "Tide"].map { installation.feed.publish("text", title: $0) }
      presenter.mode.withLock { $0 = .fails }
      for item in items.prefix(2) { try await client.notifications.add(alert(about: item, "Alert")) }
      // These are no alerts.
      let later = installation.clock.now.date + 86_400
      try await client.notifications.add(alert(about: items[2], "Reminder", at: later))
      try await client.notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      var left: Set = ["Reminder", "High water"]
      switch event {
      case .read:
        try client.setRead([items[0].id, items[2].id])
        left.insert("Alert")
      case .allRead: try client.setAllRead()
      case .opened: try client.recordOpening()
      case .turnedOff: try client.notifications.setOptions(NotificationOptions())
      case .old:
        installation.clock.advance(by: 2 * 86_400 + 1)
        await client.notifications.deliver()
      }
      let pending = try client.notifications.pending
      #expect(Set(pending.map(\.title)) == left && pending.count == left.count)
    }
  }

  @Test("stays if the program is turned off, or while it is younger than two days")
  func kept() async throws {
    try await Installation.notifying { installation, presenter, client in
      let item = installation.feed.publish("text", title: "Ferry")
      presenter.mode.withLock { $0 = .fails }
      try await client.notifications.add(alert(about: item, "Ferry"))
      var options = NotificationOptions()
      options.showsNews = true
      try client.notifications.setOptions(options)
      installation.clock.advance(by: 2 * 86_400 - 1)
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.titles == ["Ferry"])
    }
  }

  @Test(
    "or the news of a fetch is withdrawn if the item is retracted while it is being shown", arguments: [true, false])
  func retractedMeanwhile(isAlert: Bool) async throws {
    try await Installation.notifying { installation, presenter, client in
      let other = try await installation.notifier(presenter)
      installation.publishBreaking("Storm")
      let item = installation.publishBreaking("Flood")
      presenter.interruption.withLock { interruption in
        interruption = {
          installation.feed.retract(item.id)
          await other.performFetch()
        }
      }
      if isAlert {
        try await client.notifications.add(alert(about: item, "Flood"))
      } else {
        await client.fetchAndDeliver()
      }
      #expect(presenter.titles == ["Flood", "Storm"] && presenter.withdrawn == ["1"])
      #expect(try client.notifications.delivered.map(\.request.title) == ["Storm"])
      // Its delivery waits for that of the first client.
      _ = await other.application.suspend()
    }
  }

  @Test(
    "or the news of a fetch is replaced if the item is corrected while it is being shown", arguments: [true, false])
  func correctedMeanwhile(isAlert: Bool) async throws {
    try await Installation.notifying { installation, presenter, client in
      let other = try await installation.notifier(presenter)
      var item = installation.publishBreaking("Flod")
      if isAlert {
        presenter.mode.withLock { $0 = .fails }
        try await client.notifications.add(alert(about: item, "Flod"))
        await client.fetchAndDeliver()
        presenter.mode.withLock { $0 = .works }
      }
      item.title = "Flood"
      presenter.interruption.withLock { interruption in
        interruption = { [item] in
          installation.feed.publish([item])
          await other.performFetch()
        }
      }
      if isAlert { await client.notifications.deliver() } else { await client.fetchAndDeliver() }
      #expect(presenter.titles == ["Flod"] && presenter.replaced == ["1: Flood"])
      #expect(try client.notifications.delivered.map(\.request.title) == ["Flood"])
      _ = await other.application.suspend()
    }
  }

  @Test("that the app has removed is not shown again because its item is corrected")
  func removedAndCorrected() async throws {
    try await Installation.notifying { installation, presenter, client in
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .fails }
      try await client.notifications.removeDelivered()
      item.title = "Flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.withdrawn == ["1"] && presenter.replaced == [])
    }
  }
}
