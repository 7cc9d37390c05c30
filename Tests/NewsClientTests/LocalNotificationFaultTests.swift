import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("Notifications that are overtaken") struct LocalNotificationFaultTests {
  @Test("about a retracted item wait for a desktop that can withdraw them, for two days")
  func lateWithdrawal() async throws {
    try await Installation.with { installation in
      let (presenter, reports) = (RecordingPresenter(), Reports())
      let client = try await installation.notifier(presenter, log: reports.note)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      let items = ["Flood", "Storm"].map { installation.publishBreaking($0) }
      await client.fetchAndDeliver()
      let handle = try #require(presenter.titles.firstIndex(of: "Flood")).advanced(by: 1)
      presenter.mode.withLock { $0 = .fails }
      installation.feed.retract(items[0].id)
      await client.fetchAndDeliver()
      await client.notifications.deliver()
      #expect(presenter.withdrawn == [] && reports.texts == ["the desktop is away"])
      presenter.mode.withLock { $0 = .works }
      for _ in 0..<2 { await client.notifications.deliver() }
      #expect(presenter.withdrawn == ["\(handle)"])
      installation.clock.advance(by: 2 * 86_400)
      presenter.mode.withLock { $0 = .fails }
      installation.feed.retract(items[1].id)
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.withdrawn == ["\(handle)"])
    }
  }

  @Test("are not raised for items whose alert was shown before the fetch, but run the program, and are withdrawn")
  func alerts() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let (program, received) = (
        installation.folder.appending(path: "program"), installation.folder.appending(path: "received")
      )
      let client = try await installation.notifier(presenter, program: program)
      try Data("#!/bin/sh\ncat > \"$TIDINGS_STORE/received\"\n".utf8).write(to: program)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      let item = installation.publishBreaking("Flood")
      let alert = NotificationRequest(identifier: "item-\(item.id.uuidString.lowercased())", title: "Flood alert")
      try await client.notifications.add(alert)
      #expect(await client.fetchAndDeliver().inserted == 1)
      #expect(presenter.titles == ["Flood alert"])
      #expect(try String(contentsOf: received, encoding: .utf8).contains("\"title\":\"Flood\""))
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(presenter.withdrawn == ["1"])
    }
  }

  @Test(
    "and corrected or retracted again during their replacement are replaced again or withdrawn",
    arguments: [false, true])
  func overtakenReplacement(isRetracted: Bool) async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      let other = try await installation.notifier(presenter)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      item.title = "Flood"
      installation.feed.publish([item])
      item.title = "Flood in the harbour"
      presenter.interruption.withLock { interruption in
        interruption = { [item] in
          if isRetracted { installation.feed.retract(item.id) } else { installation.feed.publish([item]) }
          #expect(await other.performFetch().result == .newData)
        }
      }
      await client.fetchAndDeliver()
      #expect(presenter.replaced == (isRetracted ? ["1: Flood"] : ["1: Flood", "1: Flood in the harbour"]))
      #expect(presenter.withdrawn == (isRetracted ? ["1"] : []))
      // Its delivery waits for that of the first client.
      _ = await other.application.suspend()
    }
  }

  @Test("and requested again by the app during their withdrawal are shown")
  func overtakenWithdrawal() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      let adding = Mutex<Task<Void, any Error>?>(nil)
      presenter.interruption.withLock { interruption in
        interruption = {
          let request = NotificationRequest(identifier: "tide", title: "Low water")
          let task = Task { try await notifications.add(request) }
          adding.withLock { $0 = task }
          try await eventually("it is stored") { try notifications.pending == [request] }
        }
      }
      try await notifications.removeDelivered(["tide"])
      try await adding.withLock(\.self)?.value
      #expect(try notifications.delivered.map(\.request.title) == ["Low water"])
    }
  }

  @Test("about an ordinary item are withdrawn too if it is retracted")
  func ordinaryWithdrawal() async throws {
    try await Installation.notifying { installation, presenter, client in
      let item = installation.feed.publish("text", title: "Ferry")
      await client.fetchAndDeliver()
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Ferry"] && presenter.withdrawn == ["1"])
    }
  }

  @Test("wait for two days, and are forgotten then", arguments: [(172_800.0, true), (172_801.0, false)])
  func age(seconds: Double, isShown: Bool) async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("one", title: "One")
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      installation.clock.advance(by: seconds)
      await client.notifications.deliver()
      #expect(presenter.titles == (isShown ? ["One"] : []))
      let waiting = try client.notifications.waitingItems
      #expect(waiting == 0)
      #expect(try await unmentioned(installation) == 0)
    }
  }

  /// Returns the number of items that the store keeps for any channel.
  private func unmentioned(_ installation: Installation) async throws -> Int? {
    try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM unmentioned")
    }
  }

  @Test("about a retracted item are withdrawn later if the process ends meanwhile, however old they are")
  func interruptedWithdrawal() async throws {
    try await Installation.notifying { installation, presenter, client in
      let item = installation.publishBreaking("Flood")
      await client.fetchAndDeliver()
      installation.clock.advance(by: 2 * 86_400)
      installation.feed.retract(item.id)
      presenter.interruption.withLock { interruption in
        interruption = { throw CancellationError() }
      }
      await client.fetchAndDeliver()
      let run = try client.runs(limit: 1).first
      #expect(run?.notice == nil, "the end of the process is no failure")
      await client.notifications.deliver()
      #expect(presenter.withdrawn == ["1", "1"], "the first call was not completed")
    }
  }

  @Test("that were read and that the app shows again are replaced once their item is corrected")
  func shownAgain() async throws {
    try await Installation.notifying { installation, presenter, client in
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      try client.recordOpening()
      let name = "item-\(item.id.uuidString.lowercased())"
      try await client.notifications.add(NotificationRequest(identifier: name, title: "Flod!", urgency: .critical))
      item.title = "Flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.replaced == ["1: Flod!", "1: Flood"])
    }
  }

  @Test(
    "are not raised for an item that returns, unless five thousand others were removed since",
    arguments: [(4998, true), (4999, false)])
  func returned(others: Int, isKnown: Bool) async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      let item = installation.feed.publish("one", title: "One")
      let last = installation.feed.publish("last")
      installation.feed.publish("kept")
      await client.fetchAndDeliver()
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(
          sql: """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
            INSERT INTO past_items (id) SELECT 'item ' || n FROM numbers
            """, arguments: [others])
      }
      installation.feed.retract(last.id)
      await client.fetchAndDeliver()
      installation.feed.publish([item])
      #expect(await client.fetchAndDeliver().inserted == 1)
      #expect(presenter.titles == (isKnown ? [] : ["One"]))
    }
  }

  @Test("are not raised for an item that a full copy has removed, and that returns")
  func removedByCopy() async throws {
    try await Installation.with(extent: .full) { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      let item = installation.feed.publish("one", title: "One")
      installation.feed.publish("kept")
      await client.fetchAndDeliver()
      installation.feed.retract(item.id)
      installation.feed.moveEpoch(keepingHistory: false)
      #expect(await client.fetchAndDeliver().removed == 1)
      installation.feed.publish([item])
      #expect(await client.fetchAndDeliver().inserted == 1)
      #expect(presenter.titles == [])
    }
  }

  @Test("that cannot be withdrawn stay in the list as they were shown, until the app removes them")
  func withoutHandle() async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.hasHandles.withLock { $0 = false }
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      item.title = "Flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(try client.notifications.delivered.map(\.request.title) == ["Flod"])
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(try client.notifications.delivered.map(\.request.title) == ["Flod"])
      try await client.notifications.removeDelivered()
      #expect(try client.notifications.delivered == [])
      #expect(presenter.replaced == [] && presenter.withdrawn == [])
    }
  }

  @Test("that wait are listed by the corrected dates of their items")
  func correctedDates() async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.mode.withLock { $0 = .fails }
      var items = ["One", "Two", "Three"].map { installation.feed.publish("text", title: $0) }
      await client.fetchAndDeliver()
      items[0].date = items[2].date + 60
      installation.feed.publish([items[0]])
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.presented.map(\.body) == ["One\nThree\nTwo"])
    }
  }

  @Test("have ten seconds together, not each")
  func commonLimit() async throws {
    try await Installation.with { installation in
      let (presenter, clock) = (RecordingPresenter(), installation.clock)
      let client = try await installation.notifier(presenter)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .fails }
      for title in ["Flood", "Storm"] { installation.publishBreaking(title) }
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      presenter.interruption.withLock { interruption in
        interruption = {
          clock.advance(by: 6)
          presenter.mode.withLock { $0 = .hangs }
        }
      }
      let delivery = Task { await client.notifications.deliver() }
      try await eventually("the second one has the rest of the time") {
        presenter.titles.count == 1 && clock.sleeping.contains(4)
      }
      clock.advance(by: 4)
      #expect(await delivery.value.count == 1)
      #expect(try client.notifications.waitingItems == 1)
    }
  }

  @Test("about an item that was read are not replaced")
  func correctedAfterReading() async throws {
    try await Installation.notifying { installation, presenter, client in
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      try client.setRead([item.id])
      item.title = "Flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Flod"] && presenter.replaced == [])
    }
  }

  @Test("are forgotten if the store follows another feed, also about items that this one has too")
  func otherFeed() async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("one", topics: ["sport"], title: "One")
      await client.fetchAndDeliver()
      #expect(try client.notifications.waitingItems == 1)
      var other = installation
      other.topics = ["sport"]
      let next = try await other.notifier(presenter)
      #expect(await next.fetchAndDeliver().result == .newData)
      #expect(try next.notifications.waitingItems == 0)
    }
  }

  @Test("are forgotten if the user turns them off while they wait", arguments: [false, true])
  func turnedOff(hasProgram: Bool) async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("one", title: "One")
      await client.fetchAndDeliver()
      var options = NotificationOptions()
      options.showsNews = true
      try client.notifications.setOptions(options)
      #expect(try client.notifications.waitingItems == 1)
      options.showsNews = false
      if hasProgram { options.program = URL(filePath: "/usr/bin/true") }
      try client.notifications.setOptions(options)
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(try client.notifications.waitingItems == 0)
      #expect(presenter.presented == [])
      #expect(try await unmentioned(installation) == 0)
    }
  }
}

@Suite("The text of a notification") struct NotificationTextTests {
  @Test("is the title and the summary of the item, or else the first line and the rest of its text, each limited")
  func parts() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      var item = installation.feed.publish("old")
      await client.fetchAndDeliver()
      installation.feed.publish("Night ferry\nIt sails again.\nFrom pier 3.")
      await client.fetchAndDeliver()
      (item.id, item.title, item.summary, item.date) = (UUID(), "High water", "At noon.", item.date + 60)
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      installation.feed.publish("text", date: item.date + 60, title: String(repeating: "x", count: 200))
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Night ferry", "High water", String(repeating: "x", count: 119) + "…"])
      #expect(presenter.presented.map(\.body) == ["It sails again. From pier 3.", "At noon.", "text"])
      for length in [240, 241] {
        (item.id, item.title) = (UUID(), String(repeating: "y", count: 120))
        (item.summary, item.date) = (String(repeating: "z", count: length), item.date + 120)
        installation.feed.publish([item])
        await client.fetchAndDeliver()
      }
      #expect(presenter.titles.suffix(2).allSatisfy { $0 == String(repeating: "y", count: 120) })
      let bodies = [String(repeating: "z", count: 240), String(repeating: "z", count: 239) + "…"]
      #expect(Array(presenter.presented.map(\.body).suffix(2)) == bodies)
      let composed = String(repeating: "e\u{301}", count: 120)
      (item.id, item.title, item.date) = (UUID(), composed, item.date + 120)
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.titles.last == composed)
    }
  }
}
