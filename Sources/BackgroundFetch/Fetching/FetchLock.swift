import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import Synchronization

/// One fetch at a time among the processes that share a file.
///
/// The lock is that of flock(2). It belongs to the open file, so that it ends with the process however that ends, and two
/// holders within a process exclude each other, too. The file stays: if it were removed, another process could lock its
/// successor while the lock on it is still held.
public struct FetchLock: Sendable {
  /// The file could not be opened or locked, for another reason than that the lock is held.
  public struct Failure: Error, CustomStringConvertible {
    /// The file.
    public var path: String
    /// The number of the error (errno(3)).
    public var code: Int32

    /// Both.
    public var description: String { "cannot lock \(path): \(String(cString: strerror(code)))" }
  }

  /// A lock that is held until it is released or let go of.
  public final class Held: Sendable {
    private let descriptor: Mutex<Int32?>

    init(_ descriptor: Int32) {
      self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Gives it up; a second time nothing happens.
    public func release() {
      guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
      ftruncate(descriptor, 0)
      // Not left to close(2): a process that is just being started has the file open, too, until it executes its program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  /// How often those who wait look again: without a wait in the system there is nothing that cancellation has to break.
  static let pause = Duration.milliseconds(100)

  /// The file, which is made if there is none.
  public let path: String

  /// A lock on a file in a directory that exists, on a file system of this machine.
  public init(path: String) {
    self.path = path
  }

  /// Takes the lock if nobody holds it. Does not wait.
  ///
  /// - Returns: The lock, or `nil` if another holds it.
  /// - Throws: `Failure`
  public func acquire() throws -> Held? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
    guard Self.lock(descriptor) else {
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw Failure(path: path, code: code)
    }
    // For messages: that a full disk does not take it is no reason to do without the lock.
    let line = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = pwrite(descriptor, line, line.utf8.count, 0)
    return Held(descriptor)
  }

  /// Takes the lock as soon as nobody holds it.
  ///
  /// - Parameters:
  ///   - patience: How long to wait at the most.
  ///   - clock: What that is measured by.
  /// - Returns: The lock, or `nil` if another has held it all the time.
  /// - Throws: `Failure`; `CancellationError`
  public func acquire(within patience: Duration, clock: any FetchClock = SystemClock()) async throws -> Held? {
    let end = clock.now.uptime + patience.inSeconds
    while true {
      if let held = try acquire() { return held }
      let left = Duration.seconds(end - clock.now.uptime)
      guard left > .zero else { return nil }
      try await clock.sleep(for: min(left, Self.pause))
    }
  }

  /// Whether somebody holds the lock at the moment.
  ///
  /// The look takes a shared lock for an instant, so that an `acquire()` in that instant returns `nil`.
  ///
  /// - Throws: `Failure` where nobody could take it.
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

  /// The process that holds the lock, for messages; `nil` if none does or it has not said so yet.
  ///
  /// A process that was killed leaves its number behind, which may come to belong to another one.
  public var holder: Int32? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), process > 0
    else { return nil }
    // No signal is sent; only ESRCH says that there is no such process (kill(2)).
    return kill(process, 0) == 0 || errno != ESRCH ? process : nil
  }

  /// - Returns: Whether the lock was taken; if not, `errno` says why.
  private static func lock(_ descriptor: Int32) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }
}
