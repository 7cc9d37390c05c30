import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("The settings of a store") struct SettingsTests {
  /// Returns a client that has fetched, with an interval and learned habits.
  private func used(_ installation: Installation) async throws -> NewsFetcher {
    installation.feed.publish("one", topics: ["sport"])
    let client = try installation.client()
    await client.performFetch()
    try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
    for _ in 0..<3 {
      installation.clock.advance(by: 86_400)
      try client.recordOpening()
    }
    return client
  }

  /// Returns the client as another process opens it, the feed that it found, and its log.
  private func reopened(_ installation: Installation) throws -> (client: NewsFetcher, feed: FollowedFeed?, log: Reports)
  {
    let log = Reports()
    var feed: FollowedFeed?
    let client = try NewsFetcher(
      folder: installation.folder, application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock),
      clock: installation.clock, log: log.note
    ) { stored in
      feed = stored
      return NewsFetcher.Configuration(
        folder: installation.folder, feed: try stored ?? installation.followedFeed(), userAgent: "tests/1")
    }
    return (client, feed, log)
  }

  private func damage(_ installation: Installation) throws {
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(at: installation.folder.appending(path: "news.sqlite" + suffix))
    }
    try Data(repeating: 0x5a, count: 20_000).write(to: installation.folder.appending(path: "news.sqlite"))
  }

  @Test("survive the damage or the loss of the store, which is logged", arguments: [true, false])
  func damage(isLost: Bool) async throws {
    try await Installation.with(extent: .window(30), topics: ["sport"]) { installation in
      let before = try await used(installation).schedule
      if isLost {
        for name in ["news.sqlite", "news.sqlite-wal", "news.sqlite-shm"] {
          try? FileManager.default.removeItem(at: installation.folder.appending(path: name))
        }
      } else {
        try damage(installation)
      }
      let (client, feed, log) = try reopened(installation)
      #expect(try installation.followedFeed() == feed)
      #expect(try client.schedule.interval == .duration(.seconds(7200)))
      #expect(try client.schedule.openings == before.openings)
      let sentence = "news.sqlite is damaged; it was renamed to"
      #expect(log.texts.contains { $0.contains(sentence) } == !isLost)
      #expect(await client.performFetch().inserted == 1)
      #expect(try reopened(installation).client.schedule.interval == .duration(.seconds(7200)))
    }
  }

  @Test("are restored by the next fetch if their file was deleted")
  func deleted() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      let before = try await used(installation).schedule
      for name in ["settings.json", "habits.json"] {
        try FileManager.default.removeItem(at: installation.folder.appending(path: name))
      }
      let (client, feed, log) = try reopened(installation)
      #expect(try installation.followedFeed() == feed)
      #expect(try client.schedule == before)
      #expect(try client.count == 1)
      _ = installation.requests()
      #expect(await client.performFetch().result == .noData)
      #expect(installation.requests() == ["*/v1/changes"])
      #expect(log.texts.isEmpty)
      try damage(installation)
      let after = try reopened(installation)
      #expect(after.feed == feed)
      #expect(try after.client.schedule.interval == .duration(.seconds(7200)))
      #expect(try after.client.schedule.openings == before.openings)
    }
  }

  @Test("and learned habits replace an unreadable schedule", arguments: [true, false])
  func undecodableSchedule(hasSettings: Bool) async throws {
    try await Installation.with { installation in
      let before = try await used(installation).schedule
      if !hasSettings {
        for name in ["settings.json", "habits.json"] {
          try FileManager.default.removeItem(at: installation.folder.appending(path: name))
        }
      }
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(
          sql: "UPDATE state SET json = ? WHERE name = 'schedule'",
          arguments: [Data(#"{"interval":"7200","seed":"none"}"#.utf8)])
      }
      let (client, _, log) = try reopened(installation)
      #expect(try client.schedule.interval == (hasSettings ? .duration(.seconds(7200)) : .never))
      #expect((try client.schedule.openings == before.openings) == hasSettings)
      let state = hasSettings ? "the interval stays 7200" : "background fetch is off until an interval is set"
      #expect(log.texts.count { $0.contains("cannot be read: \(state)") } == 1)
    }
  }

  @Test("that are damaged are renamed, and the store is used")
  func damagedSettings() async throws {
    try await Installation.with { installation in
      _ = try await used(installation)
      for name in ["settings.json", "habits.json"] {
        try Data("{".utf8).write(to: installation.folder.appending(path: name))
      }
      let (client, feed, log) = try reopened(installation)
      #expect(try installation.followedFeed() == feed)
      try client.updateSchedule { $0.setInterval(.duration(.seconds(3600))) }
      #expect(log.texts.contains { $0.contains("settings.json") && $0.contains("was renamed to") })
      await client.performFetch()
      try damage(installation)
      let after = try reopened(installation)
      #expect(try after.client.schedule.interval == .duration(.seconds(3600)))
      #expect(try installation.followedFeed() == after.feed)
    }
  }

  @Test("that cannot be read for a while are neither replaced nor lost")
  func unreadable() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      let client = try await used(installation)
      try client.setLaunchCommand(["/bin/true"])
      let file = installation.folder.appending(path: "settings.json")
      let kept = installation.folder.appending(path: "kept.json")
      try FileManager.default.moveItem(at: file, to: kept)
      // A link to a folder can be replaced, but not be read.
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: installation.folder)
      let error = #expect(throws: FetchError.self) {
        try client.updateSchedule { $0.setInterval(.duration(.seconds(3600))) }
      }
      #expect(error?.code == .storage && error?.message.contains("cannot read ") == true, "\(error?.message ?? "")")
      #expect(throws: FetchError.self) { try client.setLaunchCommand(nil) }
      try FileManager.default.removeItem(at: file)
      try FileManager.default.moveItem(at: kept, to: file)
      #expect(client.launchCommand == ["/bin/true"])
      try damage(installation)
      let (again, feed, _) = try reopened(installation)
      #expect(try again.schedule.interval == .duration(.seconds(7200)))
      #expect(try installation.followedFeed() == feed)
    }
  }

  @Test("that are damaged are not renamed by readers, because another process may have replaced them meanwhile")
  func readers() async throws {
    try await Installation.with { installation in
      let client = try await used(installation)
      let files = ["settings.json", "habits.json"].map { installation.folder.appending(path: $0) }
      for file in files { try Data("{".utf8).write(to: file) }
      #expect(client.launchCommand == nil && client.notifications.options == NotificationOptions())
      #expect(NewsFetcher.notificationOptions(in: installation.folder) == NotificationOptions())
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(sql: "DELETE FROM state WHERE name = 'schedule'")
      }
      #expect(try client.schedule.interval == .never)
      for file in files { #expect(try Data(contentsOf: file) == Data("{".utf8)) }
      // A writer has the lock.
      try client.updateSchedule { $0.setInterval(.duration(.seconds(3600))) }
      let names = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
      for file in files {
        #expect(names.contains { $0.hasPrefix("\(file.lastPathComponent).broken-") })
        #expect(try Data(contentsOf: file) != Data("{".utf8))
      }
    }
  }

  @Test(
    "are used in part if this build knows only a part of them",
    arguments: ["interval", "notify", "launch", "later"])
  func unknownForm(name: String) async throws {
    try await Installation.with { installation in
      _ = try await used(installation)
      let file = installation.folder.appending(path: "settings.json")
      var members = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
      members[name] = ["later": 1]
      try JSONSerialization.data(withJSONObject: members).write(to: file)
      try damage(installation)
      let (client, feed, log) = try reopened(installation)
      try client.updateSchedule { $0.setInterval(.minimum) }
      try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      #expect(try installation.followedFeed() == feed)
      #expect(try client.schedule.interval == .duration(.seconds(7200)))
      #expect(!log.texts.contains { $0.contains("settings.json") })
      #expect(try String(contentsOf: file, encoding: .utf8).contains(#""later""#) == (name != "interval"))
    }
  }

  @Test("raise notifications only if they say so", arguments: ["{}", "1", "null", #""no""#])
  func unknownChoice(notify: String) async throws {
    try await Installation.with { installation in
      let client = try await used(installation)
      var options = client.notifications.options
      options.showsNews = true
      try client.notifications.setOptions(options)
      let file = installation.folder.appending(path: "settings.json")
      var members = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
      members["notify"] = try JSONSerialization.jsonObject(with: Data(notify.utf8), options: .fragmentsAllowed)
      try JSONSerialization.data(withJSONObject: members).write(to: file)
      #expect(!NewsFetcher.notificationOptions(in: installation.folder).showsNews)
    }
  }

  @Test("change to another feed only after a response of its server")
  func unansweredSource() async throws {
    try await Installation.with { installation in
      let client = try await used(installation)
      var other = installation
      other.address = "http://127.0.0.1:1"
      var harbor = installation
      harbor.topics = ["harbor"]
      let refusal = Problem(
        type: "/problems/invalid-parameters", title: "Invalid parameters", status: 400,
        errors: [FieldError(field: "topics", rule: "must be existing topics; not found: harbor")])
      for wrong in [other, harbor] {
        installation.feed.fault(next: .response(.problem(refusal)))
        #expect(try await wrong.client().performFetch().result == .failed)
        installation.feed.removeFaults()
        try wrong.client().updateSchedule { $0.setInterval(.duration(.seconds(9000))) }
        try wrong.client().recordOpening()
        let (same, feed, _) = try reopened(installation)
        #expect(try installation.followedFeed() == feed)
        #expect(try same.schedule.interval == .duration(.seconds(9000)))
        #expect(try same.badge == 0)
        #expect(try same.snapshot.checked != nil)
        _ = installation.requests()
        #expect(await same.performFetch().result == .noData)
        #expect(installation.requests() == ["*/v1/changes"])
      }
      #expect(try client.count == 1)
      // The client switches to a source once that source has answered.
      var sport = installation
      sport.topics = ["sport"]
      #expect(try await sport.client().performFetch().result != .failed)
      #expect(try reopened(installation).feed?.topics == ["sport"])
    }
  }

  @Test("of a folder without a feed are those of the configuration")
  func first() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      try installation.client().updateSchedule { $0.setInterval(.minimum) }
      #expect(try NewsFetcher.feed(in: installation.folder) == installation.followedFeed())
    }
  }

  @Test("A store with an item that cannot be decoded is renamed, and all items are fetched again")
  func undecodableItem() async throws {
    try await Installation.with { installation in
      let client = try await used(installation)
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(sql: "UPDATE items SET json = x'7b'")
      }
      #expect(throws: FetchError.self) { try client.allNewsItems }
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
      #expect(try client.schedule.interval == .duration(.seconds(7200)))
    }
  }

  @Test("A damaged badge does not survive the next fetch")
  func hugeBadge() async throws {
    try await Installation.with { installation in
      let client = try await used(installation)
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(
          sql:
            "UPDATE state SET json = CAST(replace(CAST(json AS TEXT), '\"badge\":0', '\"badge\":\(Int.max)') AS BLOB)")
      }
      installation.feed.publish("two", topics: ["sport"])
      #expect(await client.performFetch().badge == 1)
    }
  }

  @Test("of earlier versions are taken over")
  func earlierForm() async throws {
    try await Installation.with { installation in
      let file = installation.folder.appending(path: "settings.json")
      try FileManager.default.createDirectory(at: installation.folder, withIntermediateDirectories: true)
      let json = #"""
        {"source":{"server":"https://news.example","topics":["sport"],"extent":{"window":{"_0":30}}},"interval":"7200",
        "notifications":{"notify":true,"exec":"/bin/true","quiet":{"from":"22:00","to":"07:00"}},"launch":["/bin/a","b c"]}
        """#
      try Data(json.utf8).write(to: file)
      let (client, feed, _) = try reopened(installation)
      let server = try #require(URL(string: "https://news.example"))
      #expect(feed == FollowedFeed(server: server, topics: ["sport"], extent: .window(30)))
      #expect(try client.schedule.interval == .duration(.seconds(7200)))
      var options = NotificationOptions()
      options.showsNews = true
      options.program = URL(filePath: "/bin/true")
      options.quietHours = QuietHours(from: 22 * 60, to: 7 * 60)
      #expect(client.notifications.options == options)
      #expect(client.launchCommand == ["/bin/a", "b c"])
      try client.updateSchedule { $0.setInterval(.minimum) }
      let after = try reopened(installation)
      #expect(after.feed == feed && after.client.notifications.options == options)
      #expect(after.client.launchCommand == ["/bin/a", "b c"])
      #expect(try !String(contentsOf: file, encoding: .utf8).contains("source"))
    }
  }

  @Test("with a full copy are taken over too")
  func earlierExtent() throws {
    let json = #"{"source":{"server":"https://news.example","topics":[],"extent":{"full":{}}}}"#
    #expect(try JSONDecoder().decode(Settings.self, from: Data(json.utf8)).feed?.extent == .full)
  }

  @Test("are all in the table of docs/client.md, in this order")
  func documentation() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let text = try String(contentsOf: root.appending(path: "docs/client.md"), encoding: .utf8)
    #expect(text.contains("|\n" + Setting.allCases.map(\.row).joined(separator: "\n") + "\n\n"))
  }
}
