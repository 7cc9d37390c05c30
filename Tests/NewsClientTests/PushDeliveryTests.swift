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

  @Test("reaches the running app, whose observers hear of it and whose report is returned")
  func running() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try installation.machineClient(), try installation.machineClient())
      let (reports, seen) = (Reports(), Reports())
      let observation = app.changes.add { changes in for item in changes.inserted { seen.note(item.text) } }
      try await app.receiving(reports) {
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
      let folder = installation.folder.appending(path: "pushes").path
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "no push is left")
      let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
      #expect(mode == 0o700, "pushes are for the user alone")
      withExtendedLifetime(observation) {}
    }
  }

  @Test("is handled by the receiving process if no app runs")
  func alone() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let sender = try installation.machineClient()
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
    let (app, sender) = (try installation.machineClient(), try installation.machineClient())
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
    let fetchLock = FetchLock(path: installation.folder.appending(path: "fetch.lock").path)
    try await eventually("its fetch has ended") { try !fetchLock.isHeld }
    try await body(delivery, lock)
  }

  /// Writes a report for a sender that has been killed, and returns its file.
  private func writeReport(_ installation: Installation, hoursAgo hours: Double) throws -> URL {
    let milliseconds = Int64((Date().timeIntervalSince1970 - hours * 3600) * 1000)
    let file = installation.folder.appending(path: "pushes/000\(milliseconds)-B.report")
    try Data().write(to: file)
    return file
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
        let unread = try [2, 0.5].map { try writeReport(installation, hoursAgo: $0) }
        let unknown = installation.folder.appending(path: "pushes/unknown.report").path
        try Data().write(to: URL(filePath: unknown))
        lock.release()
        let reports = Reports()
        try await installation.machineClient().receiving(reports) {
          try await eventually("it is handled") { reports.all.first?.inserted == 1 }
          #expect(
            unread.map { FileManager.default.fileExists(atPath: $0.path) } == [false, true], "an hour is the limit")
          #expect(!FileManager.default.fileExists(atPath: unknown), "it has no age")
        }
      }
    }
  }

  @Test("that has waited for an app for hours is handled within the time of a new wake, also behind an unreadable one")
  func oldWake() async throws {
    struct Waiting: Encodable {
      var payload: Data
      var wake: FetchInstant
    }
    try await Installation.with { installation in
      let (app, reports) = (try installation.client(), Reports())
      installation.feed.publish("one")
      let push = Waiting(payload: payload(installation.feed), wake: installation.clock.now)
      installation.clock.advance(by: 7200)
      let folder = installation.folder.appending(path: "pushes")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("{".utf8).write(to: folder.appending(path: "0-0.push"))
      // A folder cannot be read.
      try FileManager.default.createDirectory(
        at: folder.appending(path: "0-1.push"), withIntermediateDirectories: true)
      try JSONEncoder().encode(push).write(to: folder.appending(path: "0-A.push"))
      try await app.receiving(reports) {
        try await eventually("both are handled") { reports.all.count == 2 }
        #expect(reports.all.map(\.inserted).sorted() == [0, 1], "\(reports.all.map(\.error))")
      }
      #expect(waiting(installation) == [])
      let kept = folder.appending(path: "0-1.taken").path
      #expect(FileManager.default.fileExists(atPath: kept), "the next app handles it")
    }
  }

  @Test(
    "that a stopped app leaves is handled by the sender after 10 s, and given up after 32 s if the app has taken it")
  func stoppedApp() async throws {
    try await Installation.with { installation in
      let (sender, clock, reports) = (try installation.client(), installation.clock, Reports())
      let lock = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
      for hasTaken in [false, true] {
        installation.feed.publish("one")
        let (push, start) = (payload(installation.feed), clock.now)
        let delivery = Task { reports.add(await sender.deliver(push)) }
        defer { delivery.cancel() }
        try await eventually("it waits") { waiting(installation).count == 1 }
        if hasTaken {
          let file = installation.folder.appending(path: "pushes").appending(path: waiting(installation)[0])
          try FileManager.default.moveItem(at: file, to: file.deletingPathExtension().appendingPathExtension("taken"))
        }
        try await eventually("its time is over") {
          // Each step waits for the check after the previous one.
          if clock.sleeping.contains(where: { $0 <= 0.5 }) { clock.advance(by: 0.5) }
          return hasTaken ? reports.all.count == 2 : waiting(installation).isEmpty
        }
        let limit = hasTaken ? 32.0 : 10
        #expect(limit...limit + 2 ~= clock.now.seconds(since: start))
        try await eventually("it has ended") { reports.all.count == (hasTaken ? 2 : 1) }
      }
      #expect(reports.all.map(\.inserted) == [1, 0] && reports.all.map(\.badge) == [1, 1])
      #expect(reports.all.last?.error == "the app has not handled the push in time")
      lock.release()
    }
  }

  @Test("launches no app if it is for display only, was received before, or exceeds the hourly limit of wakes")
  func noLaunch() async throws {
    try await Installation.with { installation in
      let sender = try installation.machineClient()
      let output = installation.folder.appending(path: "launched").path
      try sender.setLaunchCommand(["/bin/sh", "-c", #": > "$1""#, "sh", output])
      await sender.deliver(Data(#"{"aps":{"alert":"High water"},"push":"\#(UUID())"}"#.utf8))
      #expect(!FileManager.default.fileExists(atPath: output))
      let id = UUID()
      #expect(await sender.receive(RemoteNotification(id: id)).requests == 1)
      await sender.deliver(Data(#"{"aps":{"content-available":1},"push":"\#(id)"}"#.utf8))
      #expect(!FileManager.default.fileExists(atPath: output))
      for _ in 0..<2 { #expect(await sender.receive(RemoteNotification()).requests == 1) }
      installation.feed.publish("one")
      #expect(await sender.deliver(payload(installation.feed)).requests == 0)
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }

  @Test(
    "launches the app once, however many arrive before it runs, also while its program starts",
    arguments: [false, true])
  func launchingOnce(isStarting: Bool) async throws {
    try await Installation.with { installation in
      let app = try installation.client()
      let output = installation.folder.appending(path: "launched")
      let script = #"echo $$ >> "$1""# + (isStarting ? "; exec /bin/sleep 600" : "")
      try app.setLaunchCommand(["/bin/sh", "-c", script, "sh", output.path])
      func launched() -> [Int32] {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int32($0) }
      }
      defer { if isStarting { for process in launched() { kill(process, SIGKILL) } } }
      installation.feed.publish("one")
      try await withThrowingTaskGroup { group in
        for number in 0..<4 {
          let (sender, push) = (try installation.client(), payload(installation.feed))
          group.addTask { await sender.deliver(push) }
          if isStarting, number == 0 { try await eventually("it starts") { launched().count == 1 } }
        }
        try await eventually("they wait for the launched app") {
          waiting(installation).count == 4 && launched().count == 1
        }
        try await app.receiving(Reports()) {
          var inserted = 0
          for try await report in group { inserted += report.inserted }
          #expect(inserted >= 1)
        }
      }
      #expect(launched().count == 1)
    }
  }

  @Test("launches the app if the user allows it, and is handled even if the app does nothing")
  func launching() async throws {
    try await Installation.with { installation in
      let sender = try installation.machineClient()
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
      try installation.machineClient().setLaunchCommand(nil)
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
      try await app.receiving(Reports()) {
        let delivery = Task { deliveries.add(await sender.deliver(push, wake: wake)) }
        try await eventually("the app fetches") { !installation.requests().isEmpty }
        installation.clock.advance(by: 5.25)
        defer { delivery.cancel() }
        try await eventually("it has ended") { !deliveries.all.isEmpty }
        #expect(deliveries.all.first?.error == "the fetch did not end within 30 s")
      }
    }
  }

  @Test("reaches the next app within a minute after the former one has ended")
  func secondApp() async throws {
    try await Installation.with { installation in
      let (app, clock, reports) = (try installation.client(), installation.clock, Reports())
      let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
      let held = try #require(try lock.acquire())
      let task = Task { await app.receiveNotifications { reports.add($0) } }
      func end(_ task: Task<Void, Never>) async {
        task.cancel()
        await task.value
      }
      try await withResource(task, release: end) { _ in
        try await eventually("the next one waits") { clock.sleeping == [60] }
        held.release()
        clock.advance(by: 60)
        try await eventually("it is the app") { try lock.isHeld }
        let sender = try installation.machineClient()
        installation.feed.publish("one")
        #expect(await sender.deliver(payload(installation.feed)).inserted == 1)
        #expect(reports.all.map(\.inserted) == [1])
      }
    }
  }

  @Test("is handled by the receiving process if it cannot be passed to the app")
  func unusableFolder() async throws {
    try await Installation.with { installation in
      let log = Reports()
      let sender = try installation.machineClient(log)
      let lock = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
      defer { lock.release() }
      try Data().write(to: installation.folder.appending(path: "pushes"))
      installation.feed.publish("one")
      #expect(await sender.deliver(payload(installation.feed)).inserted == 1)
      #expect(log.texts.contains { $0.hasPrefix("cannot pass the push to the app: ") }, "\(log.texts)")
    }
  }

  @Test("is reported to the app while no other is")
  func serialReports() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try installation.machineClient(), try installation.machineClient())
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
      let (app, sender) = (try installation.machineClient(), try installation.machineClient())
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
        #expect(try sender.schedule.lastWake == nil, "the app was awake")
      }
    }
  }
}
