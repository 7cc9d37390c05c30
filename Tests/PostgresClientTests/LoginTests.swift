import Foundation
import Logging
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Logging in")
struct LoginTests {
  private static let authentication = """
    host all tidings 127.0.0.1/32 trust
    host all all 127.0.0.1/32 scram-sha-256

    """

  @Test("a SCRAM password is accepted, a wrong one refused, and neither appears in a message")
  func scram() async throws {
    try await TestCluster.withCluster { cluster in
      try await cluster.install(["pg_hba.conf": Self.authentication])
      try await withPool(url: cluster.url, size: 1) { pool in
        try await pool.withConnection { connection in
          try await connection.execute(
            script: "SET password_encryption = 'scram-sha-256'; CREATE ROLE reader LOGIN PASSWORD 'right-hidden'")
        }
      }
      let log = RecordingLog()
      func user(password: String) async throws -> String {
        let pool = PostgresPool(
          configuration: PostgresConfiguration(
            connectionString: await cluster.url.replacing("tidings@", with: "reader:\(password)@")),
          logger: log.logger)
        return try await withResource(pool, release: { await $0.shutdown() }) {
          try await $0.value("SELECT current_user::text", as: String.self)
        }
      }
      let name = try await user(password: "right-hidden")
      #expect(name == "reader")
      let error = try await failure { try await user(password: "wrong-hidden") }
      #expect(error.code == .connectionFailed)
      #expect("\(error)" == "PostgresError(connectionFailed)")
      #expect(error.message.contains("password authentication failed for user \"reader\""), "\(error.message)")
      #expect(!error.debugDescription.contains("hidden"))
      // The log contains the reason for the operator.
      #expect(log.text.contains("password authentication failed for user \"reader\""), "\(log.text)")
      #expect(!log.text.contains("hidden"), "\(log.text)")
    }
  }
}
