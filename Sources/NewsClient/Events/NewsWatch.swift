import BackgroundFetch
import Foundation
import News
import Synchronization

/// Follows the events of a server, one connection after the other, and fetches what they tell of.
///
/// Each connection begins where the store is, not where the last one was: what could not be fetched is told anew.
final class NewsWatch: Sendable {
  /// How long a connection may be silent. The server sends something every 15 s; a proxy on the way may die without a
  /// word.
  private static let patience = Duration.seconds(60)

  /// A fetch that did not bring what was told of. It has been logged.
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

  /// Follows until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      do {
        try await waitForHold()
        try await connect()
      } catch let error as FetchError {
        client.log("\(error)")
        hold(error)
      } catch is Missed, is CancellationError {
        // A fetch has told what there is to tell, and the end of the task is none of the log's concern.
      } catch {
        client.log("\(error)")
      }
      let seconds = delay.withLock { $0.next(random: .random(in: 0..<1)) }
      try? await client.clock.sleep(for: .seconds(seconds))
    }
  }

  /// `Retry-After` binds streams, too.
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
    // A stream tells of what comes after something: who holds nothing begins with a fetch.
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

  /// What is read of an event.
  private struct Told: Decodable {
    var token: SyncToken
  }

  /// So many fetches reach any token; a server that needs more contradicts itself.
  private static let mostFetches = 100

  /// Fetches until the store has reached a token; from nothing, or where an event has none, once.
  private func fetch(_ token: SyncToken?) async throws {
    silence.pause()
    defer { silence.heard() }
    for number in 1... {
      let report = await client.performFetch(.watch, at: token)
      try Task.checkCancellation()
      tell(report)
      if report.result == .failed { throw Missed() }
      if try token.map({ try client.holds($0) }) ?? true { break }
      // A long way is gone in several fetches; one that went nowhere has met a cache that runs behind.
      if report.result == .noData || number == Self.mostFetches { throw Missed() }
    }
    delay.withLock { $0.succeed() }
  }
}
