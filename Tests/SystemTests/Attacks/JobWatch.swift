import Foundation
import TestSupport
import Testing

/// The jobs of a server that take much processor time on threads that all requests share. They are reported by a library
/// that is loaded into the unchanged server (Tests/JobWatch).
struct JobWatch: Sendable {
  /// The permitted time of a job in milliseconds. That of a debug build is much longer.
  static let limit = AttackTests.runsLongTests ? 20 : 400

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../scripts/job-watch").standardizedFileURL.path

  private let report: URL
  private let library: String

  /// Runs the body with a watch.
  static func with<Value>(_ body: (JobWatch) async throws -> Value) async throws -> Value {
    let library = try await run("build").trimmingCharacters(in: .newlines)
    return try await withFolder([:]) { folder in
      try await body(JobWatch(report: folder.appending(path: "jobs"), library: library))
    }
  }

  /// The settings of a server that is watched.
  var settings: [String: String] {
    ["LD_PRELOAD": library, "TIDINGS_JOB_WATCH": report.path, "TIDINGS_JOB_WATCH_MS": "\(Self.limit)"]
  }

  /// Returns the kinds of threads on which there were jobs.
  func places() throws -> Set<Substring> {
    let lines = try String(contentsOf: report, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("job ") }
    return Set(lines.compactMap { $0.split(separator: " ").dropFirst().first })
  }

  /// Returns the jobs so far, each with the functions in which it was; none without a job.
  func jobs() async throws -> String {
    guard FileManager.default.fileExists(atPath: report.path) else {
      throw Unexpected(description: "the server was not watched")
    }
    return try await Self.run("show", report.path)
  }

  private static func run(_ arguments: String...) async throws -> String {
    let result = try await ChildProcess(
      arguments, executable: script, environment: ProcessInfo.processInfo.environment
    ).result()
    guard result.status == 0 else { throw Unexpected(description: result.errors) }
    return result.output
  }
}
