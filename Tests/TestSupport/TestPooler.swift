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
    let process = try start(program, configuration: folder.appending(path: "pgbouncer.ini").path)
    defer {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    url.port = free
    let pooled = url.string ?? ""
    try await waitUntilItListens(pooled)
    return try await body(pooled)
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

  /// Starts the pooler with `posix_spawn` instead of Foundation's `Process`, so that it stays in the process group that
  /// `scripts/with-cluster` always ends.
  private static func start(_ program: String, configuration: String) throws -> pid_t {
    var arguments = [program, "-q", configuration]
    // pgbouncer refuses to run as root.
    if getuid() == 0 { arguments += ["-u", "postgres"] }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) }
    let words = arguments.map { strdup($0) }
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    guard posix_spawn(&process, program, &actions, nil, words + [nil], environ) == 0 else {
      throw TestCluster.Failure(description: "cannot run \(program)")
    }
    return process
  }
}
