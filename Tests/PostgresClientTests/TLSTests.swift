import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
  private func connect(
    _ url: String, host: String = "db.test", authority: String
  ) async throws -> PostgresConnection {
    let port = try #require(URLComponents(string: url)?.port)
    let configuration = PostgresConfiguration(
      connectionString: """
        host=\(host) hostaddr=127.0.0.1 port=\(port) user=tidings dbname=postgres \
        sslmode=verify-full sslrootcert=\(authority)
        """)
    return try await PostgresConnection.connect(configuration: configuration, logger: quiet)
  }

  @Test("verify-full accepts only a certificate for the server's name from the given authority")
  func verifyFull() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls.\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (ours, other) = (folder.appending(path: "ours"), folder.appending(path: "other"))
    for folder in [ours, other] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let certificates = try TestCertificates(in: ours, host: "db.test")
    let others = try TestCertificates(in: other, host: "db.test")
    try await TestCluster.withCluster { cluster in
      let plain = try await failure { try await connect(cluster.url, authority: certificates.authority) }
      #expect(plain.code == .connectionFailed)
      #expect(plain.message.contains("server does not support SSL"), "\(plain.message)")

      try await cluster.install([
        "server.crt": certificates.certificate, "server.key": certificates.key, "postgresql.auto.conf": "ssl = on\n",
      ])
      let connection = try await connect(cluster.url, authority: certificates.authority)
      // More bytes than the socket buffers hold, in both directions.
      let text = String(repeating: "news ", count: 1_000_000)
      let rows = try await connection.query(
        "SELECT \(text), ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
      #expect(try rows[0].decode(0, as: String.self) == text)
      #expect(try rows[0].decode(1, as: Bool.self))
      await connection.close()

      let stranger = try await failure { try await connect(cluster.url, authority: others.authority) }
      #expect(stranger.code == .connectionFailed)
      #expect(stranger.message.contains("certificate verify failed"), "\(stranger.message)")

      let misnamed = try await failure {
        try await connect(cluster.url, host: "other.test", authority: certificates.authority)
      }
      #expect(misnamed.code == .connectionFailed)
      #expect(misnamed.message.contains("does not match host name \"other.test\""), "\(misnamed.message)")
    }
  }

  /// Runs the body with a database behind a proxy that terminates TLS.
  private func withProxy(_ body: @Sendable (_ proxied: String, _ direct: PostgresPool) async throws -> Void)
    async throws
  {
    try await withTestDatabase { url in
      let parts = try #require(URLComponents(string: url))
      let port = try #require(parts.port)
      try await TLSProxy.with(serverPort: port) { proxy in
        var parts = parts
        parts.port = proxy.port
        parts.query = "sslmode=require"
        let proxied = try #require(parts.string)
        try await withPool(url: url, size: 1) { try await body(proxied, $0) }
      }
    }
  }

  @Test("an answer is complete, wherever in a record of 16 KiB it ends", .timeLimit(.minutes(3)))
  func largeRecords() async throws {
    try await withProxy { proxied, _ in
      try await withPool(url: proxied, size: 1) { pool in
        for count in 1...120 {
          let rows = try await pool.query("SELECT repeat('x', 3000) FROM generate_series(1, \(count))")
          #expect(rows.count == count)
        }
        for bytes in stride(from: 15_000, through: 70_000, by: 499) {
          let text = try await pool.value("SELECT repeat('x', \(bytes)::int4)", as: String.self)
          #expect(text.utf8.count == bytes)
        }
        #expect(pool.statistics.opened == 1)
      }
    }
  }

  @Test(
    "concurrent questions, large parameters and snapshots are answered through records of 16 KiB",
    .timeLimit(.minutes(3)))
  func concurrentLargeRecords() async throws {
    try await withProxy { proxied, _ in
      try await withPool(url: proxied, size: 4) { pool in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<8 {
            group.addTask {
              for step in 0..<20 {
                let text = String(repeating: "n", count: 9_000 + 1_777 * step + 311 * task)
                let results = try await pool.snapshot(["SELECT \(text)", "SELECT \(text) FROM generate_series(1, 3)"])
                let texts = try results.map { rows in try rows.map { try $0.decode(0, as: String.self) } }
                #expect(texts == [[text], [text, text, text]])
              }
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test(
    "all notifications of a transaction arrive through records of 16 KiB, and a cancelled statement ends",
    .timeLimit(.minutes(3)))
  func notificationsAndCancellation() async throws {
    try await withProxy { proxied, direct in
      try await withPool(url: proxied, size: 2) { pool in
        let error = try await pool.cancelWhileRunning("SELECT pg_sleep(60)")
        #expect(error.code == .cancelled)
      }
      let listener = PostgresListener(configuration: .forBusyMachine(proxied), logger: quiet)
      var events = listener.events(channel: "news").makeAsyncIterator()
      let first = await events.next()
      #expect(first == .listening)
      for count in [1, 3, 5, 7, 40] {
        _ = try await direct.query(
          "SELECT pg_notify('news', n || repeat('p', 7000)) FROM generate_series(1, \(count)) AS n")
        for number in 1...count {
          let event = await events.next()
          #expect(event?.payload == "\(number)" + String(repeating: "p", count: 7000))
        }
      }
    }
  }
}
