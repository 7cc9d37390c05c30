import AsyncHTTPClient
package import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
package import News
package import NewsAPI
package import NewsStore
package import PostgresClient
import ServiceLifecycle

/// The API on a real socket over a fresh database. Every response is held to `openapi.yaml`.
package struct TestServer: Sendable {
  /// A key of an editor.
  package let key: String
  package let store: NewsStore
  /// Plain SQL beside the server.
  package let sql: PostgresPool
  package let url: String
  package let port: Int
  private let client: HTTPClient

  /// Runs a server during the body.
  ///
  /// - Parameters:
  ///   - now: The server's clock.
  ///   - limits: Of its connections.
  package static func with<Value: Sendable>(
    now: @escaping @Sendable () -> Date = { Date() }, limits: ConnectionLimits = ConnectionLimits(),
    _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    try await NewsDatabase.withStore { store, sql in
      var settings = NewsAPI.Settings(openAPI: try Data(contentsOf: Project.root.appending(path: "openapi.yaml")))
      settings.now = now
      settings.limits = limits
      let api = NewsAPI(store: store, settings: settings)
      let (ports, found) = AsyncStream.makeStream(of: Int.self)
      let application = api.application(address: .hostname("127.0.0.1", port: 0), logger: NewsDatabase.logger) {
        found.yield($0.localAddress?.port ?? 0)
      }
      let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(services: [application], logger: NewsDatabase.logger))
      return try await withThrowingTaskGroup(of: Value?.self) { tasks in
        tasks.addTask(executorPreference: PostgresExecutor.shared) {
          try await group.run()
          return nil
        }
        defer { tasks.cancelAll() }
        var iterator = ports.makeAsyncIterator()
        let port = await iterator.next() ?? 0
        let client = HTTPClient()
        let server = TestServer(
          key: try await store.createKey(name: "desk", scopes: [.itemsWrite]), store: store, sql: sql,
          url: "http://127.0.0.1:\(port)", port: port, client: client)
        do {
          let value = try await body(server)
          try await client.shutdown()
          await group.triggerGracefulShutdown()
          return value
        } catch {
          try? await client.shutdown()
          await group.triggerGracefulShutdown()
          throw error
        }
      }
    }
  }

  /// Sends a request and holds its answer to the contract.
  ///
  /// - Parameters:
  ///   - target: Path and query.
  ///   - key: nil for none.
  package func send(
    _ method: String, _ target: String, key: String? = nil, headers: [(String, String)] = [], body: String? = nil
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
    let response = try await client.execute(request, timeout: .seconds(60))
    let bytes = try await response.body.collect(upTo: 1 << 24)
    let answer = TestResponse(
      status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
      body: Data(bytes.readableBytesView))
    try Contract.shared.get().check(
      method: method, target: target, status: answer.status, headers: answer.headers,
      body: answer["Content-Encoding"] == "gzip" ? try answer.body.gunzipped() : answer.body)
    return answer
  }

  /// A public read.
  package func get(_ target: String, _ headers: (String, String)...) async throws -> TestResponse {
    try await send("GET", target, headers: headers)
  }

  /// An editor's write of a JSON body.
  package func write(
    _ method: String, _ path: String, _ body: String? = nil, _ headers: (String, String)...
  ) async throws -> TestResponse {
    try await send(method, "/v1/editorial/" + path, key: key, headers: headers, body: body)
  }

  /// Publishes an item through the API.
  package func publish(
    _ text: String, date: String = "2026-01-01T00:00:00Z", topics: [String] = [], title: String? = nil
  ) async throws -> EditorialItem {
    let title = title.map { #", "title": "\#($0)""# } ?? ""
    let topics = topics.map { "\"\($0)\"" }.joined(separator: ",")
    let answer = try await write(
      "POST", "items", #"{"date": "\#(date)", "text": "\#(text)", "topics": [\#(topics)]\#(title)}"#)
    return try answer.json(EditorialItem.self, status: 201)
  }

  /// Makes topics through the API.
  package func makeTopics(_ slugs: [String]) async throws {
    for slug in slugs { _ = try await write("POST", "topics", #"{"slug": "\#(slug)"}"#) }
  }
}

/// An answer, read to its end.
package struct TestResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Data

  /// The value of a field, nil where it is absent.
  package subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The target of the next page.
  package var next: String? {
    self["Link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
  }

  package var text: String { String(decoding: body, as: UTF8.self) }

  /// Another status than the one that was asked for.
  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// Decodes the body of an answer with a status.
  package func json<Value: Decodable>(_ type: Value.Type, status expected: Int = 200) throws -> Value {
    guard status == expected else { throw Unexpected(description: "\(status) instead of \(expected): \(text)") }
    return try NewsJSON.decode(type, from: body)
  }
}
