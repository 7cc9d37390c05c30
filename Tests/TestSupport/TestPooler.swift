import Foundation
import PostgresClient
import TestKit

/// A pgbouncer in transaction mode in front of a server on loopback.
public struct TestPooler: Sendable {
  private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether pgbouncer is installed.
  public static var isInstalled: Bool { program != nil }

  /// Runs the body with the URL of a database behind the pooler, and stops the pooler afterwards.
  ///
  /// - Parameters:
  ///   - database: The URL of the database.
  ///   - sessions: The number of server sessions that all clients share.
  public static func with<Result: Sendable>(
    database: String, sessions: Int, _ body: @Sendable (_ url: String) async throws -> Result
  ) async throws -> Result {
    guard let program, var url = URLComponents(string: database), let port = url.port else {
      throw TestCluster.Failure(description: "there is no pgbouncer, or no port in the URL")
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-pooler.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let free = try Loopback.freePort()
    try Data("\"\(url.user ?? "")\" \"\"".utf8).write(to: folder.appending(path: "users"))
    try Data(
      """
      [databases]
      * = host=127.0.0.1 port=\(port)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(free)
      unix_socket_dir =
      auth_type = trust
      auth_file = \(folder.path)/users
      pool_mode = transaction
      default_pool_size = \(sessions)
      max_client_conn = 200
      """.utf8
    ).write(to: folder.appending(path: "pgbouncer.ini"))
    var arguments = ["-q", folder.appending(path: "pgbouncer.ini").path]
    // pgbouncer refuses to run as root.
    if getuid() == 0 { arguments += ["-u", "postgres"] }
    let process = try ChildProcess(
      arguments, executable: program, environment: ProcessInfo.processInfo.environment)
    url.port = free
    let pooled = url.string ?? ""
    return try await withResource(process, release: { await $0.kill() }) { _ in
      try await waitUntilItListens(pooled)
      return try await body(pooled)
    }
  }

  private static func waitUntilItListens(_ url: String) async throws {
    var configuration = PostgresConfiguration(connectionString: url)
    // The session is shared, so no prepared statement may remain in it.
    configuration.preparesStatements = false
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do {
        return try await PostgresConnection.connect(configuration: configuration, logger: NewsDatabase.logger).close()
      } catch {
        if ContinuousClock.now > end { throw error }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}
