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

  @Test("verify-full takes the server's certificate for its name by its authority, and nothing else")
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
      // More than the socket takes at once, both ways.
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
}
