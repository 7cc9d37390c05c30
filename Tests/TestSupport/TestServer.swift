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
  private let client: TestClient

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
        let http = HTTPClient()
        let url = "http://127.0.0.1:\(port)"
        let server = TestServer(
          key: try await store.createKey(name: "desk", scopes: [.itemsWrite]), store: store, sql: sql,
          url: url, port: port, client: TestClient(url: url, http: http))
        do {
          let value = try await body(server)
          try await http.shutdown()
          await group.triggerGracefulShutdown()
          return value
        } catch {
          try? await http.shutdown()
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
    try await client.send(method, target, key: key, headers: headers, body: body)
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
