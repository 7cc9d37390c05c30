import BackgroundFetch
import Foundation
import News
import NewsClient
import TestSupport

/// The client's command, with a store of its own that follows a server.
struct Command: Sendable {
  let server: String
  let folder: URL

  /// Runs the body with an empty store.
  static func with<Value: Sendable>(
    server: String, _ body: @Sendable (Command) async throws -> Value
  ) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-fetch-\(UUID().uuidString)")
    defer {
      try? FileManager.default.removeItem(at: folder)
      try? FileManager.default.removeItem(atPath: folder.path + "-home")
    }
    return try await body(Command(server: server, folder: folder))
  }

  private var environment: [String: String] {
    ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TZ": "UTC", "HOME": folder.path + "-home"]
  }

  /// Beside the executable that runs the tests.
  private static let executable = ChildProcess.tidings + "-fetch"

  /// Starts it.
  ///
  /// - Parameters:
  ///   - wrapper: A program, with arguments, that runs it.
  ///   - closingOutput: Whether nobody reads its standard output.
  func start(_ arguments: [String], wrapper: [String] = [], closingOutput: Bool = false) throws -> ChildProcess {
    let words = wrapper + [Self.executable, "--server", server, "--store", folder.path] + arguments
    return try ChildProcess(
      Array(words.dropFirst()), executable: words[0], environment: environment,
      closingOutput: closingOutput)
  }

  /// Runs it to the end.
  func run(_ arguments: String...) async throws -> ChildProcess.Result { try await start(arguments).result() }

  /// One wake.
  func fetch(_ arguments: String..., wrapper: [String] = []) async throws -> (status: Int32, report: FetchReport?) {
    let result = try await start(["fetch", "--json"] + arguments, wrapper: wrapper).result()
    return (result.status, try? NewsJSON.decode(FetchReport.self, from: Data(result.output.utf8)))
  }

  /// What is stored, as this process reads it.
  func storedItems() throws -> [NewsItem] {
    guard let source = try NewsFetcher.source(in: folder) else { return [] }
    return try NewsFetcher(
      .init(folder: folder, source: source, userAgent: "tests"), application: Application(launchReason: .user)
    ).allNewsItems
  }

  /// What is stored, as the command prints it.
  func items() async throws -> [NewsItem] {
    let result = try await run("list", "--json")
    guard result.status == 0 else { throw TestResponse.Unexpected(description: result.errors) }
    return try result.output.split(separator: "\n").map { try NewsJSON.decode(NewsItem.self, from: Data($0.utf8)) }
  }
}

/// The first program of a name on this machine.
func program(_ name: String) -> String? {
  ["/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// Whether a process of the tests can have a mount table of its own, and mount a folder and a disk in memory in it.
/// Containers may forbid that to root as well.
func mayMount() async throws -> Bool {
  guard getuid() == 0, let unshare = program("unshare") else { return false }
  let script = "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && mount -t tmpfs -o size=600k none /tmp"
  let probe = try ChildProcess(
    ["--mount", "sh", "-c", script], executable: unshare, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
  return await probe.result().status == 0
}
