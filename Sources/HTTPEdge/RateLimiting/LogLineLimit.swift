package import NIOCore

/// A limit on the log lines that clients without a key can cause: 600 a minute, at once or spread out. A flood of such
/// requests does not fill the disk that keeps the log.
package struct LogLineLimit: Sendable {
  private let bucket: RateBucket
  private let now: @Sendable () -> NIODeadline

  /// - Parameter now: The clock.
  package init(now: @escaping @Sendable () -> NIODeadline = { .now() }) {
    bucket = RateBucket(RequestRate(perMinute: 600), at: now())
    self.now = now
  }

  /// Takes one line from the limit.
  ///
  /// - Returns: Whether the line may be written.
  package func allow() -> Bool { bucket.charge(at: now()) == nil }
}
