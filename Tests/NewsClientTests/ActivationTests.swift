import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A tap on a notification") struct ActivationTests {
  /// A desktop whose user taps on request.
  private final class Desktop: NotificationPresenter {
    private let shown = Mutex<[NotificationRequest]>([])
    private let tapList = ObserverList<NotificationTap>()

    var requests: [NotificationRequest] { shown.withLock(\.self) }
    let listeners = Mutex(0)
    /// Whether the session has no bus, so that no taps can be reported.
    let isAway = Mutex(false)

    func present(_ request: NotificationRequest) async throws -> String? {
      shown.withLock {
        $0.append(request)
        return "bus :1.7 \($0.count)"
      }
    }

    func taps() -> AsyncStream<NotificationTap> {
      listeners.withLock { $0 += 1 }
      return isAway.withLock(\.self) ? AsyncStream { $0.finish() } : tapList.values()
    }

    func tap(_ number: Int, _ action: String = "default", token: String? = nil) {
      tapList.notify(NotificationTap(handle: "bus :1.7 \(number)", action: action, token: token))
    }
  }

  private func client(
    _ installation: Installation, _ desktop: Desktop, log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> NewsFetcher {
    var configuration = NewsFetcher.Configuration(
      folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1")
    configuration.presenter = desktop
    configuration.notifications = NotificationOptions()
    configuration.notifications?.showsNews = true
    return try NewsFetcher(
      configuration, application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock),
      clock: installation.clock, log: log)
  }

  @Test("reaches the app once, with the item and the action, whichever process hears of it")
  func once() async throws {
    try await Installation.with { installation in
      let desktop = Desktop()
      installation.feed.publish("old")
      let (fetcher, app, other) = (
        try client(installation, desktop), try client(installation, desktop), try client(installation, desktop)
      )
      await fetcher.performFetch()
      let item = installation.feed.publish("one")
      await fetcher.performFetch()
      try await eventually("it is shown") { desktop.requests.count == 1 }
      var request = NotificationRequest(identifier: "tide", title: "High water")
      request.actions = [.init(identifier: "later", title: "Later")]
      try await app.notifications.add(request)
      let received = Reports()
      let observation = app.activations.add { activation in
        let isItem = activation.itemID == item.id
        received.note("\(isItem) \(activation.identifier) \(activation.action) \(activation.token ?? "-")")
      }
      let tasks = [app, other].map { client in
        Task {
          await withTaskGroup { group in
            group.addTask { await client.receiveActivations() }
            group.addTask { await client.observeOtherProcesses() }
          }
        }
      }
      try await eventually("both listen") { desktop.listeners.withLock(\.self) == 2 }
      // Neither the same tap again nor one on a notification of another program is delivered.
      desktop.tap(1, token: "focus")
      desktop.tap(1)
      desktop.tap(9)
      desktop.tap(2, "later")
      let name = "item-\(item.id.uuidString.lowercased())"
      try await eventually("the app has received them") { received.texts.count == 2 }
      #expect(Set(received.texts) == ["true \(name) default focus", "false tide later -"])
      #expect(NotificationActivation(identifier: "push-\(item.id)").itemID == nil)
      for task in tasks {
        task.cancel()
        await task.value
      }
      withExtendedLifetime(observation) {}
    }
  }

  @Test("reaches the app that runs or watches, without another call", arguments: [false, true])
  func alive(watches: Bool) async throws {
    try await Installation.with { installation in
      let desktop = Desktop()
      let app = try client(installation, desktop)
      try await app.notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      let received = Reports()
      let observation = app.activations.add { received.note($0.identifier) }
      let living = Task { if watches { await app.watch() } else { await app.run() } }
      defer { living.cancel() }
      try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
      desktop.tap(1)
      try await eventually("the app has received it") { received.texts == ["tide"] }
      living.cancel()
      await living.value
      withExtendedLifetime(observation) {}
    }
  }

  @Test("that only another process has received reaches the app that observes it")
  func observed() async throws {
    try await Installation.with { installation in
      let desktop = Desktop()
      let (app, other) = (try client(installation, desktop), try client(installation, desktop))
      try await app.notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      let received = Reports()
      let observation = app.activations.add { received.note($0.identifier) }
      let observing = Task { await app.observeOtherProcesses() }
      let listening = Task { await other.receiveActivations() }
      defer { for task in [observing, listening] { task.cancel() } }
      try await eventually("the other process listens") { desktop.listeners.withLock(\.self) == 1 }
      desktop.tap(1)
      try await eventually("the app has received it") { received.texts == ["tide"] }
      withExtendedLifetime(observation) {}
    }
  }

  @Test("reaches the app although the desktop could not report taps before; there is a pause before it is asked again")
  func away() async throws {
    try await Installation.with { installation in
      let desktop = Desktop()
      desktop.isAway.withLock { $0 = true }
      let app = try client(installation, desktop)
      try await app.notifications.add(NotificationRequest(identifier: "tide", title: "High water"))
      let received = Reports()
      let observation = app.activations.add { received.note($0.identifier) }
      // Its pause is a quarter of an hour.
      let patient = Task { await app.receiveActivations() }
      try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
      try await Task.sleep(for: .milliseconds(200))
      #expect(desktop.listeners.withLock(\.self) == 1)
      patient.cancel()
      await patient.value
      let eager = Task { await app.receiveActivations(retryingAfter: 0.01) }
      try await eventually("it listens again and again") { desktop.listeners.withLock(\.self) > 3 }
      desktop.isAway.withLock { $0 = false }
      try await eventually("the app has received it") {
        desktop.tap(1)
        return received.texts == ["tide"]
      }
      eager.cancel()
      await eager.value
      withExtendedLifetime(observation) {}
    }
  }

  #if os(Linux)
    @Test("that cannot be stored or read is logged, as is an app that cannot be launched")
    func failures() async throws {
      try await Installation.with { installation in
        let (desktop, log) = (Desktop(), Reports())
        let app = try client(installation, desktop, log: log.note)
        for name in ["tide", "wind"] {
          try await app.notifications.add(NotificationRequest(identifier: name, title: name))
        }
        try app.setLaunchCommand(["/nowhere/app"])
        let listening = Task { await app.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        desktop.tap(1)
        try await eventually("no app is launched") { log.texts.count == 1 }
        try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
          try db.execute(sql: "DROP TABLE activations")
        }
        desktop.tap(2)
        try await eventually("the tap is not stored") { log.texts.count == 2 }
        let observation = app.activations.add { _ in }
        let running = Task { await app.receiveActivations() }
        try await eventually("the taps are not read") { log.texts.count == 3 }
        for task in [listening, running] {
          task.cancel()
          await task.value
        }
        let beginnings = [
          "cannot launch the app: ", "cannot store a tap on a notification: ",
          "cannot read the taps on notifications: ",
        ]
        #expect(zip(log.texts, beginnings).allSatisfy { $0.hasPrefix($1) }, "\(log.texts)")
        withExtendedLifetime(observation) {}
      }
    }

    @Test("launches the app if none runs, which receives the tap too")
    func launch() async throws {
      try await Installation.with { installation in
        let desktop = Desktop()
        installation.feed.publish("old")
        let fetcher = try client(installation, desktop)
        await fetcher.performFetch()
        let item = installation.feed.publish("one")
        await fetcher.performFetch()
        try await eventually("it is shown") { desktop.requests.count == 1 }
        let output = installation.folder.appending(path: "environment").path
        try fetcher.setLaunchCommand(["/bin/sh", "-c", "env >\(output).new; mv \(output).new \(output)"])
        let listening = Task { await fetcher.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        desktop.tap(1, token: "focus")
        try await eventually("the app has started") { FileManager.default.fileExists(atPath: output) }
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        let pairs = lines.compactMap { line -> (String, String)? in
          let parts = line.split(separator: "=", maxSplits: 1)
          return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        let options = LaunchOptions(environment: Dictionary(pairs) { $1 })
        #expect(options.reason == .notification)
        #expect(options.activation?.itemID == item.id && options.activation?.token == "focus")
        // The launched app.
        let app = try client(installation, desktop)
        let received = Reports()
        let observation = app.activations.add { received.note($0.action) }
        let running = Task { await app.receiveActivations() }
        try await eventually("the app has received it") { received.texts == ["default"] }
        for task in [listening, running] {
          task.cancel()
          await task.value
        }
        withExtendedLifetime(observation) {}
      }
    }

    @Test("launches no second app while one runs, which is another process")
    func runningElsewhere() async throws {
      try await Installation.with { installation in
        let desktop = Desktop()
        installation.feed.publish("old")
        let fetcher = try client(installation, desktop)
        await fetcher.performFetch()
        for _ in 0..<2 { try await fetcher.notifications.add(NotificationRequest(identifier: "tide", title: "Tide")) }
        let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
        let app = try ChildSpawner(
          executable: "/usr/bin/flock",
          arguments: ["--no-fork", lock.path, "/bin/sh", "-c", "echo $$ > \(lock.path); exec /bin/sleep 600"],
          environment: [:]
        ).start()
        defer {
          kill(app, SIGKILL)
          waitpid(app, nil, 0)
        }
        try await eventually("it runs") { lock.holder == app }
        let output = installation.folder.appending(path: "launched").path
        try fetcher.setLaunchCommand(["/bin/sh", "-c", ": > \(output)"])
        let listening = Task { await fetcher.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        desktop.tap(2)
        try await eventually("the tap is stored") { try await Self.storedTaps(installation) == 1 }
        // A launched shell would write the file within milliseconds.
        try await Task.sleep(for: .milliseconds(200))
        #expect(!FileManager.default.fileExists(atPath: output))
        listening.cancel()
        await listening.value
      }
    }

    @Test("launches no second app while the first one still starts")
    func starting() async throws {
      try await Installation.with { installation in
        let desktop = Desktop()
        let listener = try client(installation, desktop)
        for name in ["tide", "wind"] {
          try await listener.notifications.add(NotificationRequest(identifier: name, title: name))
        }
        let output = installation.folder.appending(path: "launched").path
        try listener.setLaunchCommand(["/bin/sh", "-c", "echo $$ >>\(output); exec /bin/sleep 600"])
        func launched() -> [Int32] {
          let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
          return text.split(separator: "\n").compactMap { Int32($0) }
        }
        defer { for process in launched() { kill(process, SIGKILL) } }
        let listening = Task { await listener.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        desktop.tap(1)
        try await eventually("the app starts") { launched().count == 1 }
        desktop.tap(2)
        try await eventually("the second tap is stored") { try await Self.storedTaps(installation) == 2 }
        // A launched shell would write the file within milliseconds.
        try await Task.sleep(for: .milliseconds(200))
        #expect(launched().count == 1)
        listening.cancel()
        await listening.value
        // The app receives the taps that have waited for it, the earlier one first.
        let app = try client(installation, desktop)
        let received = Reports()
        let observation = app.activations.add { received.note($0.identifier) }
        let running = Task { await app.receiveActivations() }
        try await eventually("the app has received them") { received.texts.count == 2 }
        #expect(received.texts == ["tide", "wind"])
        running.cancel()
        await running.value
        withExtendedLifetime(observation) {}
      }
    }

    @Test("launches the app although another process has the number of the one that was launched before")
    func reusedNumber() async throws {
      try await Installation.with { installation in
        let desktop = Desktop()
        let listener = try client(installation, desktop)
        try await listener.notifications.add(NotificationRequest(identifier: "tide", title: "Tide"))
        let output = installation.folder.appending(path: "launched").path
        try listener.setLaunchCommand(["/bin/sh", "-c", ": >\(output)"])
        try Data(#"{"process":\#(getpid()),"start":"1"}"#.utf8)
          .write(to: installation.folder.appending(path: "launched.json"))
        let listening = Task { await listener.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        desktop.tap(1)
        try await eventually("the app has started") { FileManager.default.fileExists(atPath: output) }
        listening.cancel()
        await listening.value
      }
    }

    @Test("waits for the app with the last nineteen others")
    func waiting() async throws {
      try await Installation.with { installation in
        let desktop = Desktop()
        let listener = try client(installation, desktop)
        let names = (1...21).map { "tide \($0)" }
        for name in names { try await listener.notifications.add(NotificationRequest(identifier: name, title: name)) }
        let listening = Task { await listener.receiveActivations() }
        try await eventually("it listens") { desktop.listeners.withLock(\.self) == 1 }
        for number in 1...21 { desktop.tap(number) }
        try await eventually("the last one is stored") {
          try await Self.count("notifications WHERE handle IS NOT NULL", installation) == 0
        }
        listening.cancel()
        await listening.value
        // A process without observers leaves them to the app.
        let idle = Task { await listener.receiveActivations() }
        try await eventually("it listens again") { desktop.listeners.withLock(\.self) == 2 }
        #expect(try await Self.storedTaps(installation) == 20)
        idle.cancel()
        await idle.value
        let received = Reports()
        let observation = listener.activations.add { received.note($0.identifier) }
        let running = Task { await listener.receiveActivations() }
        try await eventually("the app has received them") { try await Self.storedTaps(installation) == 0 }
        running.cancel()
        await running.value
        #expect(received.texts == Array(names.dropFirst()))
        withExtendedLifetime(observation) {}
      }
    }

    private static func storedTaps(_ installation: Installation) async throws -> Int? {
      try await count("activations", installation)
    }

    private static func count(_ rows: String, _ installation: Installation) async throws -> Int? {
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)")
      }
    }
  #endif
}
