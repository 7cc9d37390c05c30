import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport

/// A condition that never came true, or an answer without what it must have.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

/// A database of its own, and the command with the settings for it.
struct Installation: Sendable {
  let url: String
  /// Plain SQL.
  let sql: PostgresPool

  /// Runs the body with a database, by default one with the schema.
  static func with<Value: Sendable>(
    schema: Bool = true, _ body: @Sendable (Installation) async throws -> Value
  ) async throws -> Value {
    let onDatabase: @Sendable (String) async throws -> Value = { url in try await with(url: url, body) }
    return schema ? try await NewsDatabase.with(onDatabase) : try await withTestDatabase(onDatabase)
  }

  /// Runs the body with a database that is there.
  static func with<Value: Sendable>(
    url: String, _ body: @Sendable (Installation) async throws -> Value
  ) async throws -> Value {
    let sql = PostgresPool(configuration: .patient(url), pool: .patient, logger: NewsDatabase.logger)
    do {
      let value = try await body(Installation(url: url, sql: sql))
      await sql.shutdown()
      return value
    } catch {
      await sql.shutdown()
      throw error
    }
  }

  /// The environment of the command: ours, without settings of any other installation.
  ///
  /// - Parameter changes: Settings that differ; an empty one is left out.
  func environment(_ changes: [String: String] = [:]) -> [String: String] {
    ChildProcess.environment(databaseURL: url).merging(["TIDINGS_PORT": "0"]) { $1 }.merging(changes) { $1 }
      .filter { !$0.value.isEmpty }
  }

  /// Runs a command to its end, which is by force if it serves where it should have refused.
  ///
  /// - Parameter changes: Settings that differ; an empty one is left out.
  func run(
    _ arguments: String..., changes: [String: String] = [:], input: String = "/dev/null"
  ) async throws -> ChildProcess.Result {
    let process = try ChildProcess(arguments, environment: environment(changes), input: input)
    let limit = Task {
      try await Task.sleep(for: .seconds(120))
      process.send(SIGKILL)
    }
    defer { limit.cancel() }
    return await process.result()
  }

  /// Hands a server that listens to the body, and ends it afterwards, by force if need be.
  @discardableResult
  func serve<Value: Sendable>(
    _ arguments: String..., changes: [String: String] = [:], _ body: @Sendable (RunningServer) async throws -> Value
  ) async throws -> Value {
    let process = try ChildProcess(["serve"] + arguments, environment: environment(changes))
    do {
      let value = try await body(try await RunningServer(process))
      process.send(SIGKILL)
      _ = await process.result()
      return value
    } catch {
      process.send(SIGKILL)
      _ = await process.result()
      throw error
    }
  }

  /// The version of the last change.
  func counter() async throws -> Int {
    try await value("SELECT version FROM scopes WHERE scope = ''")
  }

  /// The first column of the first row.
  func value<Value: PostgresDecodable>(_ query: PostgresQuery, as: Value.Type = Value.self) async throws -> Value {
    guard let row = try await sql.query(query).first else { throw Unexpected(description: "there is no row") }
    return try row.decode(0)
  }

  /// A key for items, made by the command.
  func makeKey() async throws -> String {
    let result = try await run("keys", "create", "--name", "desk", "--scope", "items:write")
    guard result.status == 0 else { throw Unexpected(description: result.errors) }
    return result.output.trimmingCharacters(in: .newlines)
  }
}

/// Hands a folder with files to the body and removes it afterwards.
func withFolder<Value>(_ files: [String: String], _ body: (URL) async throws -> Value) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-test-\(UUID())")
  defer { try? FileManager.default.removeItem(at: folder) }
  for (name, text) in files {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
  return try await body(folder)
}
