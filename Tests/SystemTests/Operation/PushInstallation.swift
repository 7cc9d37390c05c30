import FaultServer
import Foundation
import PostgresClient
import TestSupport
import Testing

/// An installation with keys for FCM, and a service in place of Google's.
struct PushInstallation: Sendable {
  /// Whether the keys can be made.
  static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

  let installation: Installation
  let service: FaultServer
  /// The settings with the keys. The window is zero.
  let settings: [String: String]

  /// Runs the body with a service that accepts messages with an answer.
  static func with(
    _ answer: FaultResponse = .json("{}"), _ body: @escaping @Sendable (PushInstallation) async throws -> Void
  ) async throws {
    try await withFolder([:]) { folder in
      let key = folder.appending(path: "key.pem").path
      let made = try await ChildProcess(
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key],
        executable: "/usr/bin/openssl", environment: [:]
      ).result()
      try #require(made.status == 0, "\(made.errors)")
      try await FaultServer.with { service in
        service.respond { request in
          request.path == "/token" ? .json(#"{"access_token": "t", "expires_in": 3599}"#) : answer
        }
        let account = try JSONEncoder().encode([
          "type": "service_account", "project_id": "example-news", "client_email": "push@example.org",
          "private_key": try String(contentsOfFile: key, encoding: .utf8), "token_uri": "\(service.url)/token",
        ])
        let file = folder.appending(path: "account.json")
        try account.write(to: file)
        let settings = [
          "TIDINGS_FCM_CREDENTIALS": file.path, "TIDINGS_FCM_URL": service.url, "TIDINGS_PUSH_WINDOW": "0",
        ]
        try await Installation.with {
          try await body(PushInstallation(installation: $0, service: service, settings: settings))
        }
      }
    }
  }

  /// The bodies of the messages so far.
  var messages: [String] {
    service.requests.filter { $0.path.hasSuffix("/messages:send") }.map { String(decoding: $0.body, as: UTF8.self) }
  }

  /// Runs `tidings push test`.
  func test(_ arguments: [String]) async throws -> ChildProcess.Result {
    try await ChildProcess(["push", "test"] + arguments, environment: installation.environment(settings)).result()
  }

  /// Registers devices with the tokens `device-1` and so on by plain SQL.
  ///
  /// - Parameter age: The time since their registration, as an interval of PostgreSQL.
  func register(_ count: Int, age: String = "0 days") async throws {
    _ = try await installation.sql.query(
      """
      INSERT INTO devices (id, secret_digest, provider, kind, address, address_digest, alerts, state, created_at,
        registered_at, expires_at)
      SELECT gen_random_uuid(), sha256('x'), 'fcm', 'app', 'device-' || n, sha256(n::text::bytea), false, 'active',
        now() - \(age)::interval, now() - \(age)::interval, now() - \(age)::interval + interval '90 days'
      FROM generate_series(1, \(count)) AS g (n)
      """)
  }
}
