import Foundation
import News
import TestKit

/// A connection to a server, for an editor or a reader.
struct Feed {
  private let connection: BlockingConnection
  private let key: String

  init(port: Int, key: String = "") throws {
    connection = try BlockingConnection(port: port)
    self.key = key
  }

  /// Publishes an item and waits for the acknowledgement.
  ///
  /// - Parameter topics: The topics of the item.
  /// - Returns: The version of the item.
  func publish(topics: [String] = []) throws -> Int { try create(topics: topics).item.version }

  /// Publishes an item and waits for the acknowledgement.
  func create(topics: [String] = []) throws -> EditorialItem {
    let names = topics.map { "\"\($0)\"" }.joined(separator: ", ")
    let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x", "topics": [\#(names)]}"#
    let answer = try connection.exchange(
      """
      POST /v1/editorial/items HTTP/1.1\r
      Host: localhost\r
      Authorization: Bearer \(key)\r
      Content-Type: application/json\r
      Content-Length: \(body.utf8.count)\r
      \r
      \(body)
      """)
    return try NewsJSON.decode(EditorialItem.self, from: answer)
  }

  /// Returns the current token of the feed.
  func token() throws -> SyncToken {
    try NewsJSON.decode(
      FeedState.self, from: connection.exchange("GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
    ).feed
  }
}
