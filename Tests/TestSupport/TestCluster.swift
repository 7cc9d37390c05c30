public import Foundation
import TestKit

/// A private PostgreSQL server for a test, which may stop, kill and restart it.
///
/// `scripts/cluster` does the work. Tests that leave the server alone use the shared one (`TestDatabase`).
public actor TestCluster {
  /// The cluster script failed.
  public struct Failure: Error, CustomStringConvertible {
    /// The output of the script.
    public let description: String
  }

  /// The URL of the maintenance database on the shared throwaway server, which `scripts/with-cluster` sets in the
  /// environment.
  ///
  /// - Throws: `Failure` if it is not set.
  public static var sharedURL: String {
    get throws {
      guard let url = ProcessInfo.processInfo.environment["TIDINGS_TEST_DATABASE_URL"], !url.isEmpty else {
        throw Failure(description: "TIDINGS_TEST_DATABASE_URL is not set: run the tests under scripts/with-cluster")
      }
      return url
    }
  }

  /// The folder that `scripts/with-cluster` cleans up after the test process, or a temporary folder.
  private static var parent: URL {
    ProcessInfo.processInfo.environment["TIDINGS_TEST_CLUSTERS"].map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory
  }

  private let directory: String
  /// The additional environment variables of the server.
  private let environment: [String: String]
  /// The URL of the maintenance database; the port may change on a restart.
  public private(set) var url: String

  /// Creates a server in a temporary folder and starts it.
  ///
  /// - Parameters:
  ///   - settings: The server settings as `name=value`.
  ///   - parent: The parent folder of the server's folder; nil for the default.
  ///   - environment: The additional environment variables of the server.
  public init(
    settings: [String] = ["fsync=off", "full_page_writes=off"], in parent: URL? = nil,
    environment: [String: String] = [:]
  ) async throws {
    directory = (parent ?? Self.parent).appending(path: "tidings-cluster.\(UUID())").path
    self.environment = environment
    url = try await Self.run(["start", directory] + settings, environment: environment)
  }

  private init(directory: String, url: String) {
    self.directory = directory
    self.url = url
    environment = [:]
  }

  /// Reserves the folder and the port of a server that is created later.
  public static func reserve() async throws -> TestCluster {
    let directory = parent.appending(path: "tidings-cluster.\(UUID())").path
    return TestCluster(directory: directory, url: try await run(["reserve", directory]))
  }

  /// Runs the body with a running server and removes the server afterwards.
  public static func withCluster<Result: Sendable>(
    settings: [String] = ["fsync=off", "full_page_writes=off"], in parent: URL? = nil,
    environment: [String: String] = [:], _ body: @Sendable (TestCluster) async throws -> Result
  ) async throws -> Result {
    let cluster = try await TestCluster(settings: settings, in: parent, environment: environment)
    return try await withResource(cluster, release: { try await $0.remove() }, body)
  }

  /// Starts the server if it is not running, on the same port if that is still free.
  ///
  /// - Parameter settings: The server settings as `name=value`; used only if the server has not been created yet.
  /// - Returns: The URL.
  @discardableResult
  public func start(settings: [String] = []) async throws -> String {
    url = try await Self.run(["start", directory] + settings, environment: environment)
    return url
  }

  /// Writes files into the data folder, readable by the server only, and restarts the server.
  public func install(_ files: [String: String]) async throws {
    let data = URL(filePath: directory).appending(path: "data")
    let owner = try FileManager.default.attributesOfItem(atPath: data.path)[.ownerAccountID]
    for (name, text) in files {
      let file = data.appending(path: name)
      try Data(text.utf8).write(to: file)
      var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
      attributes[.ownerAccountID] = owner
      try FileManager.default.setAttributes(attributes, ofItemAtPath: file.path)
    }
    try await restart()
  }

  /// Stops the server and ends its sessions; `immediate` skips the shutdown checkpoint.
  public func stop(immediate: Bool = false) async throws {
    _ = try await Self.run(["stop", directory, immediate ? "immediate" : "fast"])
  }

  /// Kills all processes of the server.
  public func kill() async throws {
    _ = try await Self.run(["kill", directory])
  }

  /// Suspends all processes of the server; its clients receive no notice.
  public func pause() async throws {
    _ = try await Self.run(["pause", directory])
  }

  /// Resumes all processes of the server.
  public func resume() async throws {
    _ = try await Self.run(["resume", directory])
  }

  /// Stops and starts the server.
  @discardableResult
  public func restart() async throws -> String {
    try await stop()
    return try await start()
  }

  /// Makes this reserved server a streaming standby of a running server.
  public func becomeStandby(of primary: TestCluster) async throws {
    url = try await Self.run(["standby", directory, primary.directory])
  }

  /// Promotes a standby to primary.
  public func promote() async throws {
    _ = try await Self.run(["promote", directory])
  }

  /// Copies the server's files while it runs, for `restore`.
  public func backup() async throws {
    _ = try await Self.run(["backup", directory])
  }

  /// Restores the copied files and replays changes up to a named restore point.
  public func restore(to point: String) async throws {
    _ = try await Self.run(["restore", directory, point])
  }

  /// Stops the server and deletes its files; its port stays reserved.
  public func clear() async throws {
    _ = try await Self.run(["clear", directory])
  }

  /// Copies a database with pg_dump, on this server or to another one.
  public func copyDatabase(_ name: String, to copy: String, in other: TestCluster? = nil) async throws {
    _ = try await Self.run(["copy", directory, name, copy] + (other.map { [$0.directory] } ?? []))
  }

  /// Stops the server and deletes its folder.
  public func remove() async throws {
    _ = try await Self.run(["remove", directory])
  }

  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("scripts/cluster").path

  /// Waits on a thread that may block until the script ends.
  private static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try runBlocking(arguments, environment) })
      }
    }
  }

  /// Runs the script with `posix_spawn`. Foundation's `Process` would wait until the server, a grandchild, closes the
  /// descriptors that it inherited. For the same reason the output goes to a file, not through a pipe.
  private static func runBlocking(_ arguments: [String], _ environment: [String: String]) throws -> String {
    let output = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-output.\(UUID())")
    defer { try? FileManager.default.removeItem(at: output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let words = ([script] + arguments).map { strdup($0) }
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { strdup("\($0)=\($1)") }
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    guard posix_spawn(&process, script, &actions, nil, words + [nil], variables + [nil]) == 0 else {
      throw Failure(description: "cannot run \(script)")
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    guard status == 0 else { throw Failure(description: text) }
    return text.split(separator: "\n").last.map { String($0) } ?? ""
  }
}
