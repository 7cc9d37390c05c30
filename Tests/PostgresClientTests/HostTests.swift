import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite("Several hosts")
struct HostTests {
  /// Returns a connection string for servers on loopback in the given order.
  private func hosts(_ ports: [Int], _ attributes: String) -> String {
    let list = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
    return "postgresql://tidings@\(list)/postgres?target_session_attrs=\(attributes)"
  }

  private func port(of url: String) throws -> Int {
    try #require(URLComponents(string: url)?.port)
  }

  @Test("servers that do not run or are read-only are skipped for one that accepts writes")
  func writable() async throws {
    let writable = try port(of: TestCluster.sharedURL)
    try await TestCluster.withCluster(settings: ["default_transaction_read_only=on"]) { cluster in
      let readOnly = try port(of: await cluster.url)
      // No server listens on port 1.
      try await withPool(url: hosts([1, readOnly, writable], "read-write")) { pool in
        let value = try await pool.value("SELECT current_setting('port')::int8", as: Int.self)
        #expect(value == writable)
      }
      let error = try await failure {
        try await withPool(url: hosts([1, readOnly], "read-write")) { try await $0.query("SELECT 1") }
      }
      #expect(error.code == .connectionFailed)
      #expect(error.message.contains("Connection refused"), "\(error.message)")
      #expect(error.message.contains("session is read-only"), "\(error.message)")
    }
  }

  @Test("a pool changes to the next server when its own stops, and back once the first runs again")
  func failover() async throws {
    let second = try port(of: TestCluster.sharedURL)
    try await TestCluster.withCluster { cluster in
      let first = try port(of: await cluster.url)
      try await withPool(url: hosts([first, second], "any"), size: 2) { pool in
        func server() async throws -> Int { try await pool.value("SELECT current_setting('port')::int8") }
        #expect(try await server() == first)
        try await cluster.kill()
        #expect(try await server() == second)
        try await cluster.start()
        try #require(try port(of: await cluster.url) == first)
        // Existing connections stay on their server; a new connection tries the first host first.
        _ = try? await pool.query("SELECT pg_terminate_backend(pg_backend_pid())")
        #expect(try await server() == first)
      }
    }
  }
}
