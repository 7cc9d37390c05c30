import BackgroundFetch
import Foundation
import News
import NewsClient
import TestSupport

/// The client's command with its own store, which follows a server.
struct Command: Sendable {
  let server: String
  let folder: URL
  /// Variables of the environment, besides those that each command receives.
  var variables: [String: String] = [:]

  /// Runs the body with an empty store.
  static func with<Value: Sendable>(
    server: String, _ body: @Sendable (Command) async throws -> Value
  ) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-fetch-\(UUID().uuidString)")
    defer {
      try? FileManager.default.removeItem(at: folder)
      try? FileManager.default.removeItem(at: Command(server: server, folder: folder).home)
    }
    return try await body(Command(server: server, folder: folder))
  }

  /// The user's home folder, which holds the settings of all stores.
  var home: URL { URL(filePath: folder.path + "-home") }

  private var environment: [String: String] {
    ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TZ": "UTC", "HOME": home.path].merging(variables) { $1 }
  }

  /// The path of the command beside the test executable.
  private static let executable = ChildProcess.tidings + "-fetch"

  /// Starts the command.
  ///
  /// - Parameters:
  ///   - wrapper: A program with arguments that runs the command.
  ///   - closingOutput: Whether the reading end of its standard output is closed.
  func start(_ arguments: [String], wrapper: [String] = [], closingOutput: Bool = false) throws -> ChildProcess {
    try launch(
      wrapper + [Self.executable, "--server", server, "--store", folder.path] + arguments, closingOutput: closingOutput)
  }

  /// Starts the command for the default store in the user's home folder, without a server.
  func startAtHome(_ arguments: [String], wrapper: [String] = []) throws -> ChildProcess {
    try launch(wrapper + [Self.executable] + arguments)
  }

  private func launch(_ words: [String], closingOutput: Bool = false) throws -> ChildProcess {
    try ChildProcess(
      Array(words.dropFirst()), executable: words[0], environment: environment,
      closingOutput: closingOutput)
  }

  /// Runs the command to its end.
  func run(_ arguments: String...) async throws -> ChildProcess.Result { try await start(arguments).result() }

  /// Runs one fetch.
  func fetch(_ arguments: String..., wrapper: [String] = []) async throws -> (status: Int32, report: FetchReport?) {
    let result = try await start(["fetch", "--json"] + arguments, wrapper: wrapper).result()
    return (result.status, try? NewsJSON.decode(FetchReport.self, from: Data(result.output.utf8)))
  }

  /// Returns the stored items, read by this process.
  func storedItems() throws -> [NewsItem] {
    guard let feed = try NewsFetcher.feed(in: folder) else { return [] }
    return try NewsFetcher(
      .init(folder: folder, feed: feed, userAgent: "tests"), application: ApplicationLifecycle(launchReason: .user)
    ).allNewsItems
  }

  /// Returns the stored items, as printed by the command.
  func items() async throws -> [NewsItem] {
    let result = try await run("list", "--json")
    guard result.status == 0 else { throw TestResponse.Unexpected(description: result.errors) }
    return try result.output.split(separator: "\n").map { try NewsJSON.decode(NewsItem.self, from: Data($0.utf8)) }
  }
}

/// Returns the path of the first installed program with a name.
func program(_ name: String) -> String? {
  ["/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// Whether the tests can create a mount namespace and mount a folder and a tmpfs in it. Containers may forbid this to
/// root as well.
func mayMount() async throws -> Bool {
  guard getuid() == 0, let unshare = program("unshare") else { return false }
  let script = "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && mount -t tmpfs -o size=600k none /tmp"
  let probe = try ChildProcess(
    ["--mount", "sh", "-c", script], executable: unshare, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
  return await probe.result().status == 0
}
