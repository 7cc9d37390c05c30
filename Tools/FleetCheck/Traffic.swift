import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// The requests to a set of servers, and the counts of their responses.
final class Traffic: Sendable {
  /// A response whose body was read.
  struct Response: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data
  }

  /// The counts so far.
  struct Counts: Sendable {
    var requests = 0
    var statuses: [Int: Int] = [:]
    var bodyBytes = 0
    /// The requests that the phone itself has given up, such as the long poll of an app that is closed.
    var cancelled = 0
    /// The requests without a response, by the description of the error.
    var errors: [String: Int] = [:]
  }

  /// The error for a response with another status than the expected ones.
  struct UnexpectedStatus: Error, CustomStringConvertible {
    let status: Int
    let target: String
    let body: String

    var description: String { "\(target) was answered with \(status): \(body)" }
  }

  /// The maximum size of a body in bytes.
  private static let maximumBody = 8 << 20
  /// A long poll is answered after 50 seconds.
  private static let timeout = TimeAmount.seconds(70)

  private let client: HTTPClient
  private let counted = Mutex(Counts())

  var counts: Counts { counted.withLock { $0 } }

  /// - Parameter connections: The maximum number of connections to a server. All phones share them, because only
  ///   requests are counted.
  init(connections: Int) {
    var configuration = HTTPClient.Configuration()
    configuration.decompression = .disabled
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    configuration.timeout = .init(connect: .seconds(10))
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  func shutdown() async throws { try await client.shutdown() }

  /// Sends a request, and reads the response.
  ///
  /// - Parameters:
  ///   - url: The address of the server with the target.
  ///   - json: The body; nil for none.
  /// - Throws: The errors of the client.
  func send(
    _ method: HTTPMethod, _ url: String, _ fields: [(String, String)] = [], json: Data? = nil
  ) async throws -> Response {
    var request = HTTPClientRequest(url: url)
    request.method = method
    request.headers = HTTPHeaders(Self.common + fields)
    if let json {
      request.headers.add(name: "Content-Type", value: "application/json")
      request.body = .bytes(json)
    }
    let response = try await measured { try await client.execute(request, timeout: Self.timeout) }
    let body = try await response.body.collect(upTo: Self.maximumBody)
    counted.withLock { $0.bodyBytes += body.readableBytes }
    return Response(
      status: Int(response.status.code), headers: response.headers,
      body: Data(body.readableBytesView))
  }

  /// Opens a stream of events.
  ///
  /// - Throws: The errors of the client; ``UnexpectedStatus``.
  func events(_ url: String, after token: String) async throws -> HTTPClientResponse.Body {
    var request = HTTPClientRequest(url: url)
    request.headers = ["User-Agent": "News/1.0 (Linux)", "Accept": "text/event-stream", "Last-Event-ID": token]
    let response = try await measured { try await client.execute(request, timeout: .hours(1)) }
    guard response.status == .ok else {
      throw UnexpectedStatus(status: Int(response.status.code), target: url, body: "")
    }
    return response.body
  }

  private func measured(_ send: () async throws -> HTTPClientResponse) async throws -> HTTPClientResponse {
    counted.withLock { $0.requests += 1 }
    do {
      let response = try await send()
      counted.withLock { $0.statuses[Int(response.status.code), default: 0] += 1 }
      return response
    } catch {
      let isCancelled = Task.isCancelled
      counted.withLock { counts in
        if isCancelled { counts.cancelled += 1 } else { counts.errors["\(error)", default: 0] += 1 }
      }
      throw error
    }
  }

  /// The fields that the client sends with each request (`HTTPRequester`).
  private static let common = [
    ("User-Agent", "News/1.0 (Linux)"), ("Accept", "application/json"), ("Accept-Encoding", "gzip"),
  ]
}
