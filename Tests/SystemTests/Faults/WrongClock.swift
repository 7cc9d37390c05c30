import Foundation
import TestKit
import TestSupport

/// A wall clock that libfaketime shifts for a process.
struct WrongClock: Sendable {
  private let folder: URL

  private static let library = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
    .map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }.first { FileManager.default.fileExists(atPath: $0) }

  static var isInstalled: Bool { library != nil }

  /// A library that passes timers to the kernel as they are.
  ///
  /// libfaketime shifts the absolute deadline of every timer descriptor by the difference of the wall clock, also if the
  /// descriptor has another clock. The kernel refuses a negative deadline, so that on a machine that has run for less
  /// than the difference, the timers of libdispatch would never fire again.
  private static let timers = """
    #define _GNU_SOURCE
    #include <sys/syscall.h>
    #include <sys/timerfd.h>
    #include <unistd.h>
    int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old) {
      return syscall(SYS_timerfd_settime, descriptor, flags, value, old);
    }
    """

  /// Creates a correct clock.
  ///
  /// - Throws: `Unexpected` if the compiler for C, which is part of Swift's toolchain, fails.
  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tidings-clock.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      try Data(Self.timers.utf8).write(to: folder.appending(path: "timers.c"))
      let result = try await ChildProcess(
        ["clang", "-shared", "-fPIC", "-o", timers.path, folder.appending(path: "timers.c").path],
        executable: "/usr/bin/env", environment: ProcessInfo.processInfo.environment
      ).result()
      guard result.status == 0 else { throw Unexpected(description: "clang: \(result.errors)") }
      try jump(by: 0)
      // PostgreSQL reads the files as another user.
      for (path, mode) in [(folder.path, 0o755), (file.path, 0o644), (timers.path, 0o755)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
    } catch {
      remove()
      throw error
    }
  }

  private var file: URL { folder.appending(path: "difference") }
  private var timers: URL { folder.appending(path: "timers.so") }

  /// Sets the difference from the real clock, in seconds.
  func jump(by seconds: Int) throws { try Data("\(seconds < 0 ? "" : "+")\(seconds)".utf8).write(to: file) }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// The environment of the process. Only its wall clock is shifted, as when an operator sets the clock. Swift's
  /// runtime finds its arguments only in a process that has become this one by `exec`.
  var environment: [String: String] {
    [
      "LD_PRELOAD": "\(timers.path):\(Self.library ?? "")", "FAKETIME_TIMESTAMP_FILE": file.path,
      "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DISABLE_SHM": "1",
    ]
  }
}
