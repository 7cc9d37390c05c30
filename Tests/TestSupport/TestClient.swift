package import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
import News

/// A client that checks each response against `openapi.yaml`.
package struct TestClient: Sendable {
  /// The scheme and authority.
  package let url: String
  private let http: HTTPClient
  private let isProxy: Bool

  /// Creates a client.
  ///
  /// - Parameter isProxy: Whether the server is a proxy that adds responses and fields of its own.
  package init(url: String, http: HTTPClient = TestClient.withoutRetries, isProxy: Bool = false) {
    self.url = url
    self.http = http
    self.isProxy = isProxy
  }

  /// An HTTP client that does not retry a failed connection.
  package static let withoutRetries: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    // Each long poll occupies a connection.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
    // A busy machine may be slow to accept connections.
    configuration.timeout.connect = .seconds(50)
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  /// Sends a request and reads the complete response, within a minute.
  ///
  /// - Parameters:
  ///   - target: The path and query.
  ///   - key: The API key; nil for none.
  ///   - body: JSON, unless the headers contain another `Content-Type`.
  ///   - file: A binary body, instead of a text body.
  package func send(
    _ method: String, _ target: String, key: String? = nil, headers: [(String, String)] = [], body: String? = nil,
    file: Data? = nil
  ) async throws -> TestResponse {
    var request = HTTPClientRequest(url: url + target)
    request.method = .init(rawValue: method)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
    if let body {
      if !request.headers.contains(name: "Content-Type") {
        request.headers.add(name: "Content-Type", value: "application/json")
      }
      request.body = .bytes(ByteBuffer(string: body))
    }
    if let file { request.body = .bytes(ByteBuffer(bytes: file)) }
    let response = try await http.execute(request, timeout: .seconds(60))
    let bytes = try await response.body.collect(upTo: 1 << 24)
    var answer = TestResponse(
      status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
      body: Data(bytes.readableBytesView))
    if isProxy {
      if [502, 504].contains(answer.status) { return answer }
      answer.headers.removeAll { ["Server", "Age", "Via"].contains($0.name) }
    }
    // The pages of the console are not part of the contract.
    if target.hasPrefix("/console") { return answer }
    try Contract.shared.get().check(
      method: method, target: target, status: answer.status, headers: answer.headers,
      body: answer["Content-Encoding"] == "gzip" ? try answer.body.gunzipped() : answer.body)
    return answer
  }
}

/// A complete response.
package struct TestResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Data

  package init(status: Int, headers: [(name: String, value: String)], body: Data) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// The value of the first field with a name; nil if there is none.
  package subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The target of the next page.
  package var next: String? {
    self["Link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
  }

  package var text: String { String(decoding: body, as: UTF8.self) }

  /// A response with an unexpected status.
  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// Decodes the body of a response with the expected status.
  package func json<Value: Decodable>(_ type: Value.Type, status expected: Int = 200) throws -> Value {
    guard status == expected else { throw Unexpected(description: "\(status) instead of \(expected): \(text)") }
    return try NewsJSON.decode(type, from: body)
  }
}
