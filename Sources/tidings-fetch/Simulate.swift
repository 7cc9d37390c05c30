import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization

struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Simulates the events that a system sends to an app, and prints the app's states.",
    discussion: """
      The simulated app was opened, left and suspended, or is launched for its wake. The fetches are real: items and costs \
      are stored.
      """,
    subcommands: [Fetch.self, Launch.self, Expire.self, Push.self, SimulateWeek.self])

  struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Wakes a suspended app for a fetch.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let app = try await SimulatedApp(parent, isAlive: true, launchReason: .fetch)
      try await app.fetch()
    }
  }

  struct Launch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Launches an app that is not running for a fetch.")

    @ParentCommand var parent: TidingsFetch

    func run() async throws {
      let app = try await SimulatedApp(parent, isAlive: false, launchReason: .fetch)
      try await app.fetch()
    }
  }

  struct Expire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Wakes an app for a fetch without a response, until its 30 seconds are over."
    )

    @ParentCommand var parent: TidingsFetch

    @Flag(help: "Launches the app for the wake.")
    var dead = false

    func run() async throws {
      // The fetch uses an empty store, because a simulated fault must not move the next wake of the real one.
      var command = parent
      let feed = try NewsFetcher.feed(in: command.folder)
      command.server = command.server ?? feed?.server.absoluteString
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-fetch-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      command.store = folder.path(percentEncoded: false)
      let silent = LocalTransport {
        try await Task.sleep(for: .seconds(3600))
        throw CancellationError()
      }
      let app = try await SimulatedApp(command, isAlive: !dead, launchReason: .fetch, transport: silent)
      try await app.fetch()
    }
  }

  struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sends an app a remote notification.")

    @ParentCommand var parent: TidingsFetch

    @Flag(help: "Launches the app for the wake.")
    var dead = false

    @Argument(help: "The payload as JSON.")
    var payload = #"{"aps":{"content-available":1}}"#

    func run() async throws {
      let app = try await SimulatedApp(parent, isAlive: !dead, launchReason: .push)
      let notification = RemoteNotification(payload: Data(payload.utf8))
      try await app.wake { client, wake in await client.receive(notification, wake: wake) }
    }
  }
}

/// A simulated app, whose events are printed with the seconds since its wake.
private struct SimulatedApp {
  private let client: NewsFetcher
  private let printer: EventPrinter
  private let observations: [ObservationToken]

  /// Prepares an app that waits for a wake.
  ///
  /// - Parameters:
  ///   - isAlive: Whether the app was opened, left and suspended. Otherwise the wake launches it.
  ///   - launchReason: The reason of the launch.
  ///   - transport: The HTTP transport; nil for the network.
  init(
    _ command: TidingsFetch, isAlive: Bool, launchReason: LaunchReason, transport: (any HTTPTransport)? = nil
  ) async throws {
    let client = try command.client(
      launchReason: isAlive ? .user : launchReason, exitsOnSuspend: !isAlive, transport: transport)
    let printer = EventPrinter()
    observations = [
      client.application.observe { printer.add($0.rawValue) },
      client.expirations.add { printer.add("expiration handler, \(seconds($0.timeRemaining ?? .zero)) left") },
    ]
    (self.client, self.printer) = (client, printer)
    guard isAlive else { return }
    await client.application.launch()
    printer.add("\(await client.application.suspend().rawValue)")
  }

  /// Wakes the app for a fetch, and throws the exit status of its result.
  func fetch() async throws {
    try await wake { client, wake in await client.performFetch(.scheduled, wake: wake) }
  }

  /// Wakes the app, and throws the exit status of the result.
  func wake(_ handler: (NewsFetcher, FetchInstant) async -> FetchReport) async throws {
    let wake = printer.wake()
    await client.application.launch()
    let report = await handler(client, wake)
    printer.add("\(report.result.rawValue): \(report.outcome)")
    printer.add("\(await client.application.suspend().rawValue)")
    withExtendedLifetime(observations) {}
    try printer.check()
    throw report.result.exitCode
  }
}

private func seconds(_ duration: Duration) -> String { String(format: "%.1f s", duration / .seconds(1)) }

/// Lines with the time since a wake, negative before it.
private final class EventPrinter: Sendable {
  private let before = Mutex<[(moment: FetchInstant, text: String)]?>([])
  private let start = Mutex(SystemClock().now)
  private let failure = Mutex<Output.Failure?>(nil)

  /// - Throws: ``Output/Failure`` if a line could not be printed.
  func check() throws {
    if let failure = failure.withLock(\.self), !failure.isClosedPipe { throw failure }
  }

  func add(_ text: String) {
    let now = SystemClock().now
    let isBefore = before.withLock { $0?.append((now, text)) != nil }
    if !isBefore { print(now, text) }
  }

  func wake() -> FetchInstant {
    let now = SystemClock().now
    start.withLock { $0 = now }
    for line in before.withLock({ $0.take() }) ?? [] { print(line.moment, line.text) }
    print(now, "wake")
    return now
  }

  private func print(_ moment: FetchInstant, _ text: String) {
    let seconds = moment.seconds(since: start.withLock { $0 })
    do { try Output.print(String(format: "%7.3f s  ", seconds) + text) } catch let error as Output.Failure {
      failure.withLock { $0 = error }
    } catch {}
  }
}
