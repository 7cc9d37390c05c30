import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite("Fetch lock")
struct FetchLockTests {
  @Test("the lock has one holder at a time, within a process too, and is free after its release")
  func exclusive() async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      #expect(lock.holder == nil)
      let held = try #require(try lock.acquire())
      #expect(try FetchLock(path: path).acquire() == nil)
      #expect(lock.holder == getpid())
      held.release()
      held.release()
      #expect(lock.holder == nil)
      #expect(try lock.acquire() != nil)
    }
  }

  @Test("deallocation of the handle releases the lock")
  func dropped() async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      _ = try lock.acquire()
      #expect(try lock.acquire() != nil)
    }
  }

  @Test("exactly one of many threads acquires the lock, and no descriptor stays open")
  func threads() async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      for _ in 0..<200 {
        let held = Journal<FetchLock.Handle>()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
          if let one = try? lock.acquire() { held.append(one) }
        }
        try #require(held.entries.count == 1)
        held.entries[0].release()
      }
      #expect(try openDescriptors(of: path).isEmpty)
    }
  }

  @Test("the number of another holder is known, and its lock ends when it is killed")
  func killedHolder() async throws {
    try await withTemporaryFile { path in
      let lock = FetchLock(path: path)
      let child = try Child("/usr/bin/flock", ["--no-fork", path, "sh", "-c", "echo $$ > \(path); exec sleep 1000"])
      try await eventually("the process holds the lock") { lock.holder == child.process }
      #expect(try lock.acquire() == nil)
      kill(child.process, SIGKILL)
      let status = child.wait()
      #expect(status == SIGKILL)
      #expect(lock.holder == nil, "the number in the file belongs to no process")
      #expect(try lock.acquire() != nil)
    }
  }

  @Test("the state of a process is known, whatever the name of its program is")
  func processState() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appending(path: "a) Z (1")
    try FileManager.default.copyItem(at: URL(filePath: "/bin/sh").resolvingSymlinksInPath(), to: program)
    let child = try Child(program.path, ["-c", "kill -STOP $$"])
    try await eventually("it is stopped") { ProcessState(process: child.process)?.isStopped == true }
    let (own, other) = (ProcessState(process: getpid()), ProcessState(process: child.process))
    #expect(other?.hasEnded == false)
    #expect(Int(other?.start ?? "") ?? 0 > Int(own?.start ?? "") ?? .max)
    kill(child.process, SIGKILL)
    let status = child.wait()
    #expect(status == SIGKILL)
    #expect(ProcessState(process: child.process) == nil)
  }

  @Test("the lock of a killed process is free")
  func killedOurselves() async throws {
    try await withTemporaryFile { path in
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let held = try FetchLock(path: path).acquire()
        withExtendedLifetime(held) { _ = raise(SIGKILL) }
      }
      let written = try String(contentsOfFile: path, encoding: .utf8)
      #expect(Int32(written.dropLast()) != nil, "the process held the lock")
      #expect(try FetchLock(path: path).acquire() != nil)
    }
  }

  @Test("other processes see the lock and its release, and do not inherit it")
  func ours() async throws {
    try await withTemporaryFile { path in
      let held = try #require(try FetchLock(path: path).acquire())
      #expect(try Child("/usr/bin/flock", ["--nonblock", path, "true"]).wait() == 1 << 8)
      let descriptors = try openDescriptors(of: path)
      #expect(descriptors.map { fcntl($0, F_GETFD) } == [FD_CLOEXEC])
      held.release()
      #expect(try Child("/usr/bin/flock", ["--nonblock", path, "true"]).wait() == 0)
    }
  }

  @Test("a waiter acquires the lock once it is free, or returns nil at its timeout")
  func waiting() async throws {
    try await withTemporaryFile { path in
      let (lock, clock) = (FetchLock(path: path), ManualClock())
      let held = try #require(try lock.acquire())
      let gotNothing = Task { try await lock.acquire(within: .seconds(0.25), clock: clock) == nil }
      for retryInterval in [0.1, 0.1, 0.05] {
        try await eventually("the waiter sleeps") { clock.sleeping.contains { abs($0 - retryInterval) < 1e-6 } }
        clock.advance(by: retryInterval + 1e-9)
      }
      #expect(try await gotNothing.value)
      let gotIt = Task { try await lock.acquire(within: .seconds(10), clock: clock) != nil }
      try await eventually("the waiter sleeps") { clock.sleeping.count == 1 }
      held.release()
      clock.advance(by: 0.1)
      #expect(try await gotIt.value)
      #expect(clock.sleeping.isEmpty)
    }
  }

  @Test("cancellation ends the wait")
  func cancellation() async throws {
    try await withTemporaryFile { path in
      let (lock, clock) = (FetchLock(path: path), ManualClock())
      let held = try #require(try lock.acquire())
      let task = Task { try await lock.acquire(within: .seconds(10), clock: clock) }
      try await eventually("the waiter sleeps") { clock.sleeping.count == 1 }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      held.release()
    }
  }
}

/// Returns the descriptors of this process that refer to the file.
private func openDescriptors(of path: String) throws -> [Int32] {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
  }
}

/// A child process with the environment of this process.
struct Child {
  let process: pid_t

  init(_ executable: String, _ arguments: [String]) throws {
    let words = ([executable] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    guard posix_spawn(&process, executable, nil, nil, words + [nil], environ) == 0 else {
      throw CocoaError(.fileNoSuchFile)
    }
    self.process = process
  }

  /// Blocks until the process has ended.
  ///
  /// - Returns: The status as in wait(2): a signal number, or 256 times the exit status.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
