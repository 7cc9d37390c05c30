#if os(Linux)
  import BackgroundFetch
  import Foundation
  import HTTPTransfer
  import Synchronization

  /// A program that runs as a child process with a time limit, without a shell, in a process group of its own.
  ///
  /// The input is a file, so that a program need not read it. The outputs are read to the end of the program and kept up to a
  /// limit, so that no output fills a pipe. A process that the program has left behind delays nothing. Foundation's
  /// `Process` knows neither process groups nor time limits.
  struct ChildProgram: Sendable {
    /// The end of a program.
    enum End: Sendable, Equatable {
      case exited(Int32)
      case killed(signal: Int32)
      case exceededTimeLimit
    }

    /// The outcome of a program.
    struct Outcome: Sendable {
      var end: End
      /// The beginning of the standard output; empty unless it is wanted.
      var output: Data
      /// The beginning of the standard error.
      var errors: String
    }

    /// The error of a program that cannot be started.
    typealias Failure = ChildSpawner.Failure

    /// The path of the program.
    var executable: String
    var arguments: [String] = []
    var environment: [String: String]
    /// The standard input; nil for none.
    var input: Data?
    /// Whether the standard output is wanted.
    var readsOutput = false

    /// The maximum number of bytes that are kept of each output.
    static let maximumOutputBytes = 65_536

    /// Starts the program, and returns the lines of its standard output. The program is killed when nobody reads them any more.
    ///
    /// - Throws: `Failure` if it cannot be started.
    func lines() throws -> AsyncStream<String> {
      let reader = try LineReader(self)
      let (lines, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(100))
      continuation.onTermination = { _ in reader.kill() }
      Thread.detachNewThread {
        reader.readLines { continuation.yield($0) }
        continuation.finish()
      }
      return lines
    }

    /// Runs the program to its end. At the time limit, or if the task is cancelled, its process group is killed.
    ///
    /// - Throws: `Failure` if it cannot be started.
    func run(within limit: Duration, clock: any FetchClock) async throws -> Outcome {
      let process = try RunningProgram(self)
      return await withTaskCancellationHandler {
        let timer = Task {
          if (try? await clock.sleep(for: limit)) != nil { process.kill(isLimit: true) }
        }
        defer { timer.cancel() }
        return await process.outcome()
      } onCancel: {
        process.kill(isLimit: false)
      }
    }
  }

  /// A child process whose standard output is read line by line.
  private final class LineReader: Sendable {
    /// The maximum length of a line in bytes. Longer lines are dropped.
    private static let maximumLineBytes = 65_536

    private let process: ChildProcess
    private let output: Int32

    init(_ program: ChildProgram) throws {
      let ends = try openPipe()
      defer { close(ends[1]) }
      do { process = try ChildProcess(program, output: ends[1]) } catch {
        close(ends[0])
        throw error
      }
      output = ends[0]
    }

    func kill() { process.kill() }

    /// Blocks until the process has ended.
    func readLines(_ body: (String) -> Void) {
      var line: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = readBytes(output, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        for byte in buffer[..<count] {
          if byte != UInt8(ascii: "\n") {
            if line.count <= Self.maximumLineBytes { line.append(byte) }
            continue
          }
          if line.count <= Self.maximumLineBytes { body(String(decoding: line, as: UTF8.self)) }
          line = []
        }
      }
      close(output)
      kill()
      _ = process.wait()
    }
  }

  /// A child process until it has been reaped. Its number may belong to another process then.
  private final class ChildProcess: Sendable {
    private struct State {
      var isReaped = false
      /// Whether the process was killed at its time limit.
      var hasExceededLimit = false
    }

    private let number: pid_t
    private let state = Mutex(State())

    init(_ program: ChildProgram, input: Int32? = nil, output: Int32?, errors: Int32? = nil) throws {
      let spawner = ChildSpawner(
        executable: program.executable, arguments: program.arguments, environment: program.environment)
      number = try spawner.start(input: input, output: output, errors: errors)
    }

    /// Kills the process group.
    ///
    /// - Parameter isLimit: Whether the reason is the time limit.
    func kill(isLimit: Bool = false) {
      state.withLock { state in
        if state.isReaped { return }
        state.hasExceededLimit = isLimit || state.hasExceededLimit
        _ = sendSignal(-number, SIGKILL)
      }
    }

    /// Blocks until the process has ended.
    func wait() -> ChildProgram.End {
      var information = siginfo_t()
      while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      return state.withLock { state in
        state.isReaped = true
        switch ChildSpawner.end(of: number) {
        case .exited(let status): return .exited(status)
        case .killed(let signal): return state.hasExceededLimit ? .exceededTimeLimit : .killed(signal: signal)
        }
      }
    }
  }

  /// A child process and the pipes from it.
  private final class RunningProgram: Sendable {
    private let process: ChildProcess
    /// The reading ends of the pipes for standard error and, if it is wanted, standard output.
    private let outputs: [Int32]
    /// The pipe that announces the end of the process to the reader of the outputs.
    private let ending: [Int32]

    init(_ program: ChildProgram) throws {
      var opened: [Int32] = []
      do {
        let input = try program.input.map { try Self.file(with: $0) }
        if let input { opened.append(input) }
        let pipes = try (0..<(program.readsOutput ? 3 : 2)).map { _ in
          let ends = try openPipe()
          opened += ends
          return ends
        }
        ending = pipes[0]
        outputs = pipes.dropFirst().map { $0[0] }
        process = try ChildProcess(
          program, input: input, output: program.readsOutput ? pipes[2][1] : nil, errors: pipes[1][1])
        if let input { close(input) }
        for pipe in pipes.dropFirst() { close(pipe[1]) }
      } catch {
        for descriptor in opened { close(descriptor) }
        throw error
      }
    }

    func kill(isLimit: Bool) { process.kill(isLimit: isLimit) }

    /// Waits for the end. It may be called once.
    func outcome() async -> ChildProgram.Outcome {
      async let status = Self.onThread { [self] in
        let end = process.wait()
        _ = write(ending[1], [UInt8(1)], 1)
        return end
      }
      let texts = await Self.onThread { [self] in Self.read(outputs, until: ending[0]) }
      let end = await status
      for descriptor in outputs + ending { close(descriptor) }
      return ChildProgram.Outcome(
        end: end, output: outputs.count > 1 ? Data(texts[1]) : Data(), errors: String(decoding: texts[0], as: UTF8.self)
      )
    }

    /// Reads descriptors until a byte arrives at another one. Data that the process has written before is read too.
    ///
    /// - Returns: The first bytes of each.
    private static func read(_ descriptors: [Int32], until end: Int32) -> [[UInt8]] {
      var texts = descriptors.map { _ in [UInt8]() }
      // A negative descriptor is ignored (poll(2)).
      var entries = (descriptors + [end]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      // A process that was left behind may go on writing.
      var remainingReads = 64
      while remainingReads > 0 {
        guard poll(&entries, nfds_t(entries.count), -1) >= 0 else {
          if errno == EINTR { continue }
          break
        }
        var isIdle = true
        for index in descriptors.indices where entries[index].revents != 0 {
          isIdle = false
          let count = readBytes(descriptors[index], &buffer, buffer.count)
          if count <= 0 {
            entries[index].fd = -1
            entries[index].revents = 0
          } else {
            texts[index] += buffer.prefix(min(count, ChildProgram.maximumOutputBytes - texts[index].count))
          }
        }
        guard entries[descriptors.count].revents != 0 else { continue }
        if isIdle { break }
        remainingReads -= 1
      }
      return texts
    }

    /// Returns a descriptor for reading data. The file has no name, so nothing has to be removed.
    private static func file(with data: Data) throws -> Int32 {
      let path = FileManager.default.temporaryDirectory.appending(path: "tidings-\(UUID().uuidString)")
        .path(percentEncoded: false)
      let writing = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard writing >= 0 else { throw failure("cannot create \(path)") }
      defer {
        close(writing)
        unlink(path)
      }
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure("cannot write \(path)") }
        rest = rest.dropFirst(count)
      }
      let reading = open(path, O_RDONLY | O_CLOEXEC)
      guard reading >= 0 else { throw failure("cannot read \(path)") }
      return reading
    }

    /// Runs blocking work on a new thread.
    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
      }
    }
  }

  /// The function `kill(2)`, which the method of the same name hides.
  private func sendSignal(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }

  /// The function `read(2)`, which the method of the same name hides.
  private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
  }

  /// Opens a pipe that no program inherits: its reading and its writing end.
  private func openPipe() throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure("cannot open a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private func failure(_ text: String) -> ChildProgram.Failure {
    ChildProgram.Failure(description: "\(text): \(String(cString: strerror(errno)))")
  }
#endif
