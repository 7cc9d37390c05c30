import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

/// The client's command and its options. All commands spell out their names, because deriving a name from a type takes
/// longer than a fetch without new data.
struct TidingsFetch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keeps news for reading without a network, and fetches new ones when they are likely.",
    discussion: """
      The store remembers the server and the topics, so they are needed only once; config has all settings. Results are \
      written to standard output, errors to standard error. The exit status is 0 for success, 10 for a fetch without new \
      data, 20 for a failure, and 64 for invalid arguments.
      """,
    version: TidingsVersion.current,
    subcommands: [
      Fetch.self, Run.self, Watch.self, Schedule.self, List.self, Search.self, Show.self, OpenInBrowser.self, Read.self,
      Unread.self, Open.self, Snapshot.self, Badge.self, Log.self, Status.self,
      Notify.self, Config.self, Push.self, App.self, SignOut.self, Simulate.self, Download.self, Upload.self,
      Transfers.self,
      Worker.self,
    ])

  @Option(help: Setting.server.argumentHelp, transform: Setting.server.usable)
  var server: String?

  @Option(help: "The folder of the store (TIDINGS_FETCH_STORE); without it, that of the name.")
  var store: String?

  @Option(
    help: "The name of the store, which has a folder in ~/.local/state/tidings-fetch (TIDINGS_FETCH_NAME; default).")
  var name: StoreName?

  @Option(help: Setting.proxy.argumentHelp, transform: Setting.proxy.usable)
  var proxy: String?

  @Option(help: Setting.caFile.argumentHelp)
  var caFile: String?

  @Option(help: Setting.topics.argumentHelp, transform: Setting.topics.usable)
  var topics: String?

  @Option(help: Setting.window.argumentHelp, transform: Setting.window.usable)
  var window: String?

  /// Opens the store for the feed that the options name, or else for the stored feed.
  ///
  /// - Parameters:
  ///   - settings: The settings of the store; nil to read them.
  ///   - launchReason: The reason why the process was started.
  ///   - exitsOnSuspend: Whether the process ends when it is suspended.
  ///   - transport: The HTTP transport; nil for the network.
  ///   - timeout: The time limit of requests other than those of fetches.
  func client(
    _ settings: StoreSettings? = nil, launchReason: LaunchReason = .user, exitsOnSuspend: Bool = false,
    transport: (any HTTPTransport)? = nil, timeout: CommandTimeout? = nil
  ) throws -> NewsFetcher {
    let settings = try settings ?? self.settings()
    let folder = settings.location.folder
    return try NewsFetcher(
      folder: folder,
      application: ApplicationLifecycle(launchReason: launchReason, exitsOnSuspend: exitsOnSuspend, log: Output.log),
      transport: try transport ?? self.transport(settings), log: Output.log
    ) { stored in
      var configuration = NewsFetcher.Configuration(
        folder: folder, feed: try settings.feed(stored: stored), userAgent: Self.userAgent)
      configuration.constraints = Self.constraints
      settings.location.linkSettings()
      configuration.interval = settings.interval
      configuration.notifications = settings.notifications
      configuration.presenter = Self.presenter
      if let timeout { configuration.foregroundTimeout = .seconds(timeout.seconds) }
      return configuration
    }
  }

  /// Explains why an existing folder cannot be used. Otherwise it would be taken for a missing one.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  static func checkAccess(_ folder: URL) throws {
    let path = folder.path(percentEncoded: false)
    var information = stat()
    guard stat(path, &information) == 0 else {
      // A missing folder is created later.
      if errno == ENOENT { return }
      throw unusable(path, String(cString: strerror(errno)))
    }
    guard information.st_mode & S_IFMT == S_IFDIR else { throw unusable(path, "it is not a folder") }
    guard access(path, R_OK | X_OK) == 0 else {
      let owner =
        information.st_uid == geteuid() ? "" : "; it belongs to the user with the number \(information.st_uid)"
      throw unusable(path, String(cString: strerror(errno)) + owner)
    }
  }

  private static func unusable(_ path: String, _ reason: String) -> FetchError {
    FetchError(.storage, "cannot use the store \(path): \(reason). Choose another one with --store.")
  }

  /// Opens the journal of downloads and uploads.
  func journal() throws -> TransferJournal {
    try Self.checkAccess(try folder)
    return try TransferJournal(store: folder, log: Output.log)
  }

  /// Returns a worker for this process.
  func worker() throws -> TransferWorker {
    let folder = try folder
    return try TransferWorker(
      store: folder, userAgent: Self.userAgent, transport: try transport(settings()), obstacles: Self.obstacles,
      log: Output.log
    ) { session in
      #if os(Linux) || os(macOS)
        do { try ApplicationLauncher(store: folder)?.launch(session: session) } catch {
          Output.log("cannot launch the app: \(error)")
        }
      #endif
    }
  }

  /// Returns a worker in a process of its own.
  func workerProcess() throws -> WorkerProcess {
    exportConnection()
    let location = try location
    return WorkerProcess(
      executable: URL(filePath: try Self.executable),
      arguments: ["--store", location.folder.absoluteURL.path(percentEncoded: false)]
        + (location.name.map { ["--name", $0] } ?? []) + ["worker"])
  }

  /// Starts a worker if a transfer is due. A failure is logged, and the command continues.
  ///
  /// - Parameter settings: The settings of the store, if they are known.
  func startWorkerIfNeeded(_ settings: StoreSettings? = nil) {
    do {
      let folder = try settings?.location.folder ?? folder
      let isNeeded = try TransferJournal.needsWorker(store: folder, obstacles: Self.obstacles, log: Output.log)
      if isNeeded { try workerProcess().start() }
    } catch {
      Output.log("cannot continue downloads and uploads: \(error)")
    }
  }

  /// The path of this program.
  static var executable: String {
    get throws {
      #if os(Linux)
        // The link names the program, however the shell has found it.
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      #else
        URL(filePath: CommandLine.arguments[0]).absoluteURL.path(percentEncoded: false)
      #endif
    }
  }

  /// The presenter of notifications; nil where there is none.
  private static var presenter: (any NotificationPresenter)? {
    #if os(Linux)
      DesktopNotifications(name: "Tidings", desktopEntry: "tidings-fetch")
    #else
      nil
    #endif
  }

  /// The source of the machine's power and network conditions.
  static var constraints: any ConstraintSource {
    #if os(Linux)
      SystemConstraints()
    #else
      FetchConstraints.none
    #endif
  }

  /// Returns the conditions of the machine that transfers may wait for.
  @Sendable private static func obstacles() -> Set<Transfer.Obstacle> { constraints.current.obstacles }

  /// The `User-Agent`: name, version, system, and the contact from `TIDINGS_CONTACT` if it is set (RFC 9110, section
  /// 10.1.5).
  static var userAgent: String {
    let contact = environment["TIDINGS_CONTACT"]?.filter { $0.isASCII && !"()\\".contains($0) }
    #if os(Linux)
      let system = "Linux"
    #else
      let system = "Darwin"
    #endif
    let comment = [system, contact?.terminalSafe].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "; ")
    return "tidings-fetch/\(TidingsVersion.current) (\(comment))"
  }
}
