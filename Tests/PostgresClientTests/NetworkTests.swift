import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Broken networks")
struct NetworkTests {
  /// Runs the body with a pool of one connection through the proxy, and a pool with a direct connection.
  private func withProxy(
    timeout: Duration = .seconds(60),
    _ body: @Sendable (FaultyProxy, _ pool: PostgresPool, _ direct: PostgresPool) async throws -> Void
  ) async throws {
    try await withAddresses { proxy, proxied, url in
      try await withPool(url: url, size: 1) { direct in
        try await withPool(
          url: proxied, size: 1, configure: { configuration, _ in configuration.statementTimeout = timeout }
        ) { pool in
          _ = try await direct.query("CREATE TABLE a (n int8)")
          try await body(proxy, pool, direct)
        }
      }
    }
  }

  /// Runs the body with a proxy, and the addresses of a database through it and without it.
  private func withAddresses(
    _ body: @Sendable (FaultyProxy, _ proxied: String, _ direct: String) async throws -> Void
  ) async throws {
    try await withTestDatabase { url in
      let parts = try #require(URLComponents(string: url))
      let port = try #require(parts.port)
      try await FaultyProxy.with(serverPort: port) { proxy in
        var parts = parts
        parts.port = proxy.port
        try await body(proxy, try #require(parts.string), url)
      }
    }
  }

  /// Returns the number of bytes that the server sends while the body runs. A first run prepares the statements.
  private func answerLength(_ proxy: FaultyProxy, of body: () async throws -> Void) async throws -> Int {
    try await body()
    let before = proxy.passed
    try await body()
    return proxy.passed - before
  }

  @Test("a caller receives a whole answer or a lost connection, wherever it is cut, and the pool recovers")
  func cutQuery() async throws {
    try await withProxy { proxy, pool, _ in
      func ask() async throws {
        let rows = try await pool.query("SELECT n, 'text' || n FROM generate_series(1, 5) AS n")
        let texts = try rows.map { try $0.decode(1, as: String.self) }
        #expect(texts == ["text1", "text2", "text3", "text4", "text5"])
      }
      let length = try await answerLength(proxy, of: ask)
      for bytes in 0..<length {
        // Prepares the statement on the new connection that has replaced the last one.
        try await ask()
        proxy.spoil(.cut, after: bytes)
        let error = try await failure { try await ask() }
        #expect(error.code == .connectionLost, "after \(bytes) of \(length)")
        #expect(proxy.isSpent)
      }
      try await ask()
    }
  }

  @Test("a connection that is cut while it is opened names the server, wherever it is cut")
  func cutOpening() async throws {
    try await withAddresses { proxy, proxied, _ in
      let configuration = PostgresConfiguration(connectionString: proxied)
      func open() async throws {
        await (try PostgresConnection.connect(configuration: configuration, logger: quiet)).close()
      }
      let length = try await answerLength(proxy, of: open)
      for bytes in stride(from: 0, to: length, by: 7) {
        proxy.spoil(.cut, after: bytes)
        let error = try await failure { try await open() }
        #expect(error.explanation.contains(":\(proxy.port)"), "\(error.explanation) after \(bytes) of \(length)")
      }
    }
  }

  @Test("a snapshot is repeated, wherever its answer is cut")
  func cutSnapshot() async throws {
    try await withProxy { proxy, pool, _ in
      func ask() async throws {
        let results = try await pool.snapshot(["SELECT 1", "SELECT n FROM generate_series(1, 3) AS n"])
        #expect(results.map(\.count) == [1, 3])
      }
      let length = try await answerLength(proxy, of: ask)
      for bytes in 0..<length {
        try await ask()
        proxy.spoil(.cut, after: bytes)
        try await ask()
        #expect(proxy.isSpent, "after \(bytes) of \(length)")
      }
    }
  }

  @Test("no transaction reports a wrong outcome, wherever its answers are cut")
  func cutTransaction() async throws {
    try await withProxy { proxy, pool, direct in
      func insert(_ number: Int) async throws {
        try await pool.transaction { transaction in
          _ = try await transaction.query("INSERT INTO a VALUES (\(number))")
          _ = try await transaction.commit(after: "SELECT count(*) FROM a")
        }
      }
      let length = try await answerLength(proxy) { try await insert(-1) }
      var outcomes: Set<PostgresError.Code> = []
      for bytes in 0..<length {
        try await insert(-1)
        proxy.spoil(.cut, after: bytes)
        let error = try await failure { try await insert(bytes) }
        outcomes.insert(error.code)
        let count = try await direct.value("SELECT count(*) FROM a WHERE n = \(bytes)", as: Int.self)
        switch error.code {
        case .connectionLost: #expect(count == 0, "after \(bytes) of \(length)")
        case .commitOutcomeUnknown: #expect(count <= 1)
        default: Issue.record("\(error.debugDescription) after \(bytes) of \(length)")
        }
      }
      #expect(outcomes == [.connectionLost, .commitOutcomeUnknown])
    }
  }

  @Test("an answer that stops halfway ends at the deadline, and the connection is replaced")
  func stall() async throws {
    // The other statements must finish within the deadline even on a busy machine.
    try await withProxy(timeout: .seconds(20)) { proxy, pool, _ in
      _ = try await pool.query("SELECT 1")
      let opened = pool.statistics.opened
      proxy.spoil(.stall, after: 100_000)
      let error = try await failure { try await pool.query("SELECT repeat('x', 1000000)") }
      #expect(error.code == .statementTimedOut)
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
      #expect(pool.statistics.opened == opened + 1)
    }
  }

  @Test("an answer that stops halfway ends when its task is cancelled")
  func cancelledStall() async throws {
    try await withProxy { proxy, pool, _ in
      _ = try await pool.query("SELECT 1")
      proxy.spoil(.stall, after: 100_000)
      let task = Task { try await pool.query("SELECT repeat('x', 1000000)") }
      try await eventually("it stalls") { proxy.isSpent }
      task.cancel()
      let error = try await failure { try await task.value }
      #expect(error.code == .cancelled)
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
    }
  }

  @Test("answers that arrive byte by byte are complete")
  func trickle() async throws {
    try await withProxy { proxy, pool, _ in
      proxy.spoil(.trickle, after: 0)
      for length in [0, 1, 1_000, 5_000] {
        let text = try await pool.value("SELECT repeat('ü', \(length)::int)", as: String.self)
        #expect(text == String(repeating: "ü", count: length))
        let error = try await failure { try await pool.query("SELECT 1/0") }
        #expect(error.sqlState == "22012")
      }
      #expect(pool.statistics.opened == 1)
    }
  }
}
