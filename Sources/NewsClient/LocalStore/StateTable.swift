import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import News

/// The single values of a store, within a transaction.
struct StateTable {
  enum Name: String {
    case sync, schedule, snapshot, pushes, notificationFailures, failing
  }

  let db: Database

  init(_ db: Database) { self.db = db }

  /// The synchronization state and its feed; nil before the first fetch.
  var sync: SyncState? {
    get throws { try value(SyncState.self, .sync) }
  }

  /// Returns the synchronization state of a feed, which is empty if another feed was followed before.
  func sync(_ feed: FollowedFeed) throws -> SyncState {
    guard let state = try sync, state.feed == feed else { return SyncState(feed: feed) }
    return state
  }

  func save(_ state: SyncState) throws { try save(state, .sync) }

  /// Returns a value; nil if there is none, or if this build does not know its form.
  func value<Value: Decodable>(_ type: Value.Type, _ name: Name) throws -> Value? {
    try json(name).flatMap { try? JSONDecoder().decode(type, from: $0) }
  }

  /// Returns the stored JSON of a value.
  func json(_ name: Name) throws -> Data? {
    try Data.fetchOne(db, sql: "SELECT json FROM state WHERE name = ?", arguments: [name.rawValue])
  }

  func save(_ value: some Encodable, _ name: Name) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try db.execute("INSERT OR REPLACE INTO state (name, json) VALUES (?, ?)", name.rawValue, try encoder.encode(value))
  }
}
