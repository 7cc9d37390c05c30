import AsyncHTTPClient
package import Foundation
package import HTTPEdge
import Hummingbird
import NIOCore
import NIOHTTP1
package import News
package import NewsAPI
package import NewsStore
package import PostgresClient
import ServiceLifecycle
import TestKit

/// The API on a real socket over a new database. Every response is checked against `openapi.yaml`.
package struct TestServer: Sendable {
  /// An editor's key.
  package let key: String
  package let store: NewsStore
  /// A pool for plain SQL beside the server.
  package let sql: PostgresPool
  package let url: String
  package let port: Int
  private let client: TestClient
  private let modules: Modules

  /// The server that the cases of a test with the trait `.sharedServer` use.
  @TaskLocal static var shared: TestServer?

  /// Returns the modules that are served beside the API.
  package typealias Modules = @Sendable (NewsAPI) -> [any RouteModule]

  /// Runs the body with a server.
  ///
  /// - Parameters:
  ///   - limits: The limits of its connections.
  ///   - staleLimit: The time for which it serves from memory while the database is unreachable.
  ///   - waits: The limits of waits for `at` tokens.
  ///   - change: A function that changes further settings.
  ///   - modules: Returns further modules to serve. Their responses are not part of the contract.
  package static func with<Value: Sendable>(
    limits: ConnectionLimits = .prompt, staleLimit: Duration = .seconds(60),
    waits: NewsStore.WaitLimits = NewsStore.WaitLimits(),
    settings change: @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    modules: @escaping Modules = { _ in [] },
    _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    try await NewsDatabase.withStore(staleLimit: staleLimit, waits: waits) { store, sql in
      try await runFollowing(
        store, sql, modules,
        {
          $0.limits = limits
          change(&$0)
        }, body)
    }
  }

  /// Runs the body with the server that the cases of a test share, or with a new one.
  package static func withShared(_ body: @Sendable (TestServer) async throws -> Void) async throws {
    guard let shared else { return try await with(body) }
    try await body(shared)
  }

  /// Runs the body with a server whose connections to the database pass a proxy, unlike those of `sql`.
  package static func withProxiedDatabase(
    _ body: @Sendable (TestServer, FaultyProxy) async throws -> Void
  ) async throws {
    try await NewsDatabase.with { url in
      guard let parts = URLComponents(string: url), let port = parts.port else {
        throw TestResponse.Unexpected(description: "the address of the database has no port")
      }
      try await FaultyProxy.with(serverPort: port) { proxy in
        var proxied = parts
        proxied.port = proxy.port
        let store = NewsStore(
          connection: .forBusyMachine(proxied.string ?? url), pool: .forBusyMachine, logger: NewsDatabase.logger)
        let sql = PostgresPool(configuration: .forBusyMachine(url), pool: .forBusyMachine, logger: NewsDatabase.logger)
        try await withResource(store, release: { await $0.shutdown() }) { store in
          try await withResource(sql, release: { await $0.shutdown() }) { sql in
            try await runFollowing(store, sql, { _ in [] }, { _ in }) { try await body($0, proxy) }
          }
        }
      }
    }
  }

  /// Runs a server with a store that follows its database, and a key of an editor.
  private static func runFollowing<Value: Sendable>(
    _ store: NewsStore, _ sql: PostgresPool, _ modules: @escaping Modules,
    _ change: (inout NewsAPI.Settings) -> Void, _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    let key = try await store.createKey(name: "desk", permissions: [.itemsPublish])
    let following = Task { await store.follow() }
    defer { following.cancel() }
    try await eventually("the state is known") { store.cachedSnapshot != nil }
    return try await run(store, sql, key: key, modules, change, body)
  }

  /// Runs another server over the same database, with other settings.
  package func beside<Value: Sendable>(
    _ change: @Sendable (inout NewsAPI.Settings) -> Void, _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    try await Self.run(store, sql, key: key, modules, change, body)
  }

  private static func run<Value: Sendable>(
    _ store: NewsStore, _ sql: PostgresPool, key: String, _ modules: @escaping Modules,
    _ change: (inout NewsAPI.Settings) -> Void,
    _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    var settings = NewsAPI.Settings()
    settings.limits = .prompt
    change(&settings)
    let api = NewsAPI(store: store, settings: settings)
    let (ports, found) = AsyncStream.makeStream(of: Int.self)
    let application = api.application(
      address: .hostname("127.0.0.1", port: 0), logger: NewsDatabase.logger, modules: modules(api)
    ) {
      found.yield($0.localAddress?.port ?? 0)
    }
    var configuration = ServiceGroupConfiguration(services: [application], logger: NewsDatabase.logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    let group = ServiceGroup(configuration: configuration)
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { [group] in
        defer { found.finish() }
        try await group.run()
      }
      var iterator = ports.makeAsyncIterator()
      guard let port = await iterator.next() else {
        try await tasks.waitForAll()
        throw TestResponse.Unexpected(description: "the server ended before it listened")
      }
      let http = HTTPClient()
      let url = "http://127.0.0.1:\(port)"
      let server = TestServer(
        key: key, store: store, sql: sql, url: url, port: port, client: TestClient(url: url, http: http),
        modules: modules)
      let result: Result<Value, any Error>
      do { result = .success(try await body(server)) } catch { result = .failure(error) }
      try? await http.shutdown()
      // SwiftNIO traps if the tasks are cancelled while a connection is accepted but not yet taken.
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
      return try result.get()
    }
  }

  /// Sends a request and checks the response against the contract.
  ///
  /// - Parameters:
  ///   - target: The path and query.
  ///   - key: The API key; nil for none.
  package func send(
    _ method: String, _ target: String, key: String? = nil, headers: [(String, String)] = [], body: String? = nil,
    file: Data? = nil
  ) async throws -> TestResponse {
    try await client.send(method, target, key: key, headers: headers, body: body, file: file)
  }

  /// Sends a public read.
  package func get(_ target: String, _ headers: (String, String)...) async throws -> TestResponse {
    try await send("GET", target, headers: headers)
  }

  /// Sends an editorial write with a JSON body.
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
    let response = try await write(
      "POST", "items", #"{"date": "\#(date)", "text": "\#(text)", "topics": [\#(topics)]\#(title)}"#)
    return try response.json(EditorialItem.self, status: 201)
  }

  /// Creates topics through the API.
  package func makeTopics(_ slugs: [String]) async throws {
    for slug in slugs { _ = try await write("POST", "topics", #"{"slug": "\#(slug)"}"#) }
  }
}

extension ConnectionLimits {
  /// The limits of a server whose idle connections are closed at once when it stops.
  package static var prompt: ConnectionLimits {
    var limits = ConnectionLimits()
    limits.drainTimeout = .zero
    return limits
  }
}
