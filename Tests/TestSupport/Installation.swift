package import Foundation
package import PostgresClient
import TestKit

/// A condition that never became true, or a response that lacks a required part.
package struct Unexpected: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// A database, and the settings with which the command uses it.
package struct Installation: Sendable {
  package let url: String
  /// A pool for plain SQL.
  package let sql: PostgresPool

  /// Runs the body with a new database, by default one with the schema.
  package static func with<Value: Sendable>(
    schema: Bool = true, _ body: @Sendable (Installation) async throws -> Value
  ) async throws -> Value {
    let onDatabase: @Sendable (String) async throws -> Value = { url in try await with(url: url, body) }
    return schema ? try await NewsDatabase.with(onDatabase) : try await withTestDatabase(onDatabase)
  }

  /// Runs the body with an existing database.
  package static func with<Value: Sendable>(
    url: String, _ body: @Sendable (Installation) async throws -> Value
  ) async throws -> Value {
    let sql = PostgresPool(configuration: .forBusyMachine(url), pool: .forBusyMachine, logger: NewsDatabase.logger)
    return try await withResource(sql, release: { await $0.shutdown() }) {
      try await body(Installation(url: url, sql: $0))
    }
  }

  /// Returns the environment for the command: that of this process, without settings of any other installation.
  ///
  /// - Parameter changes: Settings that differ from the defaults; a setting with an empty value is removed.
  package func environment(_ changes: [String: String] = [:]) -> [String: String] {
    ChildProcess.environment(databaseURL: url).merging(["TIDINGS_PORT": "0"]) { $1 }.merging(Self.watch) { $1 }
      .merging(changes) { $1 }.filter { !$0.value.isEmpty }
  }

  /// The settings by which `scripts/job-watch check` finds long jobs in the servers of tests; none without it. Debug builds
  /// have a higher limit.
  private static let watch: [String: String] = {
    let environment = ProcessInfo.processInfo.environment
    guard let report = environment["TIDINGS_TEST_JOB_WATCH"],
      let library = environment["TIDINGS_TEST_JOB_WATCH_LIBRARY"]
    else { return [:] }
    let isRelease = environment["TIDINGS_TEST_EXECUTABLE"] != nil
    return ["LD_PRELOAD": library, "TIDINGS_JOB_WATCH": report, "TIDINGS_JOB_WATCH_MS": isRelease ? "20" : "400"]
  }()

  /// Runs a command to its end. A command that serves where it should have refused is killed.
  ///
  /// - Parameter changes: Settings that differ from the defaults; a setting with an empty value is removed.
  package func run(
    _ arguments: String..., changes: [String: String] = [:], input: String = "/dev/null"
  ) async throws -> ChildProcess.Result {
    try await ChildProcess(arguments, environment: environment(changes), input: input).result()
  }

  /// Starts a server and waits until it listens. The caller ends it.
  ///
  /// - Parameters:
  ///   - port: The port; 0 for a free one.
  ///   - launcher: A program with arguments that becomes the server, such as `prlimit --nofile=128`.
  ///   - changes: Settings that differ from the defaults; a setting with an empty value is removed.
  package func start(
    port: Int = 0, launcher: [String] = [], changes: [String: String] = [:]
  ) async throws -> RunningServer {
    try await RunningServer(try launch(["--port", "\(port)"], launcher, changes))
  }

  /// Runs the body with a listening server and ends it afterwards, by force if necessary.
  ///
  /// - Parameters:
  ///   - launcher: A program with arguments that becomes the server, such as `prlimit --nofile=128`.
  ///   - changes: Settings that differ from the defaults; a setting with an empty value is removed.
  @discardableResult
  package func serve<Value: Sendable>(
    _ arguments: String..., launcher: [String] = [], changes: [String: String] = [:],
    _ body: @Sendable (RunningServer) async throws -> Value
  ) async throws -> Value {
    try await withResource(try launch(arguments, launcher, changes), release: { await $0.kill() }) { process in
      try await body(try await RunningServer(process))
    }
  }

  private func launch(
    _ arguments: [String], _ launcher: [String], _ changes: [String: String]
  ) throws -> ChildProcess {
    let words = launcher + [ChildProcess.tidings, "serve"] + arguments
    return try ChildProcess(Array(words.dropFirst()), executable: words[0], environment: environment(changes))
  }

  /// Returns the version of the last change.
  package func counter() async throws -> Int {
    try await value("SELECT version FROM scopes WHERE scope = ''")
  }

  /// Returns the first column of the first row.
  package func value<Value: PostgresDecodable>(_ query: PostgresQuery, as: Value.Type = Value.self) async throws
    -> Value
  {
    guard let row = try await sql.query(query).first else { throw Unexpected(description: "there is no row") }
    return try row.decode(0)
  }

  /// Creates a key with the command.
  package func makeKey(scopes: [String] = ["items:publish"]) async throws -> String {
    let arguments = ["keys", "create", "--name", "desk", "--scope"] + scopes
    let result = try await ChildProcess(arguments, environment: environment()).result()
    guard result.status == 0 else { throw Unexpected(description: result.errors) }
    return result.output.trimmingCharacters(in: .newlines)
  }
}

/// Runs the body with a folder that contains the given files, and removes it afterwards.
@discardableResult
package func withFolder<Value>(_ files: [String: String], _ body: (URL) async throws -> Value) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-test-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  for (name, text) in files {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
  return try await body(folder)
}
