package import NIOCore

/// The time that a client has for the body of a request.
package struct BodyAllowance: Sendable {
  /// The end of the header, later by each pause that the server has caused.
  package var began: NIODeadline
  /// The bytes received so far; `Int64.max` for any greater number.
  private var bytes: Int64

  /// - Parameter bytes: The bytes received before.
  package init(began: NIODeadline, bytes: Int64 = 0) {
    self.began = began
    self.bytes = bytes
  }

  /// Counts received bytes.
  package mutating func add(_ count: Int) {
    let (sum, hasOverflowed) = bytes.addingReportingOverflow(Int64(count))
    bytes = hasOverflowed ? .max : sum
  }

  /// The deadline of the next byte: a pause from now on, or the time that all bytes may take at the least average rate.
  ///
  /// The client decides how many bytes there are. A product with a year at most does not overflow.
  package func deadline(at now: NIODeadline, _ limits: ConnectionLimits) -> NIODeadline {
    let year: Int64 = 365 * 86_400
    let rate = min(max(1, limits.minimumBodyRate), 1 << 32)
    let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: rate)
    let time = TimeAmount.seconds(min(seconds, year)) + .nanoseconds(rest * 1_000_000_000 / rate)
    return min(now + limits.bodyIdleTimeout, began + limits.bodyIdleTimeout + time)
  }
}
