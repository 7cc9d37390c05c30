import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import Synchronization
import TestKit
import Testing

/// A presenter that records its calls. It numbers the notifications, and may fail or hang.
final class RecordingPresenter: NotificationPresenter {
  struct Failure: Error, CustomStringConvertible {
    let description = "the desktop is away"
  }

  enum Mode {
    case works, fails, hangs
  }

  let mode = Mutex(Mode.works)
  /// Whether notifications can be replaced and withdrawn.
  let hasHandles = Mutex(true)
  /// The number of calls that were cancelled.
  let cancelled = Mutex(0)
  /// An event during the next call that succeeds.
  let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)
  private let calls = Mutex<(presented: [NotificationRequest], replaced: [String], withdrawn: [String])>(([], [], []))

  var presented: [NotificationRequest] { calls.withLock(\.presented) }
  var titles: [String] { presented.map(\.title) }
  var replaced: [String] { calls.withLock(\.replaced) }
  var withdrawn: [String] { calls.withLock(\.withdrawn) }

  func present(_ request: NotificationRequest) async throws -> String? {
    switch mode.withLock(\.self) {
    case .works: try await interruption.withLock { $0.take() }?()
    case .fails: throw Failure()
    case .hangs:
      do { try await Task.sleep(for: .seconds(3600)) } catch {
        cancelled.withLock { $0 += 1 }
        throw error
      }
    }
    return calls.withLock { calls in
      calls.presented.append(request)
      return hasHandles.withLock(\.self) ? "\(calls.presented.count)" : nil
    }
  }

  func replace(_ handle: String, with request: NotificationRequest) async throws -> String? {
    calls.withLock { $0.replaced.append("\(handle): \(request.title)") }
    try await interruption.withLock { $0.take() }?()
    return hasHandles.withLock(\.self) ? handle : nil
  }

  func withdraw(_ handle: String) async throws {
    if mode.withLock({ $0 == .fails }) { throw Failure() }
    calls.withLock { $0.withdrawn.append(handle) }
    try await interruption.withLock { $0.take() }?()
  }
}

extension Installation {
  /// Returns a client that raises notifications, as a new process creates it.
  ///
  /// - Parameters:
  ///   - isVisible: Whether the app is in the foreground.
  ///   - notifiesInForeground: Whether it wants notifications there.
  func notifier(
    _ presenter: RecordingPresenter, quietHours: QuietHours? = nil, timeZone: TimeZone = .gmt, program: URL? = nil,
    isVisible: Bool = false, notifiesInForeground: Bool = false, log: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> NewsFetcher {
    var configuration = NewsFetcher.Configuration(
      folder: folder, feed: try followedFeed(), userAgent: "tests/1 (+https://example.org)")
    configuration.timeZone = timeZone
    configuration.presenter = presenter
    var options = NotificationOptions()
    (options.showsNews, options.quietHours, options.program) = (true, quietHours, program)
    configuration.notifications = options
    configuration.notifiesInForeground = notifiesInForeground
    let application = ApplicationLifecycle(launchReason: isVisible ? .user : .fetch, clock: clock)
    await application.launch()
    return try NewsFetcher(configuration, application: application, clock: clock, log: log)
  }

  /// Runs the body with a client that raises notifications and has fetched an item, of which it raises none.
  static func notifying(
    quietHours: QuietHours? = nil, _ body: (Installation, RecordingPresenter, NewsFetcher) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter, quietHours: quietHours)
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      try await body(installation, presenter, client)
    }
  }

  /// Publishes a breaking item.
  @discardableResult
  func publishBreaking(_ title: String) -> NewsItem {
    var item = NewsItem(
      id: UUID(), version: 0, date: feed.items[0].date + 60, text: "The text of \(title).", title: title,
      updated: clock.now.date)
    item.breaking = true
    return feed.publish([item])[0]
  }
}

extension NewsFetcher {
  /// Fetches, and waits until the notifications were delivered.
  @discardableResult
  func fetchAndDeliver(_ reason: FetchReason = .scheduled) async -> FetchReport {
    let report = await performFetch(reason)
    _ = await application.suspend()
    return report
  }
}

@Suite("The notifications of a fetch") struct LocalNotificationTests {
  @Test("mention no item of the first fetch, then one item by its title, and several together")
  func grouping() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old", title: "Old")
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      await client.fetchAndDeliver()
      #expect(presenter.presented == [])
      installation.feed.publish("The ferry\nsails again.", title: "Ferry")
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Ferry"])
      #expect(presenter.presented[0].body == "The ferry sails again.")
      #expect(presenter.presented[0].urgency == .normal)
      for number in 1...7 { installation.feed.publish("text", title: "Story \(number)") }
      await client.fetchAndDeliver()
      #expect(presenter.titles.last == "7 new stories")
      #expect(presenter.presented.last?.body == "Story 7\nStory 6\nStory 5\nStory 4\nStory 3\nand 2 more")
      #expect(presenter.presented.last?.identifier == "items-\(installation.feed.items[0].id.uuidString.lowercased())")
      await client.fetchAndDeliver()
      #expect(presenter.presented.count == 2)
      #expect(presenter.presented.allSatisfy { $0.category == "x-tidings.news" })
    }
  }

  @Test("mention each breaking item on its own, with the highest urgency")
  func breaking() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      await client.fetchAndDeliver()
      installation.feed.publish("one", title: "One")
      installation.feed.publish("two", title: "Two")
      installation.publishBreaking("Flood")
      installation.publishBreaking("Storm")
      await client.fetchAndDeliver()
      #expect(Set(presenter.titles) == ["Flood", "Storm", "2 new stories"])
      #expect(presenter.presented.filter { $0.urgency == .critical }.count == 2)
    }
  }

  @Test("mention neither edits, nor items that were withdrawn and return, nor those of a resync")
  func knownItems() async throws {
    try await Installation.with(extent: .window(5)) { installation in
      let feed = installation.feed
      var item = feed.publish("one", title: "One")
      feed.publish("two", title: "Two")
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      await client.fetchAndDeliver()
      item.title = "One, corrected"
      feed.publish([item])
      await client.fetchAndDeliver()
      feed.retract(item.id)
      await client.fetchAndDeliver()
      feed.publish([item])
      #expect(await client.fetchAndDeliver().inserted == 1)
      feed.publish("three", title: "Three")
      feed.expireTokens()
      #expect(await client.fetchAndDeliver().inserted == 1)
      // The feed has kept no history, so its next change needs a resync too.
      feed.publish("four", title: "Four")
      #expect(await client.fetchAndDeliver().inserted == 1)
      #expect(presenter.presented == [])
      feed.publish("five", title: "Five")
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Five"])
    }
  }

  @Test("are not raised while the app is visible, unless it wants them", arguments: [false, true])
  func visible(isWanted: Bool) async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter, isVisible: true, notifiesInForeground: isWanted)
      await client.performFetch(.launch)
      installation.feed.publish("new", title: "New")
      #expect(await client.performFetch(.manual).inserted == 1)
      await client.notifications.deliver()
      #expect(presenter.titles == (isWanted ? ["New"] : []))
      installation.feed.publish("next", title: "Next")
      _ = await client.application.suspend()
      await client.fetchAndDeliver()
      #expect(presenter.titles == (isWanted ? ["New", "Next"] : ["Next"]))
    }
  }

  @Test("wait for a desktop that fails, log the reason once, and leave the result as it is")
  func failing() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let (presenter, reports) = (RecordingPresenter(), Reports())
      let client = try await installation.notifier(presenter, log: reports.note)
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("one", title: "One")
      #expect(await client.fetchAndDeliver().result == .newData)
      #expect(try client.runs(limit: 1).first?.notice == "the desktop is away")
      #expect(await client.fetchAndDeliver().result == .noData)
      #expect(reports.texts == ["the desktop is away"])
      #expect(try client.notifications.waitingItems == 1)
      presenter.mode.withLock { $0 = .works }
      // Another process delivers it.
      let next = try await installation.notifier(presenter)
      await next.notifications.deliver()
      #expect(presenter.titles == ["One"])
      #expect(try next.notifications.waitingItems == 0)
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("two", title: "Two")
      await client.fetchAndDeliver()
      #expect(reports.texts.count == 2, "a failure after a success is logged again")
    }
  }

  @Test("end after ten seconds if the desktop hangs, and do not delay the fetch")
  func hanging() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter)
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .hangs }
      installation.feed.publish("one", title: "One")
      #expect(await client.performFetch(.scheduled).result == .newData)
      try await eventually("the timer of the delivery is set") { installation.clock.sleeping.contains(10) }
      installation.clock.advance(by: 10)
      _ = await client.application.suspend()
      #expect(try client.runs(limit: 1).first?.notice == "no response within 10 s")
      try await eventually("the call is cancelled") { presenter.cancelled.withLock(\.self) == 1 }
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.titles == ["One"])
    }
  }

  @Test("are raised once by several processes that deliver at the same moment")
  func concurrent() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let presenter = RecordingPresenter()
      let first = try await installation.notifier(presenter)
      await first.fetchAndDeliver()
      presenter.mode.withLock { $0 = .fails }
      for number in 1...5 {
        _ = number
        installation.publishBreaking("Flood")
      }
      await first.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      let clients = try await (0..<4).asyncMap { _ in try await installation.notifier(presenter) }
      await withTaskGroup { group in
        for client in clients { group.addTask { _ = await client.notifications.deliver() } }
      }
      #expect(presenter.presented.count == 5)
    }
  }

  @Test("wait for the end of quiet hours as one group, except breaking items")
  func quietHours() async throws {
    try await Installation.with { installation in
      // The clock begins on a Tuesday at 22:13:20.
      let presenter = RecordingPresenter()
      let client = try await installation.notifier(presenter, quietHours: QuietHours(from: 22 * 60, to: 7 * 60))
      installation.feed.publish("old")
      await client.fetchAndDeliver()
      installation.feed.publish("one", title: "One")
      await client.fetchAndDeliver()
      installation.clock.advance(by: 3600)
      installation.feed.publish("two", title: "Two")
      installation.publishBreaking("Flood")
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Flood"])
      #expect(try client.notifications.waitingItems == 2)
      installation.clock.advance(by: 7.7 * 3600)
      await client.notifications.deliver()
      #expect(presenter.titles == ["Flood"], "it is 06:55")
      installation.clock.advance(by: 600)
      await client.notifications.deliver()
      #expect(presenter.titles == ["Flood", "2 new stories"])
      #expect(presenter.presented.last?.body == "Two\nOne")
    }
  }

  @Test("do not wait for the end of quiet hours once their item is corrected to a breaking one")
  func becomesBreaking() async throws {
    try await Installation.notifying(quietHours: QuietHours(from: 22 * 60, to: 7 * 60)) {
      installation, presenter, client in
      var item = installation.feed.publish("water", title: "Flood")
      await client.fetchAndDeliver()
      #expect(presenter.titles == [])
      item.breaking = true
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Flood"])
    }
  }

  @Test("forget items that were opened, retracted or have become old meanwhile, and show corrected ones")
  func overtaken() async throws {
    try await Installation.notifying { installation, presenter, client in
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("read", title: "Read")
      await client.fetchAndDeliver()
      try client.recordOpening()
      #expect(try client.notifications.waitingItems == 0)
      let retracted = installation.feed.publish("wrong", title: "Wrong")
      var corrected = installation.feed.publish("text", title: "Tpyo")
      await client.fetchAndDeliver()
      installation.feed.retract(retracted.id)
      corrected.title = "Typo"
      installation.feed.publish([corrected])
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      await client.notifications.deliver()
      #expect(presenter.titles == ["Typo"])
      presenter.mode.withLock { $0 = .fails }
      installation.feed.publish("late", title: "Late")
      await client.fetchAndDeliver()
      presenter.mode.withLock { $0 = .works }
      installation.clock.advance(by: 3 * 86_400)
      await client.notifications.deliver()
      #expect(presenter.titles == ["Typo"])
    }
  }

  @Test("about a breaking item are replaced if it is corrected while unread, and withdrawn if it is retracted")
  func corrections() async throws {
    try await Installation.notifying { installation, presenter, client in
      var item = installation.publishBreaking("Flod")
      await client.fetchAndDeliver()
      item.title = "Flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.replaced == ["1: Flood"])
      item.topics = ["weather"]
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.replaced.count == 1, "nothing that the notification shows has changed")
      try client.recordOpening()
      item.title = "A flood"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.replaced.count == 1)
      installation.feed.retract(item.id)
      await client.fetchAndDeliver()
      #expect(presenter.withdrawn == ["1"])
      #expect(presenter.presented.count == 1)
      #expect(try client.notifications.delivered == [])
    }
  }
}

extension LocalNotificationTests {
  @Test("about an ordinary item are not repeated if it is corrected")
  func ordinaryCorrections() async throws {
    try await Installation.notifying { installation, presenter, client in
      var item = installation.feed.publish("text", title: "Frery")
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Frery"])
      item.title = "Ferry"
      installation.feed.publish([item])
      await client.fetchAndDeliver()
      #expect(presenter.titles == ["Frery"] && presenter.replaced == [])
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
