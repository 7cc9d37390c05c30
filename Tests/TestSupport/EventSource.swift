package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
package import News

/// A minimal client of server-sent events (HTML standard, section 9.2) for tests.
package struct EventSource {
  package struct Event: Sendable, Equatable {
    /// The event type; empty for an ordinary event.
    package var type = ""
    package var data = ""

    package init(type: String = "", data: String = "") {
      self.type = type
      self.data = data
    }

    /// Decodes the data of an ordinary event.
    package func news() throws -> ChangeEvent { try NewsJSON.decode(ChangeEvent.self, from: .init(data.utf8)) }
  }

  package let response: TestResponse
  /// The last `id` received.
  package private(set) var lastEventID: String?
  /// The last `retry` received.
  package private(set) var retry: Int?
  /// The number of comments received.
  package private(set) var comments = 0
  private var chunks: HTTPClientResponse.Body.AsyncIterator
  private var line: [UInt8] = []
  private var rest: ByteBuffer?
  private var event = Event()

  /// Opens a stream.
  ///
  /// - Parameters:
  ///   - url: The URL of the server without a path.
  ///   - path: The path of the stream.
  ///   - query: The query with its question mark.
  package init(
    _ url: String, path: String = "/v1/events", _ query: String = "", lastEventID: String? = nil,
    cookie: String? = nil, http: HTTPClient = TestClient.withoutRetries
  ) async throws {
    var request = HTTPClientRequest(url: url + path + query)
    if let cookie { request.headers.add(name: "Cookie", value: cookie) }
    if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
    let answer = try await http.execute(request, deadline: .distantFuture)
    response = TestResponse(
      status: Int(answer.status.code), headers: answer.headers.map { ($0.name, $0.value) }, body: .init())
    chunks = answer.body.makeAsyncIterator()
    guard answer.status == .ok else {
      throw TestResponse.Unexpected(description: "\(answer.status.code) instead of a stream")
    }
  }

  /// Returns the next event; nil at a regular end.
  ///
  /// - Throws: An error if the stream is cut off.
  package mutating func next() async throws -> Event? {
    while let line = try await nextLine() {
      if line.isEmpty {
        defer { event = Event() }
        if !event.data.isEmpty { return event }
        continue
      }
      if line.hasPrefix(":") { comments += 1 }
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count < 2 ? "" : String(parts[1].drop { $0 == " " })
      switch parts[0] {
      case "id": lastEventID = value
      case "retry": retry = Int(value)
      case "event": event.type = value
      case "data": event.data += value
      default: break
      }
    }
    return nil
  }

  private mutating func nextLine() async throws -> String? {
    while true {
      while let byte: UInt8 = rest?.readInteger() {
        if byte == UInt8(ascii: "\n") {
          defer { line = [] }
          return String(decoding: line, as: UTF8.self)
        }
        line.append(byte)
      }
      rest = try await chunks.next()
      if rest == nil { return nil }
    }
  }
}
