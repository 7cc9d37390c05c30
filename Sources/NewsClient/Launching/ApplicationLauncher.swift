import BackgroundFetch
public import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

#if os(Linux) || os(macOS)
  /// Launches the app of a store when it is not running, if the user has allowed that. Among Apple's systems only macOS lets
  /// programs start others.
  ///
  /// The program runs without input and output, and with the variables that ``LaunchOptions`` reads. It ignores no signal,
  /// even if this process does.
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
      self.init(command: SettingsFile(folder: store, log: { _ in }).contents.launch, store: store)
    }

    init?(command: [String]?, store: URL) {
      guard let command, !command.isEmpty else { return nil }
      (self.command, self.store) = (command, store)
    }

    /// Launches the app because the transfers of a session have ended.
    ///
    /// - Throws: The error of Foundation if the program cannot be started.
    public func launch(session: String) throws {
      _ = try launch(LaunchOptions(reason: .transfer, session: session, store: store))
    }

    /// Starts the program. It outlives this process.
    func launch(_ options: LaunchOptions) throws -> Process {
      // A child inherits the signals that are ignored (execve(2)), and Foundation does not reset them. A handler is reset to
      // the default by the execution of another program.
      let ignored = signal(SIGPIPE) { _ in }
      defer { signal(SIGPIPE, ignored) }
      let process = Process()
      process.executableURL = URL(filePath: command[0])
      process.arguments = Array(command.dropFirst())
      process.environment = ProcessInfo.processInfo.environment.merging(options.environment) { $1 }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      return process
    }
  }
#endif

extension NewsFetcher {
  /// The program and the arguments that launch the app for a push or at the end of transfers; nil if the user has not allowed
  /// launches, as at first.
  public var launchCommand: [String]? { store.settings.contents.launch }

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
