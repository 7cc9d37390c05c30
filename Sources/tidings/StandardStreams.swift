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
  /// - Throws: `ExitCode` 141 if the reader has gone; `CommandError`.
  static func printResult(_ line: String) throws {
    do {
      try FileDescriptor.standardOutput.writeAll((line + "\n").utf8)
    } catch Errno.brokenPipe {
      throw FailureCode.outputClosed
    } catch {
      throw CommandError("cannot write to standard output: \(SystemReason(error))")
    }
  }

  /// Writes the rows of a list. For programs, the columns are separated by tabs. On a terminal, they are aligned below headings.
  ///
  /// - Parameter headings: The headings of the columns. A row may have fewer columns.
  /// - Throws: The errors of `printResult`.
  static func printList(_ headings: [String], _ rows: [[String]]) throws {
    guard isatty(FileDescriptor.standardOutput.rawValue) == 1 else {
      for row in rows { try printResult(row.joined(separator: "\t")) }
      return
    }
    let lines = [headings] + rows
    // The last column of a row has any width.
    let widths = headings.indices.map { column in
      lines.map { $0.dropLast().dropFirst(column).first?.count ?? 0 }.max() ?? 0
    }
    for line in lines {
      let cells = zip(line.dropLast(), widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      try printResult((cells + line.suffix(1)).joined(separator: "  "))
    }
  }

  /// Returns a value as JSON for people and programs.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Writes a line to standard error. Errors are ignored.
  static func printDiagnostic(_ line: String) {
    _ = try? FileDescriptor.standardError.writeAll((line + "\n").utf8)
  }
}
