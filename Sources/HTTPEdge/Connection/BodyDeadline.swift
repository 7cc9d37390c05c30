package import NIOCore

/// The deadline for the body of a request, by idle time and average rate.
package struct BodyDeadline: Sendable {
  /// The end of the header, later by each pause that the server has caused.
  package var start: NIODeadline
  /// The bytes received so far; `Int64.max` for any greater number.
  private var bytes: Int64

  /// - Parameter bytes: The bytes received before.
  package init(start: NIODeadline, bytes: Int64 = 0) {
    self.start = start
    self.bytes = bytes
  }

  /// Counts received bytes.
  package mutating func add(_ count: Int) {
    let (sum, hasOverflowed) = bytes.addingReportingOverflow(Int64(count))
    bytes = hasOverflowed ? .max : sum
  }

  /// Returns the deadline of the next byte: that of the idle timeout, or of the minimum average rate if it is earlier.
  ///
  /// The client controls the number of bytes. The time is limited to a year, so that the sum does not overflow.
  package func deadline(at now: NIODeadline, _ limits: ConnectionLimits) -> NIODeadline {
    let year: Int64 = 365 * 86_400
    let rate = min(max(1, limits.minimumBodyRate), 1 << 32)
    let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: rate)
    let time = TimeAmount.seconds(min(seconds, year)) + .nanoseconds(rest * 1_000_000_000 / rate)
    return min(now + limits.bodyIdleTimeout, start + limits.bodyIdleTimeout + time)
  }
}
