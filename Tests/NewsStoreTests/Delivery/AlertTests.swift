import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The requests for alerts: an item has one, ever.
@Suite struct AlertTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(
    state: .published, date: .newYear, text: "The ferry is back.", title: "Ferry")

  private static func alerts(_ sql: PostgresPool) async throws -> Int {
    try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'alert'")
  }

  @Test("An alert is made once, and no edit, retry or further request repeats it")
  func once() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content, by: .key("k"), requestsAlert: true)
      try await store.wake()
      let made = try #require(try await store.alert(of: UUID(1)))
      #expect(made.state == .released && made.push != nil && !made.isNew)
      // A retry of the creation, an edit, and a request by itself.
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      _ = try await store.write(UUID(1), if: .exists, requestsAlert: true) { _ in
        var edited = Self.content
        edited.text = "The night ferry is back."
        return edited
      }
      #expect(try await store.requestAlert(item: UUID(1)) == made)
      try await store.wake(at: Self.start + 1)
      #expect(try await Self.alerts(sql) == 1)
      #expect(try await store.alert(of: UUID(1)) == made)
    }
  }

  @Test("The texts of an alert are known before it is made")
  func content() async throws {
    try await NewsDatabase.withStore { store, sql in
      var (untitled, long) = (Self.content, Self.content)
      untitled.title = nil
      untitled.text = "The ferry\n\n is  back."
      long.title = "Ferry" + String(repeating: " ferry", count: 60)
      long.summary = String(repeating: "back ", count: 200)
      (long.url, long.breaking) = ("https://news.example/ferry", true)
      for (number, content) in [Self.content, untitled, long].enumerated() {
        _ = try await store.create(UUID(number), content)
      }
      let shown = try #require(try await store.alertContent(of: UUID(0)))
      #expect(shown == PushAlert(title: "Ferry", body: "The ferry is back."))
      #expect(try await store.alertContent(of: UUID(1)) == PushAlert(title: "The ferry is back.", body: ""))
      let cut = try #require(try await store.alertContent(of: UUID(2)))
      #expect(cut.title.count == 200 && cut.body.count == 500 && cut.breaking && cut.url == long.url)
      #expect(try await store.alertContent(of: UUID(3)) == nil)
      untitled.text = String(repeating: "ferry ", count: 60)
      _ = try await store.create(UUID(4), untitled)
      #expect(try await store.alertContent(of: UUID(4))?.title == String(untitled.text.prefix(200)))
      for number in 0..<3 { _ = try await store.requestAlert(item: UUID(number)) }
      try await store.wake()
      for number in 0..<3 {
        let made = try await sql.query("SELECT content FROM pushes WHERE kind = 'alert' AND item = \(UUID(number))")
        let json = try #require(try made.first?.decode("content", as: PostgresJSON.self)).data
        let content = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let alert = try #require(try await store.alertContent(of: UUID(number)))
        #expect(content["title"] as? String == alert.title && content["body"] as? String == alert.body)
      }
    }
  }

  @Test("A write of a published item takes effect although its content is equal, an edit without a request has none")
  func unchanged() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content)
      _ = try await store.write(UUID(1), if: .exists) { _ in
        var edited = Self.content
        edited.summary = "Every hour."
        return edited
      }
      try await store.wake()
      #expect(try await Self.alerts(sql) == 0)
      for _ in 0..<2 {
        _ = try await store.write(UUID(1), if: .exists, by: .key("k"), requestsAlert: true) { item in
          ItemContent(try #require(item))
        }
        try await store.wake()
        #expect(try await Self.alerts(sql) == 1)
      }
      #expect(try await sql.value("SELECT editor FROM item_alerts") == "key:k")
      #expect(try await sql.value("SELECT count(*) FROM outbox") == 0)
    }
  }

  @Test("A batch requests alerts for its items, also if it changes nothing, and none for those that it refuses")
  func batch() async throws {
    try await NewsDatabase.withStore { store, sql in
      func write(_ number: Int, topics: [String] = [], alert: Bool) -> ItemWrite {
        var content = Self.content
        content.topics = topics
        return .creation(
          of: UUID(number), isNewID: false, content, StateChange(state: .published), by: nil, requestsAlert: alert,
          at: .now)
      }
      let outcomes = try await store.writeBatch(
        [write(1, alert: true), write(2, topics: ["unknown"], alert: true), write(3, alert: false)], isAtomic: false)
      #expect(outcomes.map { (try? $0?.get()) != nil } == [true, false, true])
      #expect(try await sql.value("SELECT count(*) FROM item_alerts") == 1)
      _ = try await store.writeBatch([write(1, alert: true), write(3, alert: true)], isAtomic: true)
      #expect(try await sql.value("SELECT count(*) FROM item_alerts") == 2)
      _ = try await store.writeBatch(
        [write(4, alert: true), write(5, topics: ["unknown"], alert: true)], isAtomic: true)
      #expect(try await sql.value("SELECT count(*) FROM item_alerts") == 2)
      try await store.wake()
      #expect(try await Self.alerts(sql) == 2)
    }
  }

  @Test("A request by itself whose transaction was undone during its COMMIT is made again")
  func undone() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(UUID(1), Self.content)
      let writing = try await sql.transaction { transaction in
        _ = try await transaction.query("INSERT INTO item_alerts (item) VALUES (\(UUID(1)))")
        let writing = Task { try await store.write(UUID(1), if: .exists, requestsAlert: true) { _ in Self.content } }
        // The request waits for the row, in one round trip with its COMMIT.
        try await eventually("its session has ended") {
          try await sql.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO item_alerts%'
            """
          ).count == 1
        }
        _ = try await transaction.query("DELETE FROM item_alerts")
        return writing
      }
      #expect(try await writing.value.item.revision == 1)
      #expect(store.writes.lostCommits.undone == 1 && store.writes.lostCommits.unknown == 0)
      #expect(try await store.alert(of: UUID(1))?.state == .waiting)
    }
  }

  @Test("A group of new items requests alerts for those that are created")
  func group() async throws {
    try await NewsDatabase.withStore { store, sql in
      let writes = (1...5).map { number in
        ItemWrite.creation(
          of: UUID(number), isNewID: true, Self.content, StateChange(state: .published), by: nil,
          requestsAlert: number != 3, at: .now)
      }
      let outcomes = await store.writeTogether(writes)
      #expect(outcomes.allSatisfy { (try? $0?.get()) != nil })
      try await store.wake()
      #expect(try await Self.alerts(sql) == 4)
    }
  }

  @Test("The alert of a draft waits until an editor or the schedule publishes it, that of a discarded draft for ever")
  func drafts() async throws {
    try await NewsDatabase.withStore { store, sql in
      var draft = Self.content
      draft.state = .draft
      for number in 1...3 { _ = try await store.create(UUID(number), draft, requestsAlert: true) }
      try await store.wake()
      let again = try await store.requestAlert(item: UUID(1))
      #expect(!again.isNew && again.state == .waiting && again.push == nil && !again.isUnused)
      _ = try await store.write(UUID(1), if: .exists) { _ in Self.content }
      _ = try await sql.query(
        """
        UPDATE items SET state = 'scheduled', publish_at = clock_timestamp() - interval '1 minute'
        WHERE id = \(UUID(2))
        """)
      _ = try await store.applySchedule()
      try await store.retract(UUID(3), reason: nil, if: .exists)
      try await store.wake()
      let states = try await [1, 2, 3].asyncMap { try await store.alert(of: UUID($0))?.state }
      #expect(states == [.released, .released, .waiting])
      #expect(try await Self.alerts(sql) == 2)
    }
  }

  @Test("Imports and restored items never alert")
  func imports() async throws {
    try await NewsDatabase.withStore { store, sql in
      var item = ImportedItem(id: UUID(1), source: "s", guid: "g", digest: Data([1]), content: Self.content)
      _ = try await store.importItems([item])
      #expect(try await store.requestAlert(item: UUID(1)).isNew)
      try await store.wake()
      item.digest = Data([2])
      item.content.text = "other"
      _ = try await store.importItems([item])
      try await store.wake()
      #expect(try await Self.alerts(sql) == 1)
    }
  }

  @Test("A retraction cancels what is queued and wakes at once the devices that may have shown the alert")
  func retraction() async throws {
    try await NewsDatabase.withStore { store, sql in
      var wanted = DeviceRegistration.apns()
      wanted.alerts = true
      let device = try await store.register(wanted)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake(window: .seconds(600))
      try await store.retract(UUID(1), reason: "wrong", if: .exists)
      try await store.wake(window: .seconds(600), at: Self.start + 1)
      #expect(try await sql.pushKinds().sorted() == ["alert", "retraction", "silent"])
      let messages = try await store.claim(at: Self.start + 1)
      #expect(messages.map(\.kind) == [.silent] && messages.map(\.device) == [device.id])
      #expect(messages.first?.content.contentID == UUID(1))
      let request = try #require(try await store.alert(of: UUID(1)))
      let alert = try #require(request.push)
      let push = try #require(try await store.push(alert))
      #expect(request.state == .cancelled && push.cancelled == Self.start + 1)
      #expect(push.audience == 1 && push.dropped == 1 && push.sent == 0)
    }
  }

  @Test("An alert that is cancelled before its fan-out reaches nobody")
  func cancelledEarly() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      _ = try await store.collectOutbox(window: .seconds(600), at: Self.start)
      try await store.retract(UUID(1), reason: nil, if: .exists)
      try await store.wake(window: .seconds(600))
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
    }
  }

  @Test("An item that was withdrawn before its alert was made still has it when it is published again")
  func withdrawn() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      _ = try await store.write(UUID(1), if: .exists, StateChange(state: .draft)) { _ in Self.content }
      try await store.wake()
      #expect(try await store.alert(of: UUID(1))?.state == .waiting)
      _ = try await store.write(UUID(1), if: .exists, StateChange(state: .published)) { _ in Self.content }
      try await store.wake()
      #expect(try await Self.alerts(sql) == 1)
    }
  }

  @Test("A request is refused for items that are unknown, taken down, or out of the author's reach")
  func refusals() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(UUID(1), Self.content)
      _ = try await store.create(UUID(2), Self.content)
      try await store.retract(UUID(2), reason: "wrong", if: .exists)
      _ = try await store.create(UUID(3), Self.content)
      try await sql.publish([UUID(3)], after: "UPDATE items SET state = 'expired' WHERE id = \(UUID(3))")
      await #expect(throws: StoreError.retracted(reason: .expired, detail: nil)) {
        try await store.requestAlert(item: UUID(3))
      }
      await #expect(throws: StoreError.notFound) { try await store.requestAlert(item: UUID(9)) }
      await #expect(throws: StoreError.retracted(reason: .retracted, detail: "wrong")) {
        try await store.requestAlert(item: UUID(2))
      }
      await #expect(throws: StoreError.publishingNotAllowed) {
        try await store.requestAlert(item: UUID(1), access: ItemAccess(mayPublish: false))
      }
      await #expect(throws: StoreError.topicsNotAllowed([], allowed: ["a"])) {
        try await store.requestAlert(item: UUID(1), access: ItemAccess(topics: ["a"]))
      }
      await #expect(throws: StoreError.notFound) { try await store.alertAudience(of: UUID(9)) }
      #expect(try await sql.value("SELECT count(*) FROM item_alerts") == 0)
    }
  }

  @Test("An erased item leaves no text behind, and its alert is sent no more")
  func erasure() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      try await store.retract(UUID(1), reason: nil, if: .exists)
      _ = try await store.erase(UUID(1), reason: nil, if: .none)
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE content IS NOT NULL") == 0)
      #expect(try await store.send().map(\.kind) == [.silent])
      // The retraction still reaches the devices.
      try await store.wake(at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).map(\.kind) == [.silent])
    }
  }

  @Test("A deleted item leaves no text and no request behind")
  func deletion() async throws {
    try await NewsDatabase.withStore { store, sql in
      var draft = Self.content
      draft.state = .draft
      _ = try await store.create(UUID(1), draft, requestsAlert: true)
      _ = try await sql.query("DELETE FROM items WHERE id = \(UUID(1))")
      #expect(try await store.alert(of: UUID(1)) == nil)
    }
  }

  // MARK: The audience

  private static func register(
    _ store: NewsStore, _ number: Int, _ change: (inout DeviceRegistration) -> Void = { _ in }
  ) async throws -> UUID {
    var registration = DeviceRegistration.apns(number)
    registration.alerts = true
    change(&registration)
    return try await store.register(registration).id
  }

  /// Registers devices for an item in the topic `harbour` and the language `de-AT`.
  ///
  /// - Returns: Those that receive each alert, and one that has its quiet hours.
  private static func makeAudience(_ store: NewsStore) async throws -> (awake: Set<UUID>, sleeping: UUID) {
    var browser = DeviceRegistration.webPush(1)
    browser.alerts = true
    let awake = [
      try await store.registerConfirmed(browser).id, try await register(store, 1),
      try await register(store, 2) { $0.topics = ["harbour", "sport"] },
      try await register(store, 3) { $0.languages = ["en", "de"] },
      try await register(store, 4) { $0.languages = ["de-at"] },
    ]
    // 03:33 in UTC and 05:33 in Berlin.
    let sleeping = try await register(store, 5) {
      $0.timeZone = "Europe/Berlin"
      $0.quiet = QuietHours(from: 330, to: 360)
    }
    _ = try await register(store, 6) { ($0.alerts, $0.quiet) = (false, QuietHours(from: 0, to: 600)) }
    _ = try await register(store, 7) { $0.topics = ["sport"] }
    _ = try await register(store, 8) { $0.languages = ["at", "fr", "de-a"] }
    try await store.register(.webPush(2))
    return (Set(awake), sleeping)
  }

  @Test(
    "Alerts go to active devices that want them, by topic, language and quiet hours, browsers included",
    arguments: [false, true])
  func audience(breaking: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      let (awake, sleeping) = try await Self.makeAudience(store)
      var content = Self.content
      content.topics = ["harbour"]
      content.language = "de-AT"
      content.breaking = breaking
      _ = try await store.create(UUID(1), content)
      let counts = try await store.alertAudience(of: UUID(1), at: Self.start)
      #expect(counts.devices == (breaking ? 6 : 5) && counts.quiet == (breaking ? 0 : 1))
      #expect(counts.providers == [.apns: breaking ? 5 : 4, .webpush: 1])
      #expect(try await store.requestAlert(item: UUID(1)).isNew)
      _ = try await store.collectOutbox(window: .seconds(600), at: Self.start)
      while try await store.fanOut(budget: 3, at: Self.start) {}
      var alerts = try await store.send()
      alerts += try await store.send(.webpush).filter { $0.kind == .alert }
      #expect(Set(alerts.map(\.device)) == (breaking ? awake.union([sleeping]) : awake))
      let alert = PushAlert(title: "Ferry", body: "The ferry is back.", breaking: breaking)
      #expect(alerts.allSatisfy { $0.content.contentID == UUID(1) && $0.content.alert == alert })
      let push = try #require(try await store.pushes(limit: 9).first { $0.kind == .alert })
      #expect(push.sent == alerts.count && push.dropped == (breaking ? 0 : 1) && push.title == "Ferry")
    }
  }

  @Test("An alert has a short title and text, and the beginning of the text if there is no title")
  func texts() async throws {
    try await NewsDatabase.withStore { store, _ in
      var registration = DeviceRegistration.apns()
      registration.alerts = true
      try await store.register(registration)
      var long = ItemContent(state: .published, date: .newYear, text: String(repeating: "ä\n ", count: 3000))
      long.title = String(repeating: "t", count: 300)
      long.url = "https://news.example/1"
      var bare = long
      (bare.title, bare.summary, bare.url) = (nil, " In\n short ", nil)
      for (number, content) in [long, bare].enumerated() {
        _ = try await store.create(UUID(number), content, requestsAlert: true)
      }
      try await store.wake()
      let alerts = try await store.claim().compactMap { $0.content.alert.map { ($0, $0.url) } }
      let (first, second) = (
        try #require(alerts.first { $0.1 != nil }?.0), try #require(alerts.first { $0.1 == nil }?.0)
      )
      #expect(first.title == String(repeating: "t", count: 200) && first.body.count == 500)
      #expect(first.body.hasPrefix("ä ä ä") && first.url == "https://news.example/1")
      #expect(second == PushAlert(title: "In short", body: ""))
    }
  }
}

extension Array {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
