package import NIOCore
import Synchronization

/// A token bucket with the requests that a client may still send. It fills up at a constant rate.
package final class RateBucket: Sendable {
  private let level: Mutex<(points: Int64, since: NIODeadline)>
  private let rate: RequestRate

  package init(_ rate: RequestRate, at now: NIODeadline) {
    self.rate = rate
    level = Mutex((rate.capacity, now))
  }

  /// Charges a request if the bucket is not empty. One point is enough; the rest becomes a negative balance.
  ///
  /// - Returns: The time until the bucket has a point again; nil if the request was charged.
  package func charge(at now: NIODeadline) -> TimeAmount? {
    level.withLock { level in
      rate.fill(&level, at: now)
      guard level.points > 0 else { return rate.time(for: 1 - level.points) - (now - level.since) }
      level.points -= RequestRate.request
      return nil
    }
  }

  /// Refunds the difference between the price of a request and that of a 304; nothing for another status.
  package func refund(status: Int) {
    guard status == 304 else { return }
    level.withLock { $0.points = min(rate.capacity, $0.points + RequestRate.request - RequestRate.notModified) }
  }

  /// The points in the bucket, at most `RequestRate.capacity`.
  package func points(at now: NIODeadline) -> Int64 {
    level.withLock { level in
      rate.fill(&level, at: now)
      return level.points
    }
  }
}

/// A rate limit in requests per minute, which may come in one burst. A request that is answered with 304 counts as a
/// tenth, because the server exists to answer polls.
package struct RequestRate: Sendable {
  static let notModified: Int64 = 1
  static let request: Int64 = 10
  private static let minute = TimeAmount.minutes(1).nanoseconds

  let capacity: Int64

  /// - Parameter perMinute: The number of requests per minute, 1...1_000_000_000.
  package init(perMinute: Int) {
    capacity = Int64(perMinute) * Self.request
  }

  /// Adds the points for the time since the last call, in whole points. The rest of the time counts at the next call.
  fileprivate func fill(_ level: inout (points: Int64, since: NIODeadline), at now: NIODeadline) {
    let passed = (now - level.since).nanoseconds
    guard passed > 0 else { return }
    guard passed < 2 * Self.minute else {
      level = (capacity, now)
      return
    }
    // Below 2 minutes and 10^10 points, the quotient of the double-width product cannot overflow.
    let (high, low) = passed.multipliedFullWidth(by: capacity)
    let points = Self.minute.dividingFullWidth((high, low)).quotient
    guard points > 0 else { return }
    level.points += points
    level.since = level.since + time(for: points)
    if level.points >= capacity { level = (capacity, now) }
  }

  fileprivate func time(for points: Int64) -> TimeAmount {
    let (high, low) = points.multipliedFullWidth(by: Self.minute)
    let (time, rest) = capacity.dividingFullWidth((high, low))
    return .nanoseconds(time + (rest > 0 ? 1 : 0))
  }
}
