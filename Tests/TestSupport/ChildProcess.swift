import Foundation
import Synchronization

/// A program in a child process: by default the `tidings` command.
///
/// Threads read its output, so neither a full pipe nor a waiting test can block it.
package final class ChildProcess: Sendable {
  /// The result of a process that has ended.
  package struct Result: Sendable {
    /// The exit status, or the negated number of the signal that killed the process.
    package var status: Int32
    package var output: String
    package var errors: String
  }

  /// The process could not be started.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The lines of standard error as they arrive; can be read once.
  package let errorLines: AsyncStream<String>
  private let output: Task<String, Never>
  private let errors: Task<String, Never>
  private let status: Task<Int32, Never>
  private let readers: [Reader]
  private let identifier: Reaped

  /// The path of the command beside the test executable, unless `TIDINGS_TEST_EXECUTABLE` names another one.
  package static let tidings =
    ProcessInfo.processInfo.environment["TIDINGS_TEST_EXECUTABLE"]
    ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "tidings").path

  /// Variables that every command receives, whatever environment a test sets: the fault that a build by
  /// `scripts/mutants` activates, and the mark by which `scripts/with-cluster` finds and ends leftover processes.
  private static let marks = ProcessInfo.processInfo.environment.filter { name, _ in
    ["TIDINGS_TEST_MUTANT", "TIDINGS_WITH_CLUSTER"].contains(name)
  }

  /// Returns the environment for the command: that of this process, with the settings for a database and without
  /// settings of any other installation.
  package static func environment(databaseURL: String) -> [String: String] {
    let own = ProcessInfo.processInfo.environment.filter { name, _ in
      !["TIDINGS_", "DATABASE_", "PG"].contains { name.hasPrefix($0) }
    }
    return own.merging([
      "DATABASE_URL": databaseURL, "TIDINGS_ALLOW_UNSAFE_DURABILITY": "true",
    ]) { $1 }
  }

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - executable: The path of the program.
  ///   - input: The path of the file that becomes its standard input.
  ///   - closingOutput: Whether the reading end of its standard output is closed.
  package init(
    _ arguments: [String], executable: String = ChildProcess.tidings, environment: [String: String],
    input: String = "/dev/null", closingOutput: Bool = false
  ) throws {
    let (outputPipe, errorPipe) = (try Self.pipe(), try Self.pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, outputPipe.writing, 1)
    posix_spawn_file_actions_adddup2(&actions, errorPipe.writing, 2)
    // A command that inherited a socket of the tests would keep the connection open after they have closed it. Not every
    // library creates its sockets with close-on-exec.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      if let descriptor = Int32(name), descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    }
    // Swift's threads block signals, and the child would inherit the mask and never receive SIGTERM.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = ([executable] + arguments).map { strdup($0) }
    let variables = environment.merging(Self.marks) { $1 }.map { strdup("\($0)=\($1)") }
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let outcome = posix_spawn(&process, executable, &actions, &attributes, words + [nil], variables + [nil])
    close(outputPipe.writing)
    close(errorPipe.writing)
    guard outcome == 0 else {
      close(outputPipe.reading)
      close(errorPipe.reading)
      throw Failure(description: "cannot run \(executable): \(String(cString: strerror(outcome)))")
    }
    if closingOutput { shutdown(outputPipe.reading, Int32(SHUT_RD)) }
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    let identifier = Reaped(process)
    self.identifier = identifier
    errorLines = lines
    let readers = [Reader(outputPipe.reading), Reader(errorPipe.reading)]
    self.readers = readers
    output = Self.onThread { readers[0].drain(lines: nil) }
    errors = Self.onThread { readers[1].drain(lines: continuation) }
    status = Self.onThread { identifier.wait() }
  }

  /// The process id, for `/proc`.
  package var id: Int32 { identifier.process }

  /// Sends a signal; does nothing if the process has ended.
  package func send(_ signal: Int32) {
    identifier.send(signal)
  }

  /// Kills the process and waits for its end.
  package func kill() async {
    send(SIGKILL)
    _ = await result()
  }

  /// Waits for the end of the process and kills it after a time limit, because a test that hangs reports no fault.
  package func result(timeout: Duration = .seconds(300)) async -> Result {
    let limit = Task {
      try await Task.sleep(for: timeout)
      send(SIGKILL)
      // Processes that it has left behind may keep its output open.
      for reader in readers { reader.end() }
    }
    defer { limit.cancel() }
    return Result(status: await status.value, output: await output.value, errors: await errors.value)
  }

  /// Creates a pipe that is close-on-exec from the beginning, which pipe() cannot do. Otherwise a process that another
  /// test starts at the same time could keep it open.
  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw Failure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    return (ends[0], ends[1])
  }

  /// Runs blocking work on a new thread.
  private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Task<Value, Never> {
    Task {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
      }
    }
  }

  /// The reader of one output of a process.
  private final class Reader: Sendable {
    private let descriptor: Int32
    private let isClosed = Mutex(false)

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
    }

    /// Reads to the end.
    func drain(lines: AsyncStream<String>.Continuation?) -> String {
      var text: [UInt8] = []
      var lineStart = 0
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        text += buffer[..<count]
        while let end = text[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
          lines?.yield(String(decoding: text[lineStart..<end], as: UTF8.self))
          lineStart = end + 1
        }
      }
      isClosed.withLock { isClosed in
        isClosed = true
        close(descriptor)
      }
      lines?.finish()
      return String(decoding: text, as: UTF8.self)
    }

    /// Makes the reader see the end of the output.
    func end() {
      isClosed.withLock { isClosed in
        if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RD)) }
      }
    }
  }

  /// A process id that is not used after the process has been reaped, because the system may reuse it.
  private final class Reaped: Sendable {
    let process: pid_t
    private let isGone = Mutex(false)

    init(_ process: pid_t) {
      self.process = process
    }

    func send(_ signal: Int32) {
      isGone.withLock { isGone in
        if !isGone { Glibc.kill(process, signal) }
      }
    }

    /// Blocks until the process has ended, and returns its status.
    func wait() -> Int32 {
      var information = siginfo_t()
      while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      return isGone.withLock { isGone in
        isGone = true
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // As the macros of wait(2) do: the signal is in the lowest seven bits, the exit status in the next byte.
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
      }
    }
  }
}
