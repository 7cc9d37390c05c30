import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import Synchronization

/// Follows the event stream of a server, one connection after the other, and fetches the announced changes.
///
/// Each connection begins at the token of the store, not at the last event. The server therefore repeats the
/// announcement of changes that could not be fetched.
final class EventStreamFollower: Sendable {
  /// The maximum time without a byte. The server sends at least one heartbeat every 15 s; a proxy may fail without
  /// closing the connection.
  private static let idleLimit = Duration.seconds(60)
  /// The maximum number of fetches for an event. They reach any token, unless the server contradicts itself.
  private static let maximumFetches = 100

  /// The error if a fetch did not store the announced changes. Its report has been delivered.
  private struct IncompleteFetch: Error {}

  /// The members that are read from the data of an event.
  private struct EventData: Decodable {
    var token: SyncToken
  }

  private let local: LocalFeed
  private let server: NewsServer
  private let log: @Sendable (String) -> Void
  private let fetch: @Sendable (SyncToken?) async -> FetchReport
  private let delay = Mutex(ReconnectDelay())
  private let idleTimeout: IdleTimeout

  /// Creates a follower.
  ///
  /// - Parameters:
  ///   - local: The stored state of the followed feed.
  ///   - server: The server whose events are followed.
  ///   - log: Receives lines about failures.
  ///   - fetch: Fetches, and delivers the report. The token is one that the server has reached; nil if it is unknown.
  init(
    _ local: LocalFeed, server: NewsServer, log: @escaping @Sendable (String) -> Void,
    fetch: @escaping @Sendable (SyncToken?) async -> FetchReport
  ) {
    (self.local, self.server, self.log, self.fetch) = (local, server, log, fetch)
    idleTimeout = IdleTimeout(limit: Self.idleLimit, clock: local.clock)
  }

  /// Follows the events until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do {
        try await waitForServer()
        try await connect()
      } catch let error as FetchError {
        log("\(error)")
      } catch is IncompleteFetch, is CancellationError {
        // The report of the fetch has been delivered, and the end of the task is not logged.
      } catch {
        log("\(error)")
      }
      let seconds = delay.withLock { $0.next(random: .random(in: 0..<1)) }
      try? await local.clock.sleep(for: .seconds(seconds))
    }
  }

  /// Waits until the server accepts requests again. `Retry-After` applies to streams too.
  private func waitForServer() async throws {
    let seconds = local.remainingWait
    if seconds > 0 { try await local.clock.sleep(for: .seconds(seconds)) }
  }

  /// Follows one connection to its end.
  private func connect() async throws {
    // A stream announces later changes only, so an empty store begins with a fetch.
    if try local.token == nil { try await fetchChanges(until: nil) }
    try await idleTimeout.run { [self] in
      let body = try await server.events(topics: local.feed.topics, after: local.token)
      idleTimeout.reset()
      try await read(body)
    }
  }

  private func read(_ body: any AsyncSequence<Data, any Error> & Sendable) async throws {
    var parser = EventParser()
    do {
      for try await bytes in body {
        let events = try parser.parse(bytes)
        if let retry = parser.retry { delay.withLock { $0.setServerDelay(milliseconds: retry) } }
        for event in events { try await handle(event) }
        idleTimeout.reset()
      }
    } catch let error where !(error is FetchError || error is IncompleteFetch) {
      try Task.checkCancellation()
      throw FetchError(.unreachable, "the event stream was interrupted: \(error)")
    }
  }

  private func handle(_ event: EventParser.Event) async throws {
    guard event.type == "message" || event.type == "resync" else { return }
    let token = (try? NewsJSON.decode(EventData.self, from: Data(event.data.utf8)))?.token
    if let token, try local.hasReached(token) { return }
    try await fetchChanges(until: token)
  }

  /// Fetches until the store has reached a token, or once if there is no token.
  private func fetchChanges(until token: SyncToken?) async throws {
    idleTimeout.pause()
    defer { idleTimeout.reset() }
    for number in 1... {
      let report = await fetch(token)
      try Task.checkCancellation()
      if report.result == .failed { throw IncompleteFetch() }
      // A full copy takes as many fetches as it needs.
      if report.received != nil { continue }
      if try token.map({ try local.hasReached($0) }) ?? true { break }
      // A long delta takes several fetches. A fetch without new data has received the response of an outdated cache.
      if report.result == .noData || number == Self.maximumFetches { throw IncompleteFetch() }
    }
    delay.withLock { $0.reset() }
  }
}
