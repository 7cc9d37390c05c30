package import NIOCore

/// The deadline for the next input of a client, as a pure value: callers pass the time.
///
/// The time that the server takes for a response does not count against the client.
package struct ConnectionDeadline {
  /// The client took too long for a header or a body.
  package struct Exceeded: Error {}

  /// The action at the deadline.
  package enum Expiry: Equatable, Sendable {
    /// The deadline is in the future, because it was moved.
    case wait
    /// Nothing is read at present. The deadline is checked again later.
    case paused
    /// The connection is closed without a response: no request is in progress.
    case close
    /// The request fails with `Exceeded`.
    case fail
  }

  private enum Phase {
    /// No request is in progress. Bytes of earlier responses may still wait for the client.
    case idle(unsentBytes: Int)
    /// Bytes of a header have arrived.
    case header
    case body(BodyDeadline)
    /// The server makes and sends responses.
    case responding
  }

  /// The deadline.
  package private(set) var time = NIODeadline.distantFuture
  private let limits: ConnectionLimits
  private var phase = Phase.idle(unsentBytes: 0)
  /// The time since which nothing is read, because earlier input has not been processed yet.
  private var pausedSince: NIODeadline?

  package init(_ limits: ConnectionLimits) {
    self.limits = limits
  }

  /// Starts the deadline of an idle connection.
  package mutating func beginIdle(at now: NIODeadline) {
    phase = .idle(unsentBytes: 0)
    time = now + limits.idleTimeout
  }

  /// Handles bytes that do not complete a part of a message: a header has begun, unless a request is in progress.
  package mutating func receiveBytes(at now: NIODeadline) {
    guard case .idle = phase else { return }
    phase = .header
    time = now + limits.headerTimeout
  }

  /// Handles the end of a header.
  package mutating func receiveHead(at now: NIODeadline) {
    phase = .body(BodyDeadline(start: now))
    time = now + limits.bodyIdleTimeout
  }

  package mutating func receiveBody(bytes: Int, at now: NIODeadline) {
    guard case .body(var body) = phase else { return }
    body.add(bytes)
    phase = .body(body)
    time = body.deadline(at: now, limits)
  }

  /// Handles the end of a request.
  package mutating func receiveEnd() {
    phase = .responding
    time = .distantFuture
  }

  /// Handles the end of the last pending response.
  package mutating func endResponses(at now: NIODeadline) {
    if case .responding = phase { beginIdle(at: now) }
  }

  /// Suspends the deadlines of reading until `resume(at:)`.
  package mutating func pause(at now: NIODeadline) { pausedSince = now }

  /// Continues the deadlines of reading after backpressure, once a disk or an earlier response has caught up.
  package mutating func resume(at now: NIODeadline) {
    guard let since = pausedSince.take(), case .body(var body) = phase else { return }
    body.start = body.start + (now - since)
    phase = .body(body)
    time = time + (now - since)
  }

  /// Handles the end of the timer.
  ///
  /// - Parameter unsentBytes: The bytes that wait for the client to read them.
  package mutating func expire(at now: NIODeadline, unsentBytes: Int) -> Expiry {
    guard now >= time else { return .wait }
    switch phase {
    case .idle(let before):
      // A client that reads a large response slowly is not idle, as long as it reads.
      guard unsentBytes > 0, before == 0 || unsentBytes < before else { return .close }
      phase = .idle(unsentBytes: unsentBytes)
      time = now + limits.bodyIdleTimeout
      return .wait
    case .body where pausedSince != nil:
      // The deadline is moved when reading continues.
      return .paused
    case .header, .body:
      // Further input must be read, too, and not for ever.
      beginIdle(at: now)
      return .fail
    case .responding: return .wait
    }
  }
}

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

/// The timer of a connection.
///
/// It is never cancelled, because SwiftNIO would search for it among the timers of all connections. A timer that fires
/// too early costs less. There are no weak references: each object that has one counts all its references more slowly.
final class DeadlineTimer {
  /// The time at which the timer fires next; nil if it is not set.
  private var time: NIODeadline?
  /// Called on the event loop when the timer fires. The owner sets it, and removes it at the end of the connection, which
  /// is not retained until then.
  var handler: (() -> Void)?

  /// Sets the timer, unless it fires earlier anyway.
  ///
  /// - Parameter time: The time at which it fires; `distantFuture` for none.
  func set(_ time: NIODeadline, _ eventLoop: any EventLoop) {
    guard time < .distantFuture, handler != nil else { return }
    if let earlier = self.time, earlier <= time { return }
    self.time = time
    eventLoop.assumeIsolated().scheduleTask(deadline: time) {
      // A later call may have set an earlier time.
      guard self.time == time else { return }
      self.time = nil
      self.handler?()
    }
  }
}
