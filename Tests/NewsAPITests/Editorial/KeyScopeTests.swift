import HTTPEdge
import Logging
import NIOCore
import NewsAPI
import NewsStore
import Synchronization
import TestSupport
import Testing

/// The editorial paths that keys may use.
@Suite struct KeyScopeTests {
  private static let operations = ((try? Contract.shared.get().operations) ?? []).filter {
    $0.path.hasPrefix("/v1/editorial/")
  }.sorted()

  /// Sends a request that the router passes to the operation's handler. Any response of the handler means that the key
  /// was accepted.
  private static func status(of operation: Contract.Operation, key: String, _ server: TestServer) async throws -> Int {
    let id = "019a0000-0000-7000-8000-000000000000"
    let target = operation.path.replacing("{id}", with: id).replacing("{delivery}", with: id)
      .replacing("{slug}", with: "nowhere")
    let hasBody = ["POST", "PUT", "PATCH"].contains(operation.method)
    return try await server.send(operation.method, target, key: key, body: hasBody ? "{}" : nil).status
  }

  @Test("A key with the scope admin may use every editorial operation", .sharedServer, arguments: operations)
  func admin(operation: Contract.Operation) async throws {
    try await TestServer.withShared { server in
      let key = try await server.store.createKey(name: "operator", permissions: [.admin])
      #expect(![401, 403].contains(try await Self.status(of: operation, key: key, server)))
    }
  }

  @Test("A key without the scope of an operation may not use it", .sharedServer, arguments: operations)
  func others(operation: Contract.Operation) async throws {
    try await TestServer.withShared { server in
      let isMedia = operation.path.hasPrefix("/v1/editorial/media")
      let other: APIKey.Permission =
        switch (isMedia, operation.method) {
        case (true, "GET"): .pushSend
        case (true, _): .itemsPublish
        case (false, _): .mediaWrite
        }
      let key = try await server.store.createKey(name: "other", permissions: [other])
      #expect(try await Self.status(of: operation, key: key, server) == 403)
    }
  }

  @Test(
    "A key for drafts may not change topics, erase items, or see subscriptions, webhooks and pushes", .sharedServer,
    arguments: operations)
  func drafts(operation: Contract.Operation) async throws {
    try await TestServer.withShared { server in
      let key = try await server.store.createKey(name: "intern", permissions: [.itemsWrite])
      let isPublishing =
        operation.path.hasSuffix("/erase")
        || operation.path.hasPrefix("/v1/editorial/topics") && operation.method != "GET"
      let isMedia = operation.path.hasPrefix("/v1/editorial/media") && operation.method != "GET"
      let isAdministration = ["subscriptions", "webhooks", "pushes"].contains {
        operation.path.hasPrefix("/v1/editorial/\($0)")
      }
      let isRefused = try await Self.status(of: operation, key: key, server) == 403
      #expect(isRefused == (isPublishing || isMedia || isAdministration))
    }
  }

  @Test("Clients without a key cause a burst of at most 600 log lines, and ten per second after that")
  func lineLimit() {
    let seconds = Mutex<Int64>(1000)
    let limit = LogLineLimit { .uptimeNanoseconds(0) + .seconds(seconds.withLock { $0 }) }
    func lines() -> [Logger.Metadata] { (0..<1000).compactMap { _ in limit.line() } }
    let first = lines()
    #expect(first.count == 600 && first.allSatisfy(\.isEmpty))
    seconds.withLock { $0 += 3 }
    let later = lines()
    #expect(later.count == 30 && later[0] == ["suppressed": "400"] && later.dropFirst().allSatisfy(\.isEmpty))
    seconds.withLock { $0 += 3 }
    #expect(limit.line() == ["suppressed": "970"])
    let few = LogLineLimit(perMinute: 6) { .uptimeNanoseconds(0) + .seconds(seconds.withLock { $0 }) }
    #expect((0..<100).count { _ in few.line() != nil } == 6)
    seconds.withLock { $0 += 10 }
    #expect(few.line() == ["suppressed": "94"] && few.line() == nil)
  }
}
