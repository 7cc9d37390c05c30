public import Foundation
import PostgresClient

/// A part of the feed's history in which each version stands for one state.
public struct Epoch: Sendable, Equatable {
  /// The random id, which is part of tokens.
  public var id: String
  /// The version up to which tokens of the previous epoch are valid.
  public var startsAfter: Int
  /// Whether the epoch continues the previous one; false for the first, and where the chain was cut.
  public var isContinuation: Bool
  /// The time at which the epoch began.
  public var created: Date
}

extension NewsStore {
  /// Reads all epochs, the current one first.
  public func epochs() async throws -> [Epoch] {
    try await database.query("SELECT id, starts_after, parent, created_at FROM epochs ORDER BY number DESC").map {
      row in
      Epoch(
        id: try row.decode("id"), startsAfter: try row.decode("starts_after"),
        isContinuation: try row.decode("parent", as: Int?.self) != nil, created: try row.decode("created_at"))
    }
  }

  /// Begins an epoch without a parent, which invalidates all earlier tokens. The library of files gets another id, so that
  /// the database leaves the folder of its original alone until an operator adopts it.
  ///
  /// - Returns: The id of the epoch.
  public func cutEpoch() async throws -> String {
    // The notification reaches running servers before their next poll.
    let rows = try await database.query(
      """
      WITH renewed AS (UPDATE media_library SET id = gen_random_uuid())
      SELECT e.id, pg_notify('tidings', 'epoch') FROM begin_epoch(true) AS e (id)
      """)
    guard let row = rows.first else { throw StoreFault("begin_epoch() returned nothing") }
    return try row.decode("id")
  }
}
