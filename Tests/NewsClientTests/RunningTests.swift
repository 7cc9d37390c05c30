import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("A client that stays alive") struct RunningTests {
  private func client(
    _ installation: Installation, _ network: Network? = nil, interval: FetchInterval = .minimum
  ) throws -> NewsFetcher {
    let client = try installation.client(
      network.map { LossyTransport($0) }, constraints: network ?? FetchConstraints.none)
    try client.updateSchedule { $0.setInterval(interval) }
    return client
  }

  @Test("fetches when the schedule has a wake, never before the minimum interval, and ends with its task")
  func schedule() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try client(installation, interval: .duration(.seconds(7200)))
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(600)
        #expect(app.reports.all.map(\.result) == [.newData])
        installation.feed.publish("two")
        try await app.live(86_400)
        #expect(try client.count == 2)
        let wakes = try client.runs(limit: 100).reversed().map(\.started)
        #expect(wakes.count > 3 && app.reports.all.count == wakes.count)
        #expect(zip(wakes.dropFirst(), wakes).allSatisfy { $0.timeIntervalSince($1) >= 7200 })
        #expect(client.application.currentState == .background, "it was not suspended before")
      }
    }
  }

  @Test("fetches nothing while the interval is never, and soon after another process has set one")
  func settings() async throws {
    try await Installation.with { installation in
      let client = try client(installation, interval: .never)
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(2 * 86_400)
        #expect(installation.requests() == [])
        try installation.client().updateSchedule { $0.setInterval(.minimum) }
        try await eventually("it fetches without a step of the clock") { app.reports.all.count == 1 }
      }
    }
  }

  @Test("decides again at least every quarter of an hour, so that a clock that was set back delays no wake for long")
  func clockSetBack() async throws {
    try await Installation.with { installation in
      let client = try client(installation, interval: .duration(.seconds(7200)))
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(60)
        installation.clock.setDate(by: -30 * 86_400)
        try await app.live(3 * 7200)
        #expect(app.reports.all.count >= 2)
        installation.clock.setDate(by: 7 * 86_400)
        let before = app.reports.all.count
        try await app.live(3600)
        #expect(app.reports.all.count - before <= 1, "a jump forward has one wake")
      }
    }
  }

  @Test("makes up for a wake without a network once the network is back, after the delay of the install")
  func network() async throws {
    try await Installation.with { installation in
      let network = Network()
      let client = try client(installation, network, interval: .duration(.seconds(7200)))
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(60)
        #expect(app.reports.all.count == 1)
        network.set(isOffline: true)
        try await app.live(5 * 3600)
        #expect(app.reports.all.count == 1, "no wake begins")
        installation.feed.publish("one")
        _ = installation.requests()
        try await eventually("it waits for the network") { network.observers > 0 }
        let back = installation.clock.now.date
        network.set(isOffline: false)
        try await eventually("that is noticed without a step of the clock") {
          try client.decision() != .wait(until: back + 120, .offline)
        }
        guard case .wait(let due, .startupDelay) = try client.decision() else {
          Issue.record("there is no delay")
          return
        }
        #expect(due > back && due <= back + FetchScheduler.maximumStartupDelay.inSeconds)
        try await app.live(due.timeIntervalSince(back) - 1)
        #expect(installation.requests() == [])
        try await app.live(120)
        #expect(installation.requests() == ["*/v1/changes"])
        try await app.live(7000)
        #expect(installation.requests() == [], "it is made up for once")
        #expect(try client.count == 1)
      }
    }
  }

  @Test("makes up for a wake that has met a lost network before the machine knew of it")
  func failedWake() async throws {
    try await Installation.with { installation in
      let network = Network()
      // The machine reports no constraints, so only the failure shows the loss.
      let client = try installation.client(LossyTransport(network))
      try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(60)
        network.set(isOffline: true)
        installation.feed.publish("one")
        while app.reports.all.last?.result != .failed { try await app.live(300) }
        try await app.live(3600)
        let failures = app.reports.all.count { $0.result == .failed }
        #expect(4...8 ~= failures, "\(failures) attempts in an hour")
        network.set(isOffline: false)
        try await app.live(900)
        #expect(app.reports.all.last?.inserted == 1)
        #expect(try client.schedule.failures == 0)
      }
    }
  }

  @Test("suspends an application again that it has woken, whose observers have saved the state")
  func suspension() async throws {
    try await Installation.with { installation in
      let client = try client(installation, interval: .duration(.seconds(3600)))
      await client.application.launch()
      await client.application.enterForeground()
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(60)
        let suspension = await client.application.suspend()
        #expect(suspension == .suspended)
        try await app.live(12 * 3600)
        #expect(app.reports.all.count >= 3)
        try await eventually("it is suspended") { client.application.currentState == .suspended }
      }
    }
  }

  @Test("ends once its application has exited")
  func exited() async throws {
    try await Installation.with { installation in
      let clock = installation.clock
      let application = ApplicationLifecycle(launchReason: .fetch, exitsOnSuspend: true, clock: clock)
      let client = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: application, clock: clock)
      let ended = Reports()
      let running = Task {
        await client.run()
        ended.note("ended")
      }
      defer { running.cancel() }
      try await eventually("it waits") { clock.sleeping.count >= LivingApp.sleepers }
      let suspension = await application.suspend()
      #expect(suspension == .terminated)
      try await eventually("it ends") {
        clock.advance(by: 300)
        return ended.texts == ["ended"]
      }
    }
  }

  @Test("wakes only the stores whose application has not exited")
  func oneExited() async throws {
    try await Installation.with { installation in
      let clock = installation.clock
      let applications = [true, false].map { exits in
        ApplicationLifecycle(launchReason: .fetch, exitsOnSuspend: exits, clock: clock)
      }
      let clients = try zip(["exited", "alive"], applications).map { name, application in
        let client = try NewsFetcher(
          .init(
            folder: installation.folder.appending(path: name), feed: try installation.followedFeed(),
            userAgent: "tests/1"),
          application: application, clock: clock)
        try client.updateSchedule { $0.setInterval(.duration(.seconds(3600))) }
        return client
      }
      try await LivingApp.with(clients, clock: clock) { app in
        try await app.live(600, sleepers: 2 * LivingApp.sleepers)
        #expect(Set(app.reports.texts) == ["exited", "alive"])
        let suspension = await applications[0].suspend()
        #expect(suspension == .terminated)
        let before = app.reports.texts.count
        try await app.live(12 * 3600, sleepers: 2 * LivingApp.sleepers)
        #expect(Set(app.reports.texts.dropFirst(before)) == ["alive"])
      }
    }
  }

  @Test("pauses after a wake that another process prevents, and fetches once that has ended")
  func busy() async throws {
    try await Installation.with { installation in
      let client = try client(installation)
      let lock = FetchLock(path: installation.folder.appending(path: "fetch.lock").path)
      let held = try #require(try lock.acquire())
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(600)
        #expect(app.reports.all.allSatisfy { $0.error == "another process is fetching" })
        #expect(5...12 ~= app.reports.all.count, "\(app.reports.all.count) attempts")
        held.release()
        try await app.live(120)
        #expect(app.reports.all.last?.result == .noData)
      }
    }
  }

  @Test("handles pushes of other processes, of which those over the hourly limit share a later wake")
  func pushes() async throws {
    try await Installation.with { installation in
      let client = try client(installation, interval: .duration(.seconds(86_400)))
      let sender = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .push))
      try await LivingApp.with([client], clock: installation.clock) { app in
        try await app.live(60)
        _ = installation.requests()
        for number in 1...5 {
          installation.feed.publish("\(number)")
          let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(installation.feed.token())"}"#
          await sender.deliver(Data(push.utf8))
        }
        #expect(installation.requests().count == 3)
        #expect(try client.count == 3)
        try await app.live(3700)
        #expect(installation.requests().count == 1)
        #expect(try client.count == 5)
      }
    }
  }

  @Test("follows the server's events too, if that is wanted")
  func events() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try client(installation, interval: .never)
      try await LivingApp.with([client], clock: installation.clock, followsEvents: true) { app in
        try await eventually("it listens") { installation.feed.eventStreams == 1 }
        installation.feed.publish("two")
        try await eventually("it is stored") { try client.count == 2 }
        try await eventually("it is reported") { app.reports.all.count == 2 }
      }
    }
  }

  @Test("reports a fetch once, also if an event and a push have asked for it")
  func joinedReports() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try client(installation, interval: .never)
      let sender = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .push))
      try await LivingApp.with([client], clock: installation.clock, followsEvents: true) { app in
        try await eventually("it has fetched") { app.reports.all.count == 1 && installation.feed.eventStreams == 1 }
        installation.feed.fault(next: .hang(at: .start), path: "/v1/changes")
        installation.feed.publish("two")
        try await eventually("the fetch waits for its response") { client.waitingCallers == 1 }
        let push = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(installation.feed.token())"}"#
        let delivery = Task { await sender.deliver(Data(push.utf8)) }
        try await eventually("the push has joined it") {
          client.waitingCallers == 2 && installation.feed.faultsLeft == 0
        }
        installation.server.release()
        #expect(await delivery.value.inserted == 1)
        installation.feed.publish("three")
        try await eventually("the next one is reported") { app.reports.all.count >= 3 }
        #expect(app.reports.all.map(\.inserted) == [1, 1, 1])
        let badges = app.reports.all.map(\.badge)
        #expect(Set(badges).count == 3, "\(badges)")
      }
    }
  }

  @Test("shares a wake with other stores of the app that are due within five minutes")
  func sharedWakes() async throws {
    try await Installation.with { installation in
      let clients = try ["one", "two"].map { name in
        var configuration = NewsFetcher.Configuration(
          folder: installation.folder.appending(path: name), feed: try installation.followedFeed(), userAgent: "tests/1"
        )
        configuration.timeZone = .gmt
        let application = ApplicationLifecycle(launchReason: .fetch, clock: installation.clock)
        let client = try NewsFetcher(configuration, application: application, clock: installation.clock)
        try client.updateSchedule { $0.setInterval(.minimum) }
        return client
      }
      try await LivingApp.with(clients, clock: installation.clock) { app in
        for _ in 0..<2 * 24 {
          try await app.live(3600, sleepers: 2 * LivingApp.sleepers)
          installation.feed.publish("news")
        }
        let wakes = try clients.map { try $0.runs(limit: 500).map(\.started).filter { $0 > .distantPast } }
        let gaps = wakes[0].flatMap { wake in wakes[1].map { abs($0.timeIntervalSince(wake)) } }
        #expect(gaps.count { $0 < 1 } >= 5, "of \(wakes.map(\.count)) wakes, \(gaps.count { $0 < 1 }) are shared")
        #expect(
          !gaps.contains { 1...FetchSource.coalescingInterval.inSeconds ~= $0 },
          "no wake precedes another one by minutes")
        for wakes in wakes {
          #expect(zip(wakes, wakes.dropFirst()).allSatisfy { $0.timeIntervalSince($1) >= 899 })
        }
      }
    }
  }
}
