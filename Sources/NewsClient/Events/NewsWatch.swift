import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import Synchronization

/// Follows the events of a server, one connection after the other, and fetches the announced changes.
///
/// Each connection begins at the token of the store, not at the last event. The server therefore repeats the
/// announcement of changes that could not be fetched.
final class NewsWatch: Sendable {
  /// The maximum silence of a connection. The server sends something every 15 s; a proxy may fail without closing the
  /// connection.
  private static let patience = Duration.seconds(60)

  /// A fetch that did not bring the announced changes. Its report has been delivered.
  private struct Missed: Error {}

  private let client: NewsFetcher
  private let tell: @Sendable (FetchReport) -> Void
  private let delay = Mutex(ReconnectDelay())
  private let silence: SilenceGuard

  init(_ client: NewsFetcher, tell: @escaping @Sendable (FetchReport) -> Void) {
    self.client = client
    self.tell = tell
    silence = SilenceGuard(limit: Self.patience, clock: client.clock)
  }

  /// Follows the events until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do {
        try await waitForHold()
        try await connect()
      } catch let error as FetchError {
        client.log("\(error)")
        hold(error)
      } catch is Missed, is CancellationError {
        // The report of the fetch has been delivered, and the end of the task is not logged.
      } catch {
        client.log("\(error)")
      }
      let seconds = delay.withLock { $0.next(random: .random(in: 0..<1)) }
      try? await client.clock.sleep(for: .seconds(seconds))
    }
  }

  /// Waits until the server accepts requests again. `Retry-After` applies to streams too.
  private func waitForHold() async throws {
    let hold = try client.schedule.holdRemaining(at: client.clock.now)
    if hold > 0 { try await client.clock.sleep(for: .seconds(hold)) }
  }

  private func hold(_ error: FetchError) {
    guard let seconds = error.retryAfter else { return }
    do {
      try client.hold(seconds: seconds)
    } catch {
      client.log("how long the server wants no requests could not be stored: \(error)")
    }
  }

  /// Follows one connection to its end.
  private func connect() async throws {
    // A stream announces later changes only, so an empty store begins with a fetch.
    if try client.token == nil { try await fetch(nil) }
    try await silence.watch { [self] in
      let body = try await client.server.events(topics: client.configuration.source.topics, after: client.token)
      silence.heard()
      try await read(body)
    }
  }

  private func read(_ body: any AsyncSequence<Data, any Error> & Sendable) async throws {
    var parser = EventParser()
    do {
      for try await bytes in body {
        let events = try parser.take(bytes)
        if let retry = parser.retry { delay.withLock { $0.suggest(milliseconds: retry) } }
        for event in events { try await follow(event) }
        silence.heard()
      }
    } catch let error where !(error is FetchError || error is Missed) {
      try Task.checkCancellation()
      throw FetchError(.unreachable, "the stream of events was cut off: \(error)")
    }
  }

  private func follow(_ event: EventParser.Event) async throws {
    guard event.type == "message" || event.type == "resync" else { return }
    let told = try? NewsJSON.decode(Told.self, from: Data(event.data.utf8))
    if let token = told?.token, try client.holds(token) { return }
    try await fetch(told?.token)
  }

  /// The fields that are read from an event.
  private struct Told: Decodable {
    var token: SyncToken
  }

  /// The maximum number of fetches for an event. They reach any token, unless the server contradicts itself.
  private static let mostFetches = 100

  /// Fetches until the store has reached a token, and once if there is no token.
  private func fetch(_ token: SyncToken?) async throws {
    silence.pause()
    defer { silence.heard() }
    for number in 1... {
      let report = await client.performFetch(.watch, at: token)
      try Task.checkCancellation()
      tell(report)
      if report.result == .failed { throw Missed() }
      if try token.map({ try client.holds($0) }) ?? true { break }
      // A long delta takes several fetches. A fetch without new data has met a cache that lags behind.
      if report.result == .noData || number == Self.mostFetches { throw Missed() }
    }
    delay.withLock { $0.succeed() }
  }
}
