package import Logging
package import NIOCore
import Synchronization

/// A limit on the log lines of one kind that clients without a key, or an outage, can cause: a number a minute, at once or
/// spread out. A flood of such requests does not fill the disk that keeps the log. The next line after a flood says how many
/// were left out.
package final class LogLineLimit: Sendable {
  private let bucket: RateBucket
  private let now: @Sendable () -> NIODeadline
  private let suppressed = Atomic(0)

  /// - Parameters:
  ///   - count: The maximum number of lines per minute, 1 or more.
  ///   - now: The clock.
  package init(perMinute count: Int = 600, now: @escaping @Sendable () -> NIODeadline = { .now() }) {
    bucket = RateBucket(RequestRate(perMinute: count), at: now())
    self.now = now
  }

  /// Takes one line from the limit.
  ///
  /// - Returns: The metadata of the line: the number of lines that were left out since the last one, `suppressed`, or empty if
  ///   there were none. nil if this line is to be left out.
  package func line() -> Logger.Metadata? {
    guard bucket.charge(at: now()) == nil else {
      suppressed.wrappingAdd(1, ordering: .relaxed)
      return nil
    }
    let count = suppressed.exchange(0, ordering: .relaxed)
    return count == 0 ? [:] : ["suppressed": "\(count)"]
  }
}
