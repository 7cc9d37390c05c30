import BackgroundFetch
public import Foundation
import HTTPTransfer

#if os(Linux) || os(macOS)
  /// Launches the app of a store when it is not running, if the user has allowed that. Among Apple's systems only macOS lets
  /// programs start others.
  ///
  /// The program runs without input and output, in a process group of its own, and with the variables that ``LaunchOptions``
  /// reads. It inherits neither a descriptor nor an ignored signal.
  ///
  ///     if let launcher = ApplicationLauncher(store: folder) {
  ///       try launcher.launch(session: "media")
  ///     }
  public struct ApplicationLauncher: Sendable {
    private let command: [String]
    private let store: URL

    /// Reads the command of the store.
    ///
    /// - Parameter store: The folder of the store.
    /// - Returns: nil if the user has not allowed launches.
    public init?(store: URL) {
      self.init(command: (try? SettingsFile(folder: store).contents)?.launch, store: store)
    }

    init?(command: [String]?, store: URL) {
      guard let command, !command.isEmpty else { return nil }
      (self.command, self.store) = (command, store)
    }

    /// Launches the app because the transfers of a session have ended.
    ///
    /// - Throws: An error with a description if the program cannot be started.
    public func launch(session: String) throws {
      _ = try launch(LaunchOptions(reason: .transfer, session: session, store: store))
    }

    /// Whether the program of the last launch is still running.
    var isRunning: Bool { LaunchedProgram.stored(in: store)?.isRunning ?? false }

    /// Starts the program. It outlives this process.
    func launch(_ options: LaunchOptions) throws -> LaunchedProgram {
      let environment = options.environment(over: ProcessInfo.processInfo.environment)
      let spawner = ChildSpawner(
        executable: command[0], arguments: Array(command.dropFirst()), environment: environment)
      let launched = LaunchedProgram(try spawner.startDetached())
      launched.save(in: store)
      return launched
    }
  }

  /// The program of the last launch. A second one is not started while it runs.
  struct LaunchedProgram: Codable {
    private let process: Int32
    /// The start of the process; nil on systems other than Linux.
    private let start: String?

    init(_ process: Int32) {
      self.process = process
      start = ProcessState(process: process)?.start
    }

    /// Whether the program is running.
    var isRunning: Bool {
      guard let start else { return kill(process, 0) == 0 }
      guard let state = ProcessState(process: process) else { return false }
      return state.start == start && !state.hasEnded
    }

    private static func file(in store: URL) -> DurableFile {
      DurableFile(url: store.appending(path: "launched.json", directoryHint: .notDirectory))
    }

    static func stored(in store: URL) -> LaunchedProgram? { try? file(in: store).read(LaunchedProgram.self) }

    /// Records the launch. Without the record, a second program may be started.
    func save(in store: URL) { try? Self.file(in: store).write(self) }
  }
#endif

extension NewsFetcher {
  /// The program and the arguments that launch the app for a push or at the end of transfers; nil if the user has not allowed
  /// launches, as at first.
  public var launchCommand: [String]? { (try? store.settings.contents)?.launch }

  /// Allows processes of the store to launch the app when it is not running, or forbids it.
  ///
  ///     try news.setLaunchCommand(["/usr/bin/harbour", "--background"])
  ///
  /// - Parameter command: The path of the program, followed by its arguments; nil to forbid launches. It is run without a
  ///   shell.
  /// - Throws: `FetchError` with `storage`.
  public func setLaunchCommand(_ command: [String]?) throws {
    try store.write { _ in try store.settings.update { $0.launch = command } }
  }
}
