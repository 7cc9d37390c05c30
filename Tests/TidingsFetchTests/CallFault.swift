import TestKit
import Testing

/// A fault that strace injects into a command, at each of its system calls that write in turn.
enum CallFault: CaseIterable {
  /// `kill -9`.
  case kill
  /// ENOSPC.
  case fullDisk

  /// Whether strace is installed.
  static var isAvailable: Bool { program("strace") != nil }

  private var calls: [String] {
    switch self {
    case .kill: ["write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "rename", "unlink"]
    case .fullDisk: ["write", "pwrite64", "ftruncate"]
    }
  }

  private var injection: String {
    switch self {
    case .kill: "signal=KILL"
    case .fullDisk: "error=ENOSPC"
    }
  }

  /// Runs the body for the first four calls of a command, and for a slice of the others. A short command has no others,
  /// and writes its file with one of the first.
  ///
  /// The number of the call increases until two commands in a row were unharmed, because the process makes fewer calls
  /// than that. strace counts per thread, so one run may miss a number that the next run reaches.
  ///
  /// - Parameter body: Runs the command with the wrapper, and returns whether it ended normally.
  func inject(_ body: (_ wrapper: [String]) async throws -> Bool) async throws {
    let strace = try #require(program("strace"))
    for call in calls {
      var unharmed = 0
      for number in Array(1...4) + slice(of: 5..<200) where unharmed < 2 {
        let wrapper = [strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=\(call):\(injection):when=\(number)"]
        unharmed = try await body(wrapper) ? unharmed + 1 : 0
      }
      #expect(unharmed == 2)
    }
  }
}
