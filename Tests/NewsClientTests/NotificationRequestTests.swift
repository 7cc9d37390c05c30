import BackgroundFetch
import Foundation
import GRDB
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A notification that the app requests") struct NotificationRequestTests {
  private func request(_ identifier: String, _ title: String, at date: Date? = nil) -> NotificationRequest {
    NotificationRequest(identifier: identifier, title: title, deliveryDate: date)
  }

  @Test("without a date is shown at once, and listed as delivered")
  func now() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("tide", "High water"))
      #expect(presenter.titles == ["High water"])
      #expect(try notifications.pending == [])
      #expect(try notifications.delivered.map(\.request.identifier) == ["tide"])
      #expect(try notifications.delivered.map(\.date) == [installation.clock.now.date])
      try await notifications.add(request("ferry", "Gone", at: installation.clock.now.date - 60))
      #expect(presenter.titles == ["High water", "Gone"])
    }
  }

  @Test("is shown too if it replaces one that is being shown")
  func replacedMeanwhile() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      let adding = Mutex<Task<Void, any Error>?>(nil)
      let next = request("tide", "Low water")
      presenter.interruption.withLock { interruption in
        interruption = {
          let task = Task { try await notifications.add(next) }
          adding.withLock { $0 = task }
          try await eventually("it is stored") { try notifications.pending == [next] }
        }
      }
      try await notifications.add(request("tide", "High water"))
      try await adding.withLock(\.self)?.value
      #expect((presenter.titles + presenter.replaced).contains { $0.hasSuffix("Low water") })
      #expect(try notifications.pending == [])
    }
  }

  @Test("and was stored by an older version has no buttons")
  func olderVersion() throws {
    let json = #"{"identifier":"tide","title":"High water","body":"","urgency":"normal"}"#
    let decoded = try JSONDecoder().decode(NotificationRequest.self, from: Data(json.utf8))
    #expect(decoded == request("tide", "High water") && decoded.actions == [])
  }

  @Test("for a date is shown once when it is due, in whichever process asks then")
  func scheduled() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let start = installation.clock.now.date
      let first = try await installation.notifier(presenter).notifications
      var later = request("later", "Later", at: start + 7200)
      later.actions = [.init(identifier: "again", title: "Again")]
      (later.body, later.category, later.urgency) = ("At noon.", "x-harbour.tide", .low)
      try await first.add(later)
      try await first.add(request("soon", "Soon", at: start + 60))
      #expect(try first.pending == [request("soon", "Soon", at: start + 60), later])
      await first.deliver()
      #expect(presenter.presented == [])
      installation.clock.advance(by: 60)
      for _ in 0..<3 { await (try await installation.notifier(presenter)).notifications.deliver() }
      #expect(presenter.titles == ["Soon"])
      // A fetch delivers requests too.
      installation.clock.advance(by: 7200)
      await (try await installation.notifier(presenter)).fetchAndDeliver()
      #expect(presenter.titles == ["Soon", "Later"])
      #expect(try first.pending == [])
    }
  }

  @Test("replaces the request or the shown notification with its identifier")
  func replaced() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let start = installation.clock.now.date
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("tide", "High water", at: start + 60))
      try await notifications.add(request("tide", "High water at noon", at: start + 90))
      #expect(try notifications.pending.map(\.title) == ["High water at noon"])
      installation.clock.advance(by: 60)
      await notifications.deliver()
      #expect(presenter.titles == [], "the date of the former request is not that of the new one")
      installation.clock.advance(by: 30)
      await notifications.deliver()
      try await notifications.add(request("tide", "Low water"))
      #expect(presenter.titles == ["High water at noon"])
      #expect(presenter.replaced == ["1: Low water"])
      #expect(try notifications.delivered.map(\.request.title) == ["Low water"])
    }
  }

  @Test("is removed before its date, or from the desktop afterwards")
  func removed() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      let date = installation.clock.now.date + 60
      for name in ["a", "b", "c"] { try await notifications.add(request(name, name, at: date)) }
      try notifications.removePending(["b"])
      #expect(try notifications.pending.map(\.identifier) == ["a", "c"])
      try notifications.removePending()
      #expect(try notifications.pending == [])
      for name in ["d", "e"] { try await notifications.add(request(name, name)) }
      try await notifications.add(request("f", "f", at: date))
      try notifications.removePending(["e"])
      try await notifications.removeDelivered(["f"])
      #expect(try notifications.pending.map(\.identifier) == ["f"], "each method has its own notifications")
      try await notifications.removeDelivered(["d"])
      #expect(presenter.withdrawn == ["1"])
      #expect(try notifications.delivered.map(\.request.identifier) == ["e"])
      try await notifications.removeDelivered()
      #expect(presenter.withdrawn == ["1", "2"])
      #expect(try notifications.delivered == [])
      // The request that was not shown yet has not been withdrawn.
      installation.clock.advance(by: 60)
      await notifications.deliver()
      #expect(presenter.titles == ["d", "e", "f"] && presenter.withdrawn.count == 2)
      #expect(try notifications.delivered.map(\.request.identifier) == ["f"])
    }
  }

  @Test("for a later date stays if the shown notification with its identifier is removed, and is shown then")
  func requestedForLater() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("tide", "High water"))
      try await notifications.add(request("tide", "Low water", at: installation.clock.now.date + 60))
      try await notifications.removeDelivered(["tide"])
      #expect(presenter.withdrawn == ["1"], "the desktop does not show it until the later date")
      try await notifications.removeDelivered()
      #expect(try notifications.pending.map(\.title) == ["Low water"])
      installation.clock.advance(by: 60)
      await notifications.deliver()
      #expect(presenter.titles == ["High water", "Low water"])
      #expect(presenter.replaced == [] && presenter.withdrawn == ["1"])
    }
  }

  @Test("for a later date and is removed before it leaves the notification that it was to replace")
  func removedReplacement() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      let date = installation.clock.now.date
      for name in ["tide", "wind"] {
        try await notifications.add(request(name, "Shown"))
        try await notifications.add(request(name, "Later", at: date + 60))
      }
      #expect(try notifications.pending.map(\.title) == ["Later", "Later"])
      #expect(try notifications.delivered.map(\.request.title) == ["Shown", "Shown"])
      #expect(try notifications.delivered.map(\.date) == [date, date])
      try await notifications.removeDelivered(["wind"])
      try notifications.removePending()
      #expect(try notifications.pending == [])
      #expect(try notifications.delivered.map(\.request.identifier) == ["tide"])
      await notifications.deliver()
      #expect(presenter.withdrawn == ["2"])
      try await notifications.removeDelivered(["tide"])
      #expect(presenter.withdrawn == ["2", "1"] && presenter.replaced == [])
    }
  }

  @Test("is withdrawn if it is removed while it is being shown")
  func removedMeanwhile() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      presenter.interruption.withLock { interruption in
        interruption = { try notifications.removePending(["tide"]) }
      }
      try await notifications.add(request("tide", "High water"))
      #expect(presenter.titles == ["High water"] && presenter.withdrawn == ["1"])
      #expect(try notifications.delivered == [])
    }
  }

  @Test("and was stored by an older version waits for its date, and replaces what was shown before")
  func olderStore() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let clock = installation.clock
      try await installation.notifier(presenter).notifications.add(request("shown", "Shown"))
      let rows = try ["new", "again", "far"].map { ($0, try JSONEncoder().encode(request($0, "Later"))) }
      // The last one is due long after the upgrade. The desktop still shows two of them.
      let (due, far) = (clock.now.date.timeIntervalSince1970 + 60, 4_000_000_000.0)
      let handles = ["again": "7", "far": "8"]
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(sql: "DROP TABLE requests; DELETE FROM grdb_migrations WHERE identifier = 'requests'")
        for (name, json) in rows {
          try db.execute(
            sql: "INSERT INTO notifications (identifier, json, due, handle) VALUES (?, ?, ?, ?)",
            arguments: [name, json, name == "far" ? far : due, handles[name]])
        }
      }
      let notifications = try await installation.notifier(presenter).notifications
      #expect(try notifications.pending.map(\.identifier) == ["again", "new", "far"])
      clock.advance(by: 60)
      await notifications.deliver()
      #expect(presenter.replaced == ["7: Later"] && presenter.titles == ["Shown", "Later"])
      let delivered = try notifications.delivered
      #expect(Set(delivered.map(\.request.identifier)) == ["shown", "again", "new", "far"])
      #expect(delivered.allSatisfy { $0.date <= Date() }, "none was shown in the future")
    }
  }

  @Test("replaces one that waits for its withdrawal")
  func withdrawnAndRequested() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("tide", "High water"))
      presenter.mode.withLock { $0 = .fails }
      try await notifications.removeDelivered(["tide"])
      #expect(try notifications.delivered == [])
      presenter.mode.withLock { $0 = .works }
      try await notifications.add(request("tide", "Low water"))
      #expect(presenter.replaced == ["1: Low water"] && presenter.withdrawn == [])
      #expect(try notifications.delivered.map(\.request.title) == ["Low water"])
    }
  }

  @Test("waits for its date, however many others are delivered meanwhile, of which the last two hundred are known")
  func retention() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("later", "Later", at: installation.clock.now.date + 3600))
      let json = try JSONEncoder().encode(request("earlier", "Earlier"))
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        for number in 0..<210 {
          try db.execute(
            sql: "INSERT INTO notifications (identifier, json, due, delivered) VALUES (?, ?, 0, ?)",
            arguments: ["\(number)", json, number])
        }
      }
      try await notifications.add(request("tide", "High water"))
      #expect(try notifications.pending.map(\.identifier) == ["later"])
      #expect(try notifications.delivered.count == 200)
      #expect(try notifications.delivered.first?.request.identifier == "tide")
    }
  }

  @Test("waits in quiet hours, unless it is critical")
  func quiet() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter, quietHours: QuietHours(from: 22 * 60, to: 7 * 60))
      var alarm = request("alarm", "Alarm")
      alarm.urgency = .critical
      try await client.notifications.add(request("tide", "High water"))
      try await client.notifications.add(alarm)
      #expect(presenter.titles == ["Alarm"])
      installation.clock.advance(by: 9 * 3600)
      await client.notifications.deliver()
      #expect(presenter.titles == ["Alarm", "High water"])
    }
  }

  @Test("is shown in time by a process that stays alive, also if it is added while that waits")
  func running() async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let notifications = try await installation.notifier(presenter).notifications
      try await notifications.add(request("ferry", "Gone", at: installation.clock.now.date + 960))
      let running = Task { await notifications.run() }
      try await eventually("it waits") { installation.clock.sleeping == [900] }
      try await notifications.add(request("tide", "High water", at: installation.clock.now.date + 60))
      try await eventually("it waits for the request") { installation.clock.sleeping == [60] }
      installation.clock.advance(by: 60)
      try await eventually("it is shown") { presenter.titles == ["High water"] }
      try await eventually("it waits again") { installation.clock.sleeping == [900] }
      try await notifications.add(request("wind", "Gale", at: installation.clock.now.date + 0.25))
      try await eventually("it looks once a second at most") { installation.clock.sleeping == [1] }
      try notifications.removePending(["wind"])
      try await eventually("it does not wait for what was removed") { installation.clock.sleeping == [900] }
      running.cancel()
      await running.value
      #expect(installation.clock.sleeping == [])
    }
  }

  @Test("that cannot be shown is tried again a quarter of an hour later by a process that stays alive")
  func repeated() async throws {
    try await Installation.with { installation in
      let (presenter, clock) = (RecordingPresenter(), installation.clock)
      let notifications = try await installation.notifier(presenter).notifications
      presenter.mode.withLock { $0 = .fails }
      try await notifications.add(request("tide", "High water"))
      let running = Task { await notifications.run() }
      try await eventually("it waits") { clock.sleeping == [900] }
      presenter.mode.withLock { $0 = .works }
      clock.advance(by: 900)
      try await eventually("it is shown") { presenter.titles == ["High water"] }
      running.cancel()
      await running.value
    }
  }

  @Test(
    "that waits in quiet hours is shown at their end by a process that stays alive, also if the clock skips the end",
    arguments: [
      // It is 06:50, and 01:50 on the day on which 02:00 to 03:00 does not exist.
      ("GMT", 31_000.0, 7 * 60, 600.0), ("GMT", 31_000, 6 * 60 + 55, 300),
      ("Europe/Berlin", 11_846_200, 2 * 60 + 30, 600),
    ])
  func endOfQuietHours(zone: String, time: Double, end: Int, wait: Double) async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let timeZone = try #require(TimeZone(identifier: zone))
      let quietHours = QuietHours(from: 22 * 60, to: end)
      let client = try await installation.notifier(presenter, quietHours: quietHours, timeZone: timeZone)
      let notifications = client.notifications
      installation.clock.advance(by: time)
      try await notifications.add(request("tide", "High water"))
      let running = Task { await notifications.run() }
      try await eventually("it waits for their end") { installation.clock.sleeping == [wait] }
      installation.clock.advance(by: wait)
      try await eventually("it is shown") { presenter.titles == ["High water"] }
      running.cancel()
      await running.value
    }
  }
}

@Suite("The choices about notifications") struct NotificationOptionsTests {
  @Test(
    "delay notifications from the first minute of the quiet hours to the last one, in the time zone of the client",
    arguments: [
      ("23:13", "23:15", true), ("23:14", "23:15", false), ("23:10", "23:14", true), ("23:10", "23:13", false),
      ("23:13", "07:00", true), ("23:14", "07:00", false), ("23:20", "23:14", true), ("23:20", "23:13", false),
      // Such hours cannot be stored.
      ("23:13", "23:13", false),
    ])
  func quietHours(from: String, to: String, isQuiet: Bool) async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let (first, end) = (try #require(QuietHours.minute(from)), try #require(QuietHours.minute(to)))
      // It is 23:13:20 there.
      let timeZone = try #require(TimeZone(secondsFromGMT: 3600))
      let client = try await installation.notifier(
        presenter, quietHours: QuietHours(from: first, to: end), timeZone: timeZone)
      try await client.notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      #expect(presenter.titles == (isQuiet ? [] : ["High water"]))
    }
  }

  @Test("are stored with the settings, and survive the loss of the store")
  func stored() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      #expect(client.notifications.options == NotificationOptions())
      #expect(!client.notifications.options.showsNews && client.notifications.options.quietHours == nil)
      let night = QuietHours(from: .seconds(22 * 3600 + 59), to: .seconds(7 * 3600 + 60))
      #expect(night == QuietHours(from: 22 * 60, to: 7 * 60 + 1))
      var options = NotificationOptions()
      options.showsNews = true
      options.program = URL(filePath: "/opt/my tools/100%")
      options.quietHours = QuietHours(from: 22 * 60, to: 7 * 60)
      try client.notifications.setOptions(options)
      try client.updateSchedule { $0.setInterval(.minimum) }
      try FileManager.default.removeItem(at: installation.folder.appending(path: "news.sqlite"))
      #expect(try installation.client().notifications.options == options)
      #expect(NewsFetcher.notificationOptions(in: installation.folder) == options)
    }
  }

  @Test("of an unknown form do not affect the others")
  func unknown() throws {
    let json = #"{"notify":true,"exec":7,"quiet":{"from":"25:00","to":"07:00"},"later":[]}"#
    let options = try JSONDecoder().decode(Settings.self, from: Data(json.utf8)).notifications
    #expect(options.showsNews)
    #expect(options.program == nil)
    #expect(options.quietHours == nil)
  }
}
