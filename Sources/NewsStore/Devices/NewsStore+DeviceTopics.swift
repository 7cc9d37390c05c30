import Foundation
import PostgresClient

extension NewsStore {
  /// The maximum number of devices that a transaction changes.
  private static let topicBatch: Int32 = 1000

  /// Replaces a topic that devices follow by others, in batches. A device that follows nothing else, and receives no other
  /// topic, then follows nothing.
  ///
  /// A deleted topic that a device keeps does no harm, because it has no items. Batches can therefore follow the deletion,
  /// and hold up no writer of items.
  ///
  /// - Parameter others: The topics that the devices receive; with the topic itself among them they keep it.
  /// - Throws: `StoreError.unavailable`, `outcomeUnknown`.
  func replaceDeviceTopic(_ slug: String, by others: [String]) async throws {
    var last: UUID? = nil
    repeat {
      let start = last
      last = try await deliveryDatabase.transaction { transaction in
        let rows = try await transaction.query(Self.topicReplacement(slug, by: others, after: start))
        return try rows.first?.decode("id", as: UUID.self)
      }
    } while last != nil
  }

  /// The statement for the next devices after an id. It returns the last of them.
  private static func topicReplacement(_ slug: String, by others: [String], after last: UUID?) -> PostgresQuery {
    let position: PostgresQuery = last.map { "d.id > \($0)" } ?? "true"
    return """
      WITH batch AS MATERIALIZED (
        SELECT d.id FROM devices AS d WHERE \(query: position) AND d.topics @> ARRAY[\(slug)]
        ORDER BY d.id LIMIT \(topicBatch) FOR NO KEY UPDATE
      ), changed AS (
        UPDATE devices AS d SET topics = ARRAY(
          SELECT DISTINCT t.slug FROM unnest(array_remove(d.topics, \(slug)) || \(others)) AS t (slug) ORDER BY t.slug)
        FROM batch AS b WHERE d.id = b.id AND d.topics @> ARRAY[\(slug)]
      )
      SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1
      """
  }
}
