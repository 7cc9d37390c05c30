public import Foundation
import PostgresClient

/// A stretch of history in which a version stands for one state.
public struct Epoch: Sendable, Equatable {
  /// The random name, which is part of tokens.
  public var id: String
  /// Tokens of the epoch before it are good up to this version.
  public var startsAfter: Int
  /// Whether it goes on from the epoch before it; false for the first, and where the chain was cut.
  public var isContinuation: Bool
  /// When it was begun.
  public var created: Date
}

extension NewsStore {
  /// All epochs, the present one first.
  public func epochs() async throws -> [Epoch] {
    try await database.query("SELECT id, starts_after, parent, created_at FROM epochs ORDER BY number DESC").map {
      row in
      Epoch(
        id: try row.decode("id"), startsAfter: try row.decode("starts_after"),
        isContinuation: try row.decode("parent", as: Int?.self) != nil, created: try row.decode("created_at"))
    }
  }

  /// Begins an epoch that goes on from none: no token that was given out before is good any more.
  ///
  /// - Returns: Its id.
  public func cutEpoch() async throws -> String {
    // Servers that run need not wait until they ask.
    let rows = try await database.query(
      "SELECT e.id, pg_notify('tidings', 'epoch') FROM begin_epoch(true) AS e (id)")
    guard let row = rows.first else { throw StoreFault("begin_epoch() returned nothing") }
    return try row.decode("id")
  }
}
