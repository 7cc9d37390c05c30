import Foundation
import Synchronization

/// A lock that allows one fetch at a time among the processes that share a file.
///
/// The lock uses flock(2). It belongs to the open file, so it ends when the process ends, and also excludes other users
/// within the process. The file is never removed: otherwise another process could create and lock a new file while the
/// lock on the removed one is still held.
///
///     let lock = FetchLock(path: "/tmp/harbour.lock")
///     if let held = try lock.acquire() {
///       print("no other fetch is running")
///       held.release()
///     } else {
///       print("process \(lock.holder ?? 0) is fetching")
///     }
public struct FetchLock: Sendable {
  /// The error if the file cannot be opened or locked. A lock that is held elsewhere is not an error.
  ///
  ///     do {
  ///       _ = try FetchLock(path: "/missing/harbour.lock").acquire()
  ///     } catch let error as FetchLock.Failure {
  ///       print(error)  // cannot lock /missing/harbour.lock: No such file or directory
  ///     }
  public struct Failure: Error, CustomStringConvertible {
    /// The path of the file.
    public var path: String
    /// The error number (errno(3)).
    public var code: Int32

    /// A message with the path and the error.
    public var description: String { "cannot lock \(path): \(String(cString: strerror(code)))" }
  }

  /// A held lock. ``release()`` or deallocation releases it.
  ///
  ///     if let held = try FetchLock(path: "/tmp/harbour.lock").acquire() {
  ///       print("no other fetch is running")
  ///       held.release()
  ///     }
  public final class Handle: Sendable {
    private let descriptor: Mutex<Int32?>

    init(_ descriptor: Int32) {
      self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Releases the lock. A second call does nothing.
    public func release() {
      guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
      ftruncate(descriptor, 0)
      // close(2) alone is not enough: a child process has the file open too until it executes its program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  /// The interval between two attempts of a waiter. A waiter does not block in the kernel, so cancellation does not
  /// have to interrupt a system call.
  static let retryInterval = Duration.milliseconds(100)

  /// The path of the file, which is created if it is missing.
  public let path: String

  /// Creates a lock on a file in an existing directory, on a local file system.
  public init(path: String) {
    self.path = path
  }

  /// Acquires the lock if it is free. It does not wait.
  ///
  /// - Returns: The lock, or `nil` if it is held elsewhere.
  /// - Throws: `Failure`
  public func acquire() throws -> Handle? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
    guard Self.lock(descriptor) else {
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw Failure(path: path, code: code)
    }
    // The number is used only in messages, so a failure to write it (a full disk) is ignored.
    let line = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = pwrite(descriptor, line, line.utf8.count, 0)
    return Handle(descriptor)
  }

  /// Acquires the lock as soon as it is free.
  ///
  /// - Parameters:
  ///   - timeout: The timeout. There is at least one attempt.
  ///   - clock: The clock that measures the timeout.
  /// - Returns: The lock, or `nil` if it was held elsewhere until the timeout, or by a process that is stopped.
  /// - Throws: `Failure`; `CancellationError`
  public func acquire(within timeout: Duration, clock: any FetchClock = SystemClock()) async throws -> Handle? {
    let end = clock.now.uptime + timeout.inSeconds
    while true {
      if let held = try acquire() { return held }
      let left = Duration.seconds(end - clock.now.uptime)
      guard left > .zero, !isHolderStopped else { return nil }
      try await clock.sleep(for: min(left, Self.retryInterval))
    }
  }

  /// Whether the lock is held at the moment.
  ///
  /// The check takes a shared lock for an instant, so that an `acquire()` in that instant returns `nil`.
  ///
  /// - Throws: `Failure` if the file cannot be opened or locked.
  package var isHeld: Bool {
    get throws {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
      defer { close(descriptor) }
      while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
        if errno == EWOULDBLOCK { return true }
        if errno != EINTR { throw Failure(path: path, code: errno) }
      }
      flock(descriptor, LOCK_UN)
      return false
    }
  }

  /// The number of the process that holds the lock, for messages; `nil` if the lock is free or the process has not
  /// written its number yet.
  ///
  /// The number of a process that was killed stays in the file, and may later belong to another process.
  public var holder: Int32? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), process > 0
    else { return nil }
    // Signal 0 only checks. Only ESRCH means that there is no such process (kill(2)).
    return kill(process, 0) == 0 || errno != ESRCH ? process : nil
  }

  /// Whether the process that holds the lock is stopped, so that it may hold it for ever. It is always `false` on systems
  /// other than Linux.
  package var isHolderStopped: Bool { holder.flatMap { ProcessState(process: $0) }?.isStopped ?? false }

  /// Tries to take the exclusive lock.
  ///
  /// - Returns: Whether the lock was taken; otherwise `errno` has the reason.
  private static func lock(_ descriptor: Int32) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }
}
