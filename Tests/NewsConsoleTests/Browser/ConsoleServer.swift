import Foundation
import HTTPEdge
import MediaFiles
import News
import NewsAPI
import NewsConsole
import NewsStore
import TestSupport
import Testing

/// A server with the console, which stores files in its own folder.
struct ConsoleServer: Sendable {
  let server: TestServer

  /// The server that the cases of a test with the trait `.sharedConsole` use.
  @TaskLocal static var shared: ConsoleServer?

  var store: NewsStore { server.store }

  /// Runs the body with a server.
  ///
  /// - Parameters:
  ///   - signIns: The maximum number of attempts to sign in per minute.
  ///   - change: A function that changes further settings of the API.
  ///   - changeConsole: A function that changes further settings of the console.
  static func with<Value: Sendable>(
    signIns: Int = 1_000_000, settings change: @escaping @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    console changeConsole: @escaping @Sendable (inout NewsConsole.Settings) -> Void = { _ in },
    _ body: @Sendable (ConsoleServer) async throws -> Value
  ) async throws -> Value {
    try await withMediaFolder { folder in
      let storage = try MediaDirectory(folder)
      return try await TestServer.with(
        settings: {
          $0.media = storage
          change(&$0)
        },
        modules: { api in
          var settings = NewsConsole.Settings()
          settings.signInsPerMinute = signIns
          changeConsole(&settings)
          return [NewsConsole(api: api, settings: settings)]
        },
        { try await body(ConsoleServer(server: $0)) })
    }
  }

  /// Runs the body with the server that the cases of a test share, or with a new one.
  static func withShared(_ body: @Sendable (ConsoleServer) async throws -> Void) async throws {
    guard let shared else { return try await with(body) }
    try await body(shared)
  }

  /// Returns a browser that has no session.
  ///
  /// - Parameter headers: Fields of each of its requests, such as those that a proxy would add.
  func browser(_ headers: [(String, String)] = []) -> ConsoleBrowser { ConsoleBrowser(url: server.url, headers) }

  /// Returns a browser that has signed in with a new key.
  func signedIn(
    _ permissions: [APIKey.Permission] = [.itemsPublish, .mediaWrite], topics: [String]? = nil, name: String = "mara"
  ) async throws -> ConsoleBrowser {
    let key = try await store.createKey(name: name, permissions: permissions, topics: topics)
    let browser = browser()
    try await browser.signIn(key)
    return browser
  }

  /// Creates an item through the API, and returns it.
  func item(_ fields: String) async throws -> EditorialItem {
    try await server.write("POST", "items", "{\(fields)}").json(EditorialItem.self, status: 201)
  }

  /// Returns the path of an item in the console.
  static func path(_ item: EditorialItem) -> String { "/console/items/\(item.item.id.uuidString.lowercased())" }
}

extension Trait where Self == SharedResource<ConsoleServer> {
  /// One server with the default settings for all cases, which receive it from `ConsoleServer.withShared`.
  static var sharedConsole: Self { SharedResource(ConsoleServer.$shared) { try await ConsoleServer.with($0) } }
}
