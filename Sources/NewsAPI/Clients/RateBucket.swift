package import NIOCore
import Synchronization

/// What somebody may still ask for: a token bucket, which fills up at a constant rate.
package final class RateBucket: Sendable {
  private let level: Mutex<(points: Int64, since: NIODeadline)>
  private let rate: RequestRate

  package init(_ rate: RequestRate, at now: NIODeadline) {
    self.rate = rate
    level = Mutex((rate.capacity, now))
  }

  /// Takes the price of a request, if there is anything left.
  ///
  /// - Returns: How long it takes until there is; nil where the price was paid.
  package func take(at now: NIODeadline) -> TimeAmount? {
    level.withLock { level in
      rate.fill(&level, at: now)
      guard level.points > 0 else { return rate.time(for: 1 - level.points) - (now - level.since) }
      level.points -= RequestRate.request
      return nil
    }
  }

  /// Gives back what an answer has cost less than was taken for it.
  package func answered(status: Int) {
    guard status == 304 else { return }
    level.withLock { $0.points = min(rate.capacity, $0.points + RequestRate.request - RequestRate.notModified) }
  }

  /// What is there, of `RequestRate.capacity`.
  package func points(at now: NIODeadline) -> Int64 {
    level.withLock { level in
      rate.fill(&level, at: now)
      return level.points
    }
  }
}

/// So many requests a minute, at once or one after the other. To be told that there is nothing new is what this server
/// is for: it counts for a tenth.
package struct RequestRate: Sendable {
  static let notModified: Int64 = 1
  static let request: Int64 = 10
  private static let minute = TimeAmount.minutes(1).nanoseconds

  let capacity: Int64

  /// - Parameter perMinute: 1 to 1 000 000 000.
  package init(perMinute: Int) {
    capacity = Int64(perMinute) * Self.request
  }

  /// Adds what has come since the last time, in whole points: the rest of the time counts the next time.
  fileprivate func fill(_ level: inout (points: Int64, since: NIODeadline), at now: NIODeadline) {
    let passed = (now - level.since).nanoseconds
    guard passed > 0 else { return }
    guard passed < 2 * Self.minute else {
      level = (capacity, now)
      return
    }
    // Below 2 minutes and 10^10 points nothing overflows in the wider product.
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
