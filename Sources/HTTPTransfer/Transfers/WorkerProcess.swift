public import Foundation

#if os(Linux) || os(macOS)
  /// Starts a worker in a process of its own. Among Apple's systems only macOS lets apps start processes.
  ///
  ///     let worker = WorkerProcess(
  ///       executable: URL(filePath: "/usr/local/bin/tidings-fetch"),
  ///       arguments: ["--store", folder.path(percentEncoded: false), "worker"])
  ///     try worker.start()
  public struct WorkerProcess: Sendable {
    private let executable: URL
    private let arguments: [String]

    /// Creates the description of a process.
    ///
    /// - Parameters:
    ///   - executable: The path of the program.
    ///   - arguments: The arguments, such as `--store`, the folder, and `worker`.
    public init(executable: URL, arguments: [String]) {
      self.executable = executable
      self.arguments = arguments
    }

    /// Starts the process, without input and output. It outlives this process, and ends by itself when it has nothing
    /// to do.
    ///
    /// - Throws: An error with a description if the program cannot be started.
    public func start() throws {
      let spawner = ChildSpawner(
        executable: executable.path(percentEncoded: false), arguments: arguments,
        environment: ProcessInfo.processInfo.environment)
      _ = try spawner.startDetached()
    }
  }
#endif
