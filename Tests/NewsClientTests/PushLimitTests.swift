import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import NewsClient
import TestKit
import Testing

@Suite("The limits of a push for another process of the store") struct PushLimitTests {
  @Test("are a size up to which it reaches the running app", arguments: [(65_536, true), (65_537, false)])
  func size(bytes: Int, isPassed: Bool) async throws {
    try await Installation.with { installation in
      let (app, sender, reports) = (try installation.machineClient(), try installation.machineClient(), Reports())
      let (head, tail) = (#"{"title":"High water","x":""#, #""}"#)
      let push = head + String(repeating: "y", count: bytes - head.count - tail.count) + tail
      try await app.receiving(reports) {
        #expect(await sender.deliver(Data(push.utf8)).result == .noData)
        #expect(reports.all.count == (isPassed ? 1 : 0))
      }
    }
  }

  /// The file of a push that waits for the app.
  private struct Waiting: Encodable {
    var payload: Data
    var wake: FetchInstant
  }

  @Test("are 30 s from its wake, after which the app that takes it has a wake of its own")
  func takenLate() async throws {
    try await Installation.with { installation in
      let (app, reports) = (try installation.client(), Reports())
      installation.feed.publish("one")
      let payload = #"{"aps":{"content-available":1},"push":"\#(UUID())","token":"\#(installation.feed.token())"}"#
      let push = Waiting(payload: Data(payload.utf8), wake: installation.clock.now)
      installation.clock.advance(by: 30)
      let folder = installation.folder.appending(path: "pushes")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try JSONEncoder().encode(push).write(to: folder.appending(path: "0-A.push"))
      let task = Task { await app.receiveNotifications { reports.add($0) } }
      func end(_ task: Task<Void, Never>) async {
        task.cancel()
        await task.value
      }
      try await withResource(task, release: end) { _ in
        try await eventually("it is handled") { reports.all.count == 1 }
        #expect(reports.all.map(\.inserted) == [1], "\(reports.all.map(\.error))")
      }
    }
  }

  @Test("are none of their number: an app that starts takes all that wait, the oldest first")
  func order() async throws {
    try await Installation.with { installation in
      let (app, taken) = (try installation.machineClient(), Reports())
      let folder = installation.folder.appending(path: "pushes")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let push = Waiting(payload: Data(#"{"title":"High water"}"#.utf8), wake: SystemClock().now)
      // A folder may list its files in the order of their creation, or in the reverse one.
      for number in [5, 2, 7, 0, 3, 6, 1, 4] {
        try JSONEncoder().encode(push).write(to: folder.appending(path: "\(number)-A.push"))
      }
      // The app renames each file, and removes it later.
      let changes = FolderChanges(folder: folder) { name in
        if name.hasSuffix(".taken"), !taken.texts.contains(name) { taken.note(name) }
        return false
      }
      try await app.receiving(Reports()) {
        try await eventually("all are taken") { taken.texts.count == 8 }
      }
      #expect(taken.texts == (0..<8).map { "\($0)-A.taken" })
      withExtendedLifetime(changes) {}
    }
  }

  @Test("are a folder for it, without which no process is the app")
  func unusableFolder() async throws {
    try await Installation.with { installation in
      let log = Reports()
      let app = try installation.machineClient(log)
      try Data().write(to: installation.folder.appending(path: "pushes"))
      await app.receiveNotifications()
      #expect(log.texts.count == 1, "\(log.texts)")
      #expect(log.texts.first?.hasPrefix("cannot receive pushes from other processes: ") == true, "\(log.texts)")
      let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
      #expect(try !lock.isHeld)
    }
  }

  @Test("are those of a wake: an app that was suspended is suspended again afterwards")
  func suspended() async throws {
    try await Installation.with { installation in
      let (app, sender) = (try installation.machineClient(), try installation.machineClient())
      await app.application.launch()
      let suspension = await app.application.suspend()
      #expect(suspension == .suspended)
      try await app.receiving(Reports()) {
        installation.feed.publish("one")
        let push = #"{"aps":{"content-available":1},"token":"\#(installation.feed.token())"}"#
        #expect(await sender.deliver(Data(push.utf8)).inserted == 1)
        #expect(app.application.currentState == .suspended)
      }
    }
  }

  @Test("are a place for its report, without which nothing of it is left behind")
  func unstorableReport() async throws {
    try await Installation.with { installation in
      let (app, reports) = (try installation.machineClient(), Reports())
      let folder = installation.folder.appending(path: "pushes")
      try await app.receiving(reports) {
        try await eventually("it has prepared the folder") { FileManager.default.fileExists(atPath: folder.path) }
        // A file cannot replace a folder. The name is not that of an old report.
        let name = "9999999999999-A"
        try FileManager.default.createDirectory(
          at: folder.appending(path: name + ".report"), withIntermediateDirectories: true)
        let push = Waiting(payload: Data(#"{"title":"High water"}"#.utf8), wake: SystemClock().now)
        try JSONEncoder().encode(push).write(to: folder.appending(path: name + ".push"), options: .atomic)
        try await eventually("it is handled, and its files are removed") {
          try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name + ".report"]
        }
      }
    }
  }

  @Test("are the life of its sender, after which it does not wait for the app any more")
  func cancelledSender() async throws {
    try await Installation.with { installation in
      let sender = try installation.machineClient()
      let lock = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
      defer { lock.release() }
      let push = Data(#"{"aps":{"content-available":1},"push":"\#(UUID())"}"#.utf8)
      let delivery = Task { await sender.deliver(push) }
      let folder = installation.folder.appending(path: "pushes")
      func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
      try await eventually("it waits for the app") { names().contains { $0.hasSuffix(".push") } }
      delivery.cancel()
      _ = await delivery.value
      #expect(names() == [])
    }
  }

  @Test("are 32 s from its wake until it is given up, also if its sender has received it late")
  func lateSender() async throws {
    try await Installation.with { installation in
      let (sender, clock, reports) = (try installation.client(), installation.clock, Reports())
      let lock = try #require(try FetchLock(path: installation.folder.appending(path: "app.lock").path).acquire())
      defer { lock.release() }
      let now = clock.now
      let wake = FetchInstant(date: now.date - 27, uptime: now.uptime - 27, boot: now.boot)
      let push = Data(#"{"aps":{"content-available":1},"push":"\#(UUID())"}"#.utf8)
      let delivery = Task { reports.add(await sender.deliver(push, wake: wake)) }
      defer { delivery.cancel() }
      let folder = installation.folder.appending(path: "pushes")
      try await eventually("the app has taken it") {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        guard let name = names.first(where: { $0.hasSuffix(".push") }) else { return false }
        let file = folder.appending(path: name)
        try FileManager.default.moveItem(at: file, to: file.deletingPathExtension().appendingPathExtension("taken"))
        return true
      }
      try await eventually("its time is over") {
        // Each step waits for the check after the previous one.
        if clock.sleeping.contains(where: { $0 <= 0.5 }) { clock.advance(by: 0.5) }
        return reports.all.count == 1
      }
      #expect(5...7 ~= clock.now.seconds(since: now))
      #expect(reports.all.map(\.error) == ["the app has not handled the push in time"])
    }
  }
}
