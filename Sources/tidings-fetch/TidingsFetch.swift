import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

/// The client's command: wiring only. All commands have their names written out: to find one out from a type takes
/// longer than a fetch that finds nothing.
@main
struct TidingsFetch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tidings-fetch",
    abstract: "Keeps news where they can be read without a network, and asks for new ones when it is worth it.",
    discussion: """
      What is followed is remembered: the server and the topics are to be given the first time only. Standard output is
      for results, standard error for what went wrong.
      """,
    subcommands: [
      Fetch.self, Watch.self, Schedule.self, List.self, Open.self, Snapshot.self, Badge.self, Log.self, Status.self,
      SignOut.self, Simulate.self, Download.self, Upload.self, Transfers.self, Worker.self,
    ])

  @Option(help: "Where the API is, without /v1, such as https://news.example; TIDINGS_SERVER says it, too.")
  var server: HTTPLocation?

  @Option(help: "The folder in which everything is kept (TIDINGS_STORE, or else ~/.local/state/tidings-fetch).")
  var store: String?

  @Option(help: "Slugs of topics, separated by commas; the whole feed if there are none.")
  var topics: TopicList?

  @Option(help: "How many of the newest items are kept: 1...200, or 0 for all there are (100).")
  var window: WindowSize?

  /// Opens the store, for what the options say and else for what it has followed.
  ///
  /// - Parameters:
  ///   - launchReason: What the process was started for.
  ///   - exitsOnSuspend: Whether it ends when it is suspended.
  ///   - transport: What sends requests, if not the network.
  func client(
    launchReason: LaunchReason = .user, exitsOnSuspend: Bool = false, transport: (any HTTPTransport)? = nil
  ) throws -> NewsFetcher {
    let report: @Sendable (String) -> Void = { line in
      FileHandle.standardError.write(Data("tidings-fetch: \(line)\n".utf8))
    }
    let folder = try folder
    return try NewsFetcher(
      folder: folder,
      application: Application(launchReason: launchReason, exitsOnSuspend: exitsOnSuspend, log: report),
      transport: transport, log: report
    ) { stored in
      var configuration = NewsFetcher.Configuration(
        folder: folder, source: try source(stored: stored), userAgent: Self.userAgent)
      configuration.constraints = Self.constraints
      return configuration
    }
  }

  /// What the options say is to be followed, and else what was followed last.
  private func source(stored: Source?) throws -> Source {
    let environment = ProcessInfo.processInfo.environment
    let given =
      try server
      ?? environment["TIDINGS_SERVER"].map { text in
        guard let location = HTTPLocation(argument: text) else {
          throw ValidationError("TIDINGS_SERVER is no URL of http or https")
        }
        return location
      }
    guard let server = given?.url ?? stored?.server else {
      throw ValidationError("Missing expected argument '--server <server>'")
    }
    return Source(
      server: server, topics: topics?.slugs ?? stored?.topics ?? [],
      extent: window?.extent ?? stored?.extent ?? .window(100))
  }

  /// Where everything is kept.
  var folder: URL {
    get throws {
      let environment = ProcessInfo.processInfo.environment
      if let path = store ?? environment["TIDINGS_STORE"] { return URL(filePath: path, directoryHint: .isDirectory) }
      guard let home = environment["XDG_STATE_HOME"] ?? environment["HOME"].map({ $0 + "/.local/state" }), !home.isEmpty
      else { throw ValidationError("Missing expected argument '--store <store>'") }
      return URL(filePath: home, directoryHint: .isDirectory).appending(path: "tidings-fetch")
    }
  }

  /// The downloads and uploads of the store.
  func journal() throws -> TransferJournal { try TransferJournal(store: folder) }

  /// What does them, in this process.
  func worker() throws -> TransferWorker {
    try TransferWorker(store: folder, userAgent: Self.userAgent, constraints: Self.constraints) { line in
      FileHandle.standardError.write(Data("tidings-fetch: \(line)\n".utf8))
    }
  }

  /// What does them, in a process of its own.
  func workerProcess() throws -> WorkerProcess {
    WorkerProcess(
      executable: URL(filePath: try Self.executable),
      arguments: ["--store", try folder.absoluteURL.path(percentEncoded: false), "worker"])
  }

  /// Starts a worker if there is something to do for one.
  func startWorkerIfNeeded() throws {
    if try TransferJournal.needsWorker(store: folder) { try workerProcess().start() }
  }

  /// The path of this program.
  static var executable: String {
    get throws {
      #if os(Linux)
        // Whatever the shell found it by.
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      #else
        URL(filePath: CommandLine.arguments[0]).absoluteURL.path(percentEncoded: false)
      #endif
    }
  }

  private static var constraints: any ConstraintSource {
    #if os(Linux)
      SystemConstraints()
    #else
      FetchConstraints.none
    #endif
  }

  private static let userAgent = "tidings-fetch/0.1 (Linux; +https://github.com/tidings/tidings)"
}

/// An address of http or https.
struct HTTPLocation: ExpressibleByArgument {
  let url: URL

  init?(argument: String) {
    guard let url = HTTPLink(argument: argument)?.url, url.query() == nil, url.fragment() == nil else { return nil }
    self.url = url
  }
}
