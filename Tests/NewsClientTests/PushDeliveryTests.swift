import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
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

  @Test("that an app has taken before it was killed is handled by the sender")
  func killedApp() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let sender = try client(installation)
      let pushes = installation.folder.appending(path: "pushes")
      let app = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
      let delivery = Task { await sender.deliver(payload(installation.feed)) }
      var taken = ""
      try await eventually("it waits") {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: pushes.path)) ?? []
        taken = names.first { $0.hasSuffix(".push") } ?? ""
        return !taken.isEmpty
      }
      let name = String(taken.dropLast(5))
      try FileManager.default.moveItem(
        at: pushes.appending(path: taken), to: pushes.appending(path: "\(name).taken"))
      app.release()
      #expect(await delivery.value.inserted == 1)
    }
  }

  @Test("that a killed app has left behind is handled by the next one")
  func recovery() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let app = try client(installation)
      let pushes = installation.folder.appending(path: "pushes")
      try FileManager.default.createDirectory(at: pushes, withIntermediateDirectories: true)
      try payload(installation.feed).write(to: pushes.appending(path: "0000000000000001-A.taken"))
      try Data().write(to: pushes.appending(path: "0000000000000001-B.report"))
      let reports = Reports()
      try await receiving(app, reports) {
        try await eventually("it is handled") { reports.all.first?.inserted == 1 }
        #expect(!FileManager.default.fileExists(atPath: pushes.appending(path: "0000000000000001-B.report").path))
      }
    }
  }

  @Test("launches the app if the user allows it, and is handled even if the app does nothing")
  func launching() async throws {
    try await Installation.with { installation in
      let sender = try client(installation)
      let output = installation.folder.appending(path: "launched")
      let script = #"echo "$TIDINGS_LAUNCH_REASON $TIDINGS_STORE" >> "$1""#
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
      await sender.deliver(push)
      try client(installation).setLaunchCommand(nil)
      installation.feed.publish("two")
      #expect(await sender.deliver(payload(installation.feed)).inserted == 1)
      #expect(try String(contentsOf: output, encoding: .utf8) == text, "neither a duplicate nor a forbidden launch")
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
