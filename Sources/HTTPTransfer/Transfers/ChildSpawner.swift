#if os(Linux) || os(macOS)
  import Foundation

  /// Starts programs in process groups of their own, without a shell. They inherit neither descriptors, except the given ones,
  /// nor ignored or blocked signals. Foundation's `Process` lets them inherit a socket, and knows no process groups.
  package struct ChildSpawner: Sendable {
    /// The error of a program that cannot be started.
    package struct Failure: Error, CustomStringConvertible, LocalizedError {
      package let description: String
      package var errorDescription: String? { description }

      package init(description: String) { self.description = description }
    }

    /// The end of a program.
    package enum End: Sendable, Equatable {
      case exited(Int32)
      case killed(signal: Int32)
    }

    /// The path of the program.
    package var executable: String
    package var arguments: [String]
    package var environment: [String: String]
    /// Whether the program takes over the terminal: it stays in the process group of this process, has its standard streams
    /// unless others are given, and may be a name that is looked up in `PATH`.
    package var isInForeground = false

    package init(executable: String, arguments: [String], environment: [String: String]) {
      (self.executable, self.arguments, self.environment) = (executable, arguments, environment)
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - input: The descriptor of the standard input; nil for none.
    ///   - output: The descriptor of the standard output; nil for none.
    ///   - errors: The descriptor of the standard error; nil for none.
    /// - Returns: The process, which the caller must reap with `waitpid`.
    /// - Throws: `Failure`.
    package func start(input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil) throws -> Int32 {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let isolation = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let isolation = POSIX_SPAWN_SETPGROUP
      #endif
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for (descriptor, target) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (errors, STDERR_FILENO)] {
        if let descriptor {
          posix_spawn_file_actions_adddup2(&actions, descriptor, target)
        } else if !isInForeground {
          posix_spawn_file_actions_addopen(
            &actions, target, "/dev/null", target == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
        }
      }
      // Not every library opens its descriptors with close-on-exec.
      for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
        if let descriptor = Int32(name), descriptor > STDERR_FILENO {
          posix_spawn_file_actions_addclose(&actions, descriptor)
        }
      }
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      // Swift's threads block signals, and this process may ignore some. Both would be inherited.
      var (noSignals, defaults) = (sigset_t(), sigset_t())
      sigemptyset(&noSignals)
      sigemptyset(&defaults)
      for signal in [SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&defaults, signal) }
      posix_spawnattr_setsigmask(&attributes, &noSignals)
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      posix_spawnattr_setpgroup(&attributes, 0)
      let flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (isInForeground ? 0 : Int32(isolation))
      posix_spawnattr_setflags(&attributes, Int16(flags))
      let words = ([executable] + arguments).map { strdup($0) }
      let variables = environment.map { strdup("\($0)=\($1)") }
      defer { for text in words + variables { free(text) } }
      var process: pid_t = 0
      let spawn = isInForeground ? posix_spawnp : posix_spawn
      let code = spawn(&process, executable, &actions, &attributes, words + [nil], variables + [nil])
      guard code == 0 else {
        throw Failure(description: "cannot run \(executable): \(String(cString: strerror(code)))")
      }
      return process
    }

    /// Starts the program without input and output. It outlives this process, and is reaped when it ends.
    ///
    /// - Returns: The number of the process. It may belong to another process once this one has ended.
    /// - Throws: `Failure`.
    package func startDetached() throws -> Int32 {
      let process = try start()
      Thread.detachNewThread { _ = Self.end(of: process) }
      return process
    }

    /// Blocks until a program has ended, and reaps it.
    package static func end(of process: Int32) -> End {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      // As the macros of wait(2) do: the signal is in the lowest seven bits, the exit status in the next byte.
      return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }
  }
#endif
