import BackgroundFetch
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("Seven days of an app that stays alive", .enabled(if: Proxy.isInstalled, "needs nginx"))
struct LivingWeekTests {
  private static let day = 86_400.0
  /// The tasks that sleep while nothing happens: the schedule, the pushes, the commits, and the notifications.
  private static let sleepers = 4

  /// An app on a phone, and the requests that pass through the proxy.
  private struct App {
    let proxy: Proxy
    let server: TestServer
    let news: NewsFetcher
    let clock: ManualClock
    let network: Network

    /// Lets time pass until a date.
    func live(until end: Date) async throws {
      try await clock.step(until: end, whenSleeping: LivingWeekTests.sleepers) {
        news.application.backgroundTasks.isIdle
      }
    }

    func live(_ seconds: Double) async throws { try await live(until: clock.now.date + seconds) }

    /// The requests of the app, without those of the test.
    func requests() throws -> [Proxy.Request] { try proxy.requests.filter { $0.target.hasPrefix("/v1/") } }

    /// The ids of the newest items, stored and at the server.
    func ids() async throws -> (stored: [UUID], current: [UUID]) {
      let current = try await server.get("/v1/items?limit=100").json(ItemList.self).items
      return (try news.allNewsItems.map(\.id), current.map(\.id))
    }
  }

  /// Runs the body with a running app at the beginning of a day.
  private func withApp(_ body: @Sendable (App, Date) async throws -> Void) async throws {
    try await TestServer.with { server in
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-living-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try await Proxy.with(try await Proxy(servers: [server.port], cache: false, isCounted: true)) { proxy in
        let (clock, network) = (ManualClock(), Network())
        var configuration = NewsFetcher.Configuration(
          folder: folder, feed: FollowedFeed(server: try #require(URL(string: proxy.client.url))),
          userAgent: "tests/1 (+https://example.org)")
        (configuration.timeZone, configuration.constraints) = (.gmt, network)
        let news = try NewsFetcher(
          configuration, application: ApplicationLifecycle(launchReason: .fetch, clock: clock), clock: clock)
        try news.updateSchedule { $0.setInterval(.minimum) }
        await news.application.launch()
        let app = App(proxy: proxy, server: server, news: news, clock: clock, network: network)
        let midnight = (clock.now.date.timeIntervalSince1970 / Self.day).rounded(.up) * Self.day
        clock.advance(by: midnight - clock.now.date.timeIntervalSince1970)
        let running = Task { await news.run() }
        func end(_ running: Task<Void, Never>) async {
          running.cancel()
          await running.value
        }
        try await withResource(running, release: end) { _ in
          try await body(app, Date(timeIntervalSince1970: midnight))
        }
        #expect(clock.sleeping == [], "nothing goes on after the task")
      }
    }
  }

  @Test(
    "has all news at 1 p.m. from the third day on, with suspends, losses of the network, pushes and a changed clock")
  func week() async throws {
    try await withApp { app, start in
      var before: Resources?
      // A week that the clock has skipped belongs to no day of the app.
      var skipped = 0.0
      for day in 0..<7 {
        let midnight = start + Double(day) * Self.day + skipped
        // Publishes from 8:30 to 18:30; the reader opens the app a few minutes after 13:00.
        let opening = midnight + 13 * 3600 + Double((day * 137) % 300)
        for hour in 8...18 {
          let date = midnight + (Double(hour) + 0.5) * 3600
          if hour == 13 { try await read(app, at: opening, day: day) }
          try await app.live(until: date)
          _ = try await app.server.publish("news", date: RFC3339.string(from: date))
          switch (day, hour) {
          case (1, 12): try await missWake(app)
          case (3, 9): try await loseNetwork(app)
          case (2, 10), (4, 14): try await push(app)
          case (4, 15): try await close(app)
          default: break
          }
        }
        try await app.live(until: midnight + 22 * 3600)
        if day == 1 { before = try Resources() }
        if day == 5 {
          // The reader's computer was in a drawer, as far as it can know.
          app.clock.setDate(by: 7 * Self.day)
          skipped = 7 * Self.day
          let wakes = try app.requests().count
          try await app.live(3600)
          #expect(try app.requests().count - wakes <= 1, "a jump has at most one wake")
        }
      }
      try await app.live(until: start + 7 * Self.day + skipped)
      let requests = try app.requests()
      #expect(requests.count { !$0.isConditional } == 1)
      #expect(requests.allSatisfy { [200, 304, 503].contains($0.status) })
      #expect(requests.count < 7 * 40, "\(requests.count) requests")
      let (after, reference) = (try Resources(), try #require(before))
      #expect(after.descriptors <= reference.descriptors + 8, "\(reference) \(after)")
      #expect(after.memory <= reference.memory + (64 << 20), "\(reference) \(after)")
    }
  }

  /// Opens the app, reads, and leaves it; on some days it is suspended then, so that wakes have to suspend it again.
  private func read(_ app: App, at opening: Date, day: Int) async throws {
    try await app.live(until: opening)
    let (stored, current) = try await app.ids()
    if day >= 2 { #expect(stored == current, "the opening of day \(day)") }
    await app.news.application.enterForeground()
    try app.news.recordOpening()
    await app.news.performFetch(.launch)
    if day % 2 == 0 {
      #expect(await app.news.application.suspend() == .suspended)
    } else {
      await app.news.application.enterBackground()
    }
  }

  /// Loses the network until a wake is due, and for a minute more.
  private func missWake(_ app: App) async throws {
    app.network.set(isOffline: true)
    let before = try app.requests().count
    for _ in 0..<96 where app.network.observers == 0 { try await app.live(300) }
    try await app.live(60)
    try await eventually("a wake waits for the network") { app.network.observers > 0 }
    #expect(try app.requests().count == before, "no request without a network")
    app.network.set(isOffline: false)
    try await eventually("its return is noticed") { app.network.observers == 0 }
    try await app.live(FetchScheduler.maximumStartupDelay.inSeconds + 60)
    #expect(try app.requests().count == before + 1, "the wake is made up for once")
    let (stored, current) = try await app.ids()
    #expect(stored == current)
  }

  /// Loses the network for two hours in which no wake is due.
  private func loseNetwork(_ app: App) async throws {
    app.network.set(isOffline: true)
    let before = try app.requests().count
    try await app.live(7200)
    app.network.set(isOffline: false)
    try await app.live(FetchScheduler.maximumStartupDelay.inSeconds)
    #expect(try app.requests().count == before, "there is no wake to make up for")
  }

  /// Sends a push to the app by another process, with the clock of the machine.
  private func push(_ app: App) async throws {
    let sender = try NewsFetcher(app.news.configuration, application: ApplicationLifecycle(launchReason: .push))
    let token = try #require(try await app.server.get("/v1/items")["Sync-Token"])
    let wasSuspended = app.news.application.currentState == .suspended
    let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(token)"}"#
    let report = await sender.deliver(Data(push.utf8))
    #expect(report.result == .newData)
    let (stored, current) = try await app.ids()
    #expect(stored == current)
    if wasSuspended {
      try await eventually("it is suspended again") { app.news.application.currentState == .suspended }
    }
  }

  /// Makes the proxy respond with 503 and `Retry-After` for two hours.
  private func close(_ app: App) async throws {
    try app.proxy.shut()
    #expect(await app.news.performFetch(.manual).result == .failed)
    let before = try app.requests().count
    for _ in 0..<10 {
      try await app.live(Double(Proxy.retryAfter) / 11)
      await app.news.performFetch(.manual)
      await app.news.receive(RemoteNotification())
    }
    #expect(try app.requests().count == before, "no request within the Retry-After")
    try app.proxy.reopen()
    try await app.live(Double(Proxy.retryAfter) / 10)
    #expect(await app.news.performFetch(.manual).result != .failed)
  }

  /// The resources of this process.
  private struct Resources {
    let descriptors: Int
    /// The resident memory in bytes.
    let memory: Int

    init() throws {
      descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
      memory = try #require(Int(fields[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
  }
}
