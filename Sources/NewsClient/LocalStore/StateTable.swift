import BackgroundFetch
import Foundation
import GRDB
import News

/// The single values of a store, within a transaction.
struct StateTable {
  enum Name: String {
    case sync, schedule, snapshot
  }

  let db: Database

  init(_ db: Database) { self.db = db }

  /// How far the stored items follow which source; nil where nothing has been fetched.
  var sync: SyncState? {
    get throws { try value(SyncState.self, .sync) }
  }

  /// How far the items follow a source; from the beginning where another one was followed before.
  func sync(_ source: Source) throws -> SyncState {
    guard let state = try sync, state.source == source else { return SyncState(source: source) }
    return state
  }

  func save(_ state: SyncState) throws { try save(state, .sync) }

  /// A value; nil where there is none, or where it is of a form that this build does not know.
  func value<Value: Decodable>(_ type: Value.Type, _ name: Name) throws -> Value? {
    try json(name).flatMap { try? JSONDecoder().decode(type, from: $0) }
  }

  /// The bytes of a value as they are stored.
  func json(_ name: Name) throws -> Data? {
    try Data.fetchOne(db, sql: "SELECT json FROM state WHERE name = ?", arguments: [name.rawValue])
  }

  func save(_ value: some Encodable, _ name: Name) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try db.execute(
      sql: "INSERT OR REPLACE INTO state (name, json) VALUES (?, ?)",
      arguments: [name.rawValue, try encoder.encode(value)])
  }
}
