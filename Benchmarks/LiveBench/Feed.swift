import Foundation
import News
import TestSockets

/// A server, as an editor and a client see it.
struct Feed {
  private let connection: BlockingConnection
  private let key: String

  init(port: Int, key: String = "") throws {
    connection = try BlockingConnection(port: port)
    self.key = key
  }

  /// Publishes an item.
  ///
  /// - Returns: Its version, once it is acknowledged.
  func publish() throws -> Int {
    let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
    let answer = try connection.ask(
      """
      POST /v1/editorial/items HTTP/1.1\r
      Host: localhost\r
      Authorization: Bearer \(key)\r
      Content-Type: application/json\r
      Content-Length: \(body.utf8.count)\r
      \r
      \(body)
      """)
    return try NewsJSON.decode(EditorialItem.self, from: answer).item.version
  }

  /// The token of all items.
  func token() throws -> SyncToken {
    try NewsJSON.decode(
      FeedState.self, from: connection.ask("GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
    ).feed
  }
}
