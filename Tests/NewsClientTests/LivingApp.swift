import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient
import TestKit
import Testing

/// A client that runs with a clock which advances on request.
struct LivingApp {
  let clients: [NewsFetcher]
  let clock: ManualClock
  let reports: Reports

  /// The number of tasks of a running client that sleep while nothing happens: the schedule, the pushes, the commits of other
  /// processes, and the notifications.
  static let sleepers = 4

  /// Runs the body while clients run.
  static func with(
    _ clients: [NewsFetcher], clock: ManualClock, followsEvents: Bool = false, _ body: (LivingApp) async throws -> Void
  ) async throws {
    let reports = Reports()
    let task = Task {
      await NewsFetcher.run(clients, followsEvents: followsEvents) { client, report in
        reports.note(client.configuration.folder.lastPathComponent)
        reports.add(report)
      }
    }
    func end(_ task: Task<Void, Never>) async {
      task.cancel()
      await task.value
    }
    try await withResource(task, release: end) { _ in
      try await body(LivingApp(clients: clients, clock: clock, reports: reports))
    }
    #expect(clock.sleeping == [], "nothing goes on after the task")
  }

  /// Lets time pass.
  func live(_ seconds: Double, sleepers: Int = LivingApp.sleepers) async throws {
    try await clock.step(until: clock.now.date + seconds, whenSleeping: sleepers) {
      // A fetch is such a task until its timer has ended, which sleeps too.
      clients.allSatisfy { $0.application.backgroundTasks.isIdle }
    }
  }
}

/// A transport over a network that can be lost.
struct LossyTransport: HTTPTransport {
  let network: Network
  private let transport = AsyncHTTPTransport()

  init(_ network: Network) { self.network = network }

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    if network.current.isOffline { throw HTTPTransportError(.offline, "the network is unreachable") }
    return try await transport.get(url, headers: headers)
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { try await get(url, headers: headers) }
}
