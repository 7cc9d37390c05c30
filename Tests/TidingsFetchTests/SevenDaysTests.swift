import BackgroundFetch
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("Seven days of a client behind a counting proxy", .enabled(if: Proxy.isInstalled, "needs nginx"))
struct SevenDaysTests {
  private static let day = 86_400.0

  /// A phone with a timer that fires every two minutes, and the requests that pass through the proxy.
  private struct Phone {
    let proxy: Proxy
    let client: NewsFetcher
    let clock: ManualClock
    private(set) var wakes: [Date] = []
    /// The first midnight.
    let start: Date

    init(_ proxy: Proxy, folder: URL) throws {
      self.proxy = proxy
      let clock = ManualClock()
      self.clock = clock
      let url = try #require(URL(string: proxy.client.url))
      var configuration = NewsFetcher.Configuration(
        folder: folder, feed: FollowedFeed(server: url), userAgent: "tests/1 (+https://example.org)")
      configuration.timeZone = .gmt
      client = try NewsFetcher(
        configuration, application: ApplicationLifecycle(launchReason: .fetch, clock: clock), clock: clock)
      try client.updateSchedule { $0.setInterval(.minimum) }
      start = Date(timeIntervalSince1970: (clock.now.date.timeIntervalSince1970 / day).rounded(.up) * day)
      clock.advance(by: start.timeIntervalSince(clock.now.date))
    }

    /// Runs the timer until a date.
    mutating func live(until end: Date) async throws {
      while clock.now.date < end {
        switch try client.schedule.decision(at: clock.now) {
        case .wake:
          wakes.append(clock.now.date)
          await client.performFetch(.scheduled)
        case .wait(let date, _):
          let ticks = ((date.timeIntervalSince(start)) / 120).rounded(.up)
          let next = max(start + ticks * 120, clock.now.date + 120)
          clock.advance(by: min(next, end).timeIntervalSince(clock.now.date))
        case .never: clock.advance(by: end.timeIntervalSince(clock.now.date))
        }
      }
    }

    /// The number of wakes on each day.
    var wakesPerDay: [Int] {
      (0..<7).map { day in
        wakes.count { Int($0.timeIntervalSince(start) / SevenDaysTests.day) == day }
      }
    }

    func requests() throws -> [Proxy.Request] { try proxy.requests.filter { $0.target.hasPrefix("/v1/") } }
  }

  private func withPhone(_ body: @Sendable (inout Phone, TestServer) async throws -> Void) async throws {
    try await TestServer.with { server in
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-week-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try await Proxy.with(try await Proxy(servers: [server.port], cache: false, isCounted: true)) { proxy in
        var phone = try Phone(proxy, folder: folder)
        try await body(&phone, server)
      }
    }
  }

  @Test("serve a reader of 1 p.m. before 1 p.m. from the third day on, and request all items once")
  func habit() async throws {
    try await withPhone { phone, server in
      for day in 0..<7 {
        let midnight = phone.start + Double(day) * Self.day
        // Publishes from 8:30 to 18:30; the reader opens the app a few minutes after 13:00.
        let openings = midnight + 13 * 3600 + Double((day * 137) % 300)
        for hour in 8...18 {
          let date = midnight + (Double(hour) + 0.5) * 3600
          if phone.clock.now.date < openings, openings < date {
            try await phone.live(until: openings)
            let held = try phone.client.allNewsItems.map(\.id)
            let current = try await server.get("/v1/items?limit=100").json(ItemList.self).items.map(\.id)
            if day >= 2 { #expect(held == current, "day \(day)") }
            try phone.client.recordOpening()
            await phone.client.performFetch(.launch)
          }
          try await phone.live(until: date)
          _ = try await server.publish("news", date: RFC3339.string(from: date))
        }
        if day == 4 { try await close(&phone) }
      }
      try await phone.live(until: phone.start + 7 * Self.day)
      #expect(try phone.requests().count { !$0.isConditional } == 1)
      #expect(try phone.requests().allSatisfy { [200, 304, 503].contains($0.status) })
    }
  }

  /// Makes the proxy respond with 503 for a while.
  private func close(_ phone: inout Phone) async throws {
    try phone.proxy.shut()
    #expect(await phone.client.performFetch(.manual).result == .failed)
    let before = try phone.requests().count
    for _ in 0..<10 {
      try await phone.live(until: phone.clock.now.date + Double(Proxy.retryAfter) / 11)
      await phone.client.performFetch(.manual)
      await phone.client.receive(RemoteNotification())
    }
    #expect(try phone.requests().count == before)
    try phone.proxy.reopen()
    phone.clock.advance(by: Double(Proxy.retryAfter) / 10)
    #expect(await phone.client.performFetch(.manual).result != .failed)
  }

  @Test("without news have fewer wakes each day, until there are news")
  func silence() async throws {
    try await withPhone { phone, server in
      _ = try await server.publish("the last")
      try await phone.live(until: phone.start + 7 * Self.day)
      // The first day had news: the items that were there before.
      let wakes = Array(phone.wakesPerDay.dropFirst())
      #expect(zip(wakes, wakes.dropFirst()).allSatisfy { $0 > $1 }, "\(wakes)")
      #expect(wakes[5] * 2 <= wakes[0], "\(wakes)")
      let requests = try phone.requests()
      #expect(requests.count { !$0.isConditional } == 1)
      #expect(requests.dropFirst().allSatisfy { $0.status == 304 })
    }
  }
}
