import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A push for another process of the store") struct PushDeliveryTests {
  private func payload(_ feed: FaultFeed, id: UUID = UUID()) -> Data {
    Data(#"{"aps":{"content-available":1},"push":"\#(id)","token":"\#(feed.token())"}"#.utf8)
  }

  /// Returns a client with the clock of the machine.
  private func client(_ installation: Installation, _ log: Reports = Reports()) throws -> NewsFetcher {
    try NewsFetcher(
      .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
      application: ApplicationLifecycle(launchReason: .fetch), log: { log.note($0) })
  }

  /// Runs the body while an app receives pushes.
  private func receiving(_ app: NewsFetcher, _ reports: Reports, _ body: () async throws -> Void) async throws {
    let lock = FetchLock(path: app.configuration.folder.appending(path: "app.lock").path)
    let task = Task { await app.receiveNotifications { reports.add($0) } }
    func end(_ task: Task<Void, Never>) async {
      task.cancel()
      await task.value
    }
    try await withResource(task, release: end) { _ in
      try await eventually("the app runs") { try lock.isHeld }
      try await body()
    }
  }

  @Test("reaches the running app, whose observers hear of it and whose report is returned")
  func running() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try client(installation), try client(installation))
      let (reports, seen) = (Reports(), Reports())
      let observation = app.changes.add { changes in for item in changes.inserted { seen.note(item.text) } }
      try await receiving(app, reports) {
        installation.feed.publish("one")
        let push = payload(installation.feed)
        let report = await sender.deliver(push)
        #expect(report.inserted == 1 && report.requests == 1)
        #expect(seen.texts == ["one"] && reports.all == [report])
        #expect(await sender.deliver(push).result == .noData)
        installation.feed.publish("two")
        let others = [payload(installation.feed), payload(installation.feed)]
        async let first = sender.deliver(others[0])
        async let second = sender.deliver(others[1])
        #expect(await Set([first.result, second.result]).contains(.newData))
        #expect(seen.texts == ["one", "two"])
      }
      let names = try FileManager.default.contentsOfDirectory(
        atPath: installation.folder.appending(path: "pushes").path)
      #expect(names == [], "no push is left")
      withExtendedLifetime(observation) {}
    }
  }

  @Test("is handled by the receiving process if no app runs")
  func alone() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let sender = try client(installation)
      #expect(await sender.deliver(payload(installation.feed)).inserted == 1)
      #expect(!FileManager.default.fileExists(atPath: installation.folder.appending(path: "pushes").path))
    }
  }

  /// Delivers a push to an app that takes and records it, and whose fetch never ends.
  ///
  /// - Parameter body: Receives the delivery and the lock of the app, whose release ends the app.
  private func interrupted(
    _ installation: Installation, _ body: (Task<FetchReport, Never>, FetchLock.Handle) async throws -> Void
  ) async throws {
    installation.feed.publish("one")
    let (app, sender) = (try client(installation), try client(installation))
    let lock = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
    let push = payload(installation.feed)
    let delivery = Task { await sender.deliver(push) }
    var name = ""
    try await eventually("it waits") {
      name = waiting(installation).first ?? ""
      return !name.isEmpty
    }
    let file = installation.folder.appending(path: "pushes").appending(path: name)
    try FileManager.default.moveItem(at: file, to: file.deletingPathExtension().appendingPathExtension("taken"))
    installation.feed.fault(next: .hang(at: .start))
    let handler = Task { await app.receive(RemoteNotification(payload: push)) }
    try await eventually("the app fetches") { !installation.requests().isEmpty }
    handler.cancel()
    #expect(await handler.value.result == .failed)
    try await body(delivery, lock)
  }

  /// Returns the names of the files of the waiting pushes.
  private func waiting(_ installation: Installation) -> [String] {
    let folder = installation.folder.appending(path: "pushes")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".push") }
  }

  @Test("that an app has recorded before it was killed is handled by the sender")
  func killedApp() async throws {
    try await Installation.with { installation in
      try await interrupted(installation) { delivery, lock in
        lock.release()
        #expect(await delivery.value.inserted == 1)
      }
    }
  }

  @Test("that a killed app has recorded and left behind is handled by the next one")
  func recovery() async throws {
    try await Installation.with { installation in
      try await interrupted(installation) { delivery, lock in
        delivery.cancel()
        #expect(await delivery.value.result == .failed)
        let report = installation.folder.appending(path: "pushes/0000000000000001-B.report")
        try Data().write(to: report)
        lock.release()
        let reports = Reports()
        try await receiving(try client(installation), reports) {
          try await eventually("it is handled") { reports.all.first?.inserted == 1 }
          #expect(!FileManager.default.fileExists(atPath: report.path))
        }
      }
    }
  }

  @Test("launches the app once, however many arrive before it runs")
  func launchingOnce() async throws {
    try await Installation.with { installation in
      let app = try installation.client()
      let output = installation.folder.appending(path: "launched")
      try app.setLaunchCommand(["/bin/sh", "-c", #"echo launched >> "$1""#, "sh", output.path])
      installation.feed.publish("one")
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          let (sender, push) = (try installation.client(), payload(installation.feed))
          group.addTask { await sender.deliver(push) }
        }
        try await eventually("they wait for the launched app") {
          waiting(installation).count == 4 && FileManager.default.fileExists(atPath: output.path)
        }
        try await receiving(app, Reports()) {
          var inserted = 0
          for try await report in group { inserted += report.inserted }
          #expect(inserted >= 1)
        }
      }
      #expect(try String(contentsOf: output, encoding: .utf8) == "launched\n")
    }
  }

  @Test("launches the app if the user allows it, and is handled even if the app does nothing")
  func launching() async throws {
    try await Installation.with { installation in
      let sender = try client(installation)
      let output = installation.folder.appending(path: "launched")
      // The command ignores SIGPIPE, which its children would inherit.
      let previous = signal(SIGPIPE, SIG_IGN)
      defer { signal(SIGPIPE, previous) }
      let script =
        #"ls -l /proc/self/fd > "$1.files"; grep SigIgn /proc/self/status > "$1.ignored"; "#
        + #"echo "$TIDINGS_LAUNCH_REASON $TIDINGS_STORE" >> "$1""#
      // A library may have opened a descriptor that is inherited.
      let descriptor = dup(STDERR_FILENO)
      defer { close(descriptor) }
      #expect(sender.launchCommand == nil)
      try sender.setLaunchCommand(["/bin/sh", "-c", script, "sh", output.path])
      await sender.performFetch()
      #expect(await sender.deliver(payload(installation.feed)).result == .noData)
      #expect(!FileManager.default.fileExists(atPath: output.path), "a push that needs no fetch launches no app")
      installation.feed.publish("one")
      let push = payload(installation.feed)
      #expect(await sender.deliver(push).inserted == 1)
      let text = try String(contentsOf: output, encoding: .utf8)
      #expect(text == "push \(installation.folder.absoluteURL.path(percentEncoded: false))\n")
      let ignored = try String(contentsOfFile: output.path + ".ignored", encoding: .utf8).split(
        whereSeparator: \.isWhitespace)
      let mask = try #require(ignored.last.flatMap { UInt64($0, radix: 16) })
      #expect(mask & 1 << (SIGPIPE - 1) == 0)
      let files = try String(contentsOfFile: output.path + ".files", encoding: .utf8).split(separator: "\n")
        .filter { $0.contains(" -> ") }
      // The last one is the folder that `ls` reads.
      #expect(files.count == 4 && !files.contains { $0.contains("socket:") }, "\(files)")
      await sender.deliver(push)
      try client(installation).setLaunchCommand(nil)
      installation.feed.publish("two")
      #expect(await sender.deliver(payload(installation.feed)).inserted == 1)
      #expect(try String(contentsOf: output, encoding: .utf8) == text, "neither a duplicate nor a forbidden launch")
    }
  }

  @Test("that the running app takes late ends within the 30 s of its sender")
  func lateTaken() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try installation.client(), try installation.client())
      let (deliveries, now) = (Reports(), installation.clock.now)
      let wake = FetchInstant(date: now.date - 25, uptime: now.uptime - 25, boot: now.boot)
      let push = payload(installation.feed)
      installation.feed.fault(next: .hang(at: .start))
      try await receiving(app, Reports()) {
        let delivery = Task { deliveries.add(await sender.deliver(push, wake: wake)) }
        try await eventually("the app fetches") { !installation.requests().isEmpty }
        installation.clock.advance(by: 5.25)
        defer { delivery.cancel() }
        try await eventually("it has ended") { !deliveries.all.isEmpty }
        #expect(deliveries.all.first?.error == "the fetch did not end within 30 s")
      }
    }
  }

  @Test("is reported to the app while no other is")
  func serialReports() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try client(installation), try client(installation))
      let running = Atomic(0)
      let most = Atomic(0)
      let overlap = DispatchSemaphore(value: 0)
      let task = Task {
        await app.watch { _ in
          let count = running.add(1, ordering: .relaxed).newValue
          most.max(count, ordering: .relaxed)
          // An overlapping report ends the wait of the first one.
          if count == 1 { _ = overlap.wait(timeout: .now() + 0.5) } else { overlap.signal() }
          running.subtract(1, ordering: .relaxed)
        }
      }
      func end(_ task: Task<Void, Never>) async {
        task.cancel()
        await task.value
      }
      let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
      try await withResource(task, release: end) { _ in
        try await eventually("the app runs") { try lock.isHeld && installation.feed.eventStreams == 1 }
        installation.feed.publish("one")
        let pushes = [payload(installation.feed), payload(installation.feed)]
        async let first = sender.deliver(pushes[0])
        async let second = sender.deliver(pushes[1])
        _ = await (first, second)
      }
      #expect(most.load(ordering: .relaxed) == 1)
    }
  }

  @Test("reaches a live watch, which has no limit of wakes")
  func watch() async throws {
    try await Installation.with { installation in
      installation.feed.publish("first")
      let (app, sender) = (try client(installation), try client(installation))
      await app.performFetch()
      let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
      let task = Task { await app.watch() }
      func end(_ task: Task<Void, Never>) async {
        task.cancel()
        await task.value
      }
      try await withResource(task, release: end) { _ in
        try await eventually("the app runs") { try lock.isHeld && installation.feed.eventStreams == 1 }
        for _ in 0..<5 {
          let report = await sender.deliver(Data(#"{"aps":{"content-available":1},"push":"\#(UUID())"}"#.utf8))
          #expect(report.requests == 1)
        }
        #expect(try sender.schedule.pushes == PushRateLimit())
      }
    }
  }
}
