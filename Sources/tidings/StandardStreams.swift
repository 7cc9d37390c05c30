import ArgumentParser
import Foundation
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The standard streams of the process, which may be closed, full or without a reader.
enum StandardStreams {
  /// Prepares the process for streams in any state. Call it before anything is opened.
  ///
  /// The next file or socket would get the descriptor of a closed standard stream, and results would be written into
  /// it. Each closed stream is therefore replaced by one that fails when it is used.
  static func prepare() {
    // Writes then return an error instead: to a pipe without a reader, and beyond the limit on the size of files.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free descriptor is this one (POSIX.1-2017, 2.14).
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes a line of results.
  ///
  /// - Throws: `ExitCode` 141 if the reader has gone; `OutputError`.
  static func printResult(_ line: String) throws {
    do {
      try FileDescriptor.standardOutput.writeAll((line + "\n").utf8)
    } catch Errno.brokenPipe {
      throw FailureCode.outputClosed
    } catch {
      throw OutputError(description: "cannot write to standard output: \(SystemReason(error))")
    }
  }

  /// Writes a line to standard error. Errors are ignored.
  static func printDiagnostic(_ line: String) {
    _ = try? FileDescriptor.standardError.writeAll((line + "\n").utf8)
  }
}

/// The reason why results could not be written.
struct OutputError: Error, CustomStringConvertible {
  let description: String
}
