import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

/// A feed with configurable faults, and a client for it.
struct Installation {
  let feed: FaultFeed
  let server: FaultServer
  let folder: URL
  let clock: ManualClock
  /// The scheme and authority of the server; nil for those of the feed.
  var address: String?
  var topics: [String] = []
  var extent = FollowedFeed.Extent.window(100)

  /// Runs the body with an empty feed and an empty folder.
  static func with<Value>(
    extent: FollowedFeed.Extent = .window(100), topics: [String] = [], _ body: (Installation) async throws -> Value
  ) async throws -> Value {
    let feed = FaultFeed()
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-client-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await FaultServer.with(feed.respond) { server in
      try await body(
        Installation(
          feed: feed, server: server, folder: folder, clock: ManualClock(), topics: topics, extent: extent))
    }
  }

  /// Returns the followed feed.
  func followedFeed() throws -> FollowedFeed {
    FollowedFeed(server: try #require(URL(string: address ?? server.url)), topics: topics, extent: extent)
  }

  /// Returns a client as a new process creates it.
  func client(
    _ transport: (any HTTPTransport)? = nil, constraints: any ConstraintSource = FetchConstraints.none
  ) throws -> NewsFetcher {
    var configuration = NewsFetcher.Configuration(
      folder: folder, feed: try followedFeed(), userAgent: "tests/1 (+https://example.org)")
    configuration.constraints = constraints
    return try NewsFetcher(
      configuration,
      application: ApplicationLifecycle(launchReason: .fetch, clock: clock), transport: transport, clock: clock)
  }

  /// Checks that the stored items equal those of the feed.
  func expectEqual(_ client: NewsFetcher, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try client.allNewsItems == feed.items, sourceLocation: sourceLocation)
  }

  /// Returns the targets of the requests since the last call; conditional requests have an asterisk.
  func requests() -> [String] {
    server.takeRequests().map { ($0.isConditional ? "*" : "") + $0.path }
  }
}

/// The reports and log lines of a client.
final class Reports: Sendable {
  private let received = Mutex<(reports: [FetchReport], texts: [String])>(([], []))

  var all: [FetchReport] { received.withLock(\.reports) }
  var texts: [String] { received.withLock(\.texts) }

  func add(_ report: FetchReport) { received.withLock { $0.reports.append(report) } }
  func note(_ text: String) { received.withLock { $0.texts.append(text) } }
}

extension Installation {
  /// Returns a client with the clock of the machine.
  func machineClient(_ log: Reports = Reports()) throws -> NewsFetcher {
    try NewsFetcher(
      .init(folder: folder, feed: try followedFeed(), userAgent: "tests/1"),
      application: ApplicationLifecycle(launchReason: .fetch), log: { log.note($0) })
  }
}

extension NewsFetcher {
  /// Runs the body while the app receives pushes.
  func receiving(_ reports: Reports, _ body: () async throws -> Void) async throws {
    let lock = FetchLock(path: configuration.folder.appending(path: "app.lock").path)
    let task = Task { await receiveNotifications { reports.add($0) } }
    func end(_ task: Task<Void, Never>) async {
      task.cancel()
      await task.value
    }
    try await withResource(task, release: end) { _ in
      try await eventually("the app runs") { try lock.isHeld }
      try await body()
    }
  }
}

/// A transport over which each request takes some time of a clock.
struct SlowTransport: HTTPTransport {
  let clock: ManualClock
  let seconds: Double
  let transport = AsyncHTTPTransport()

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    clock.advance(by: seconds)
    try Task.checkCancellation()
    return try await transport.get(url, headers: headers)
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
}
