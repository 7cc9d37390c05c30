import Foundation
import News
import PostgresClient
import TestKit
import TestSupport

/// A client of `/v1/events` that checks whether each event covers all changes since the previous one.
struct EventListener {
  let topics: [String]
  var random: SplitMix64
  /// The token of the last event.
  private(set) var token: SyncToken?
  private(set) var events = 0

  init(topics: [String], seed: UInt64) {
    self.topics = topics
    random = SplitMix64(seed: seed)
  }

  /// Reads events from one of the servers for a while, or until the stream breaks.
  mutating func listen(to system: TortureSystem) async throws {
    guard let server = system.readers.randomElement(using: &random) else { return }
    let query = topics.isEmpty ? "" : "?topics=\(topics.joined(separator: ","))"
    let duration = Duration.milliseconds(Int.random(in: 300...3000, using: &random))
    if token == nil { token = try? await system.currentToken(of: topics) }
    let start = token
    let received = await withTaskGroup(of: Void.self) { group in
      let (events, found) = AsyncStream.makeStream(of: (SyncToken, EventSource.Event).self)
      group.addTask {
        defer { found.finish() }
        guard var source = try? await EventSource(server.url, query, lastEventID: start?.description) else { return }
        while let event = try? await source.next(), let id = source.lastEventID.flatMap({ SyncToken($0) }) {
          found.yield((id, event))
        }
      }
      group.addTask { try? await Task.sleep(for: duration) }
      _ = await group.next()
      group.cancelAll()
      found.finish()
      var received: [(SyncToken, EventSource.Event)] = []
      for await event in events { received.append(event) }
      return received
    }
    for (id, event) in received { try await take(event, id, system) }
    if received.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
  }

  private mutating func take(_ event: EventSource.Event, _ id: SyncToken, _ system: TortureSystem) async throws {
    events += 1
    defer { token = id }
    guard event.type.isEmpty else { return }
    let news = try event.news()
    guard news.token == id else {
      throw Ledger.Violation(description: "the id of an event is \(id), its token \(news.token)")
    }
    guard let token, token.epoch == id.epoch else { return }
    guard id.version > token.version else {
      throw Ledger.Violation(description: "events went back from \(token) to \(id)")
    }
    // An event that lists all ids must omit none. Items that have changed again since then are in a later event.
    guard !news.ids.isEmpty, news.ids.count < ChangeEvent.maximumIDs else { return }
    let names = topics.isEmpty ? [""] : topics
    let rows = try? await system.sql.query(
      """
      SELECT DISTINCT item FROM change_log
      WHERE scope = ANY (\(names)) AND version > \(token.version) AND version <= \(id.version)
        AND (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) = \(id.epoch)
      """)
    guard let rows else { return }
    for row in rows where !news.ids.contains(try row.decode("item")) {
      throw Ledger.Violation(
        description: "an event from \(token) to \(id) omits \(try row.decode("item", as: UUID.self))")
    }
  }
}
