public import Foundation

#if os(Linux) || os(macOS)
  /// Starts the process of a worker. Other systems of Apple have no processes for apps to start.
  public struct WorkerProcess: Sendable {
    private let executable: URL
    private let arguments: [String]

    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Such as `--store`, the folder, and `worker`.
    public init(executable: URL, arguments: [String]) {
      self.executable = executable
      self.arguments = arguments
    }

    /// Starts it, without input and output. It outlives this process; one that has nothing to do ends by itself.
    ///
    /// - Throws: What Foundation throws where the program cannot be started.
    public func start() throws {
      let process = Process()
      process.executableURL = executable
      process.arguments = arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
    }
  }
#endif
