package import NIOCore
import Synchronization

/// A rate limiter with a token bucket per key. The number of buckets is bounded.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
  private final class Shard: Sendable {
    let buckets = Mutex<[Key: RateBucket]>([:])
  }

  private let rate: RequestRate
  private let now: @Sendable () -> NIODeadline
  /// The shards of the table, each with a lock of its own. There are many, so that threads rarely wait for each other.
  private let shards = (0..<64).map { _ in Shard() }
  private let shardLimit: Int

  /// - Parameters:
  ///   - capacity: The approximate maximum number of buckets.
  ///   - now: The clock.
  package init(
    _ rate: RequestRate, capacity: Int = 65_536, now: @escaping @Sendable () -> NIODeadline = { .now() }
  ) {
    self.rate = rate
    self.now = now
    shardLimit = max(4, capacity / shards.count)
  }

  /// The number of buckets.
  package var count: Int { shards.reduce(0) { $0 + $1.buckets.withLock { $0.count } } }

  /// Returns the bucket of a key. A new bucket is full.
  package func bucket(of key: Key) -> RateBucket {
    shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))].buckets.withLock { buckets in
      if let known = buckets[key] { return known }
      let now = now()
      if buckets.count >= shardLimit { evictBuckets(in: &buckets, at: now) }
      let new = RateBucket(rate, at: now)
      buckets[key] = new
      return new
    }
  }

  /// Charges a request to a bucket.
  ///
  /// - Returns: The time until the bucket is no longer empty; nil if the request was charged.
  package func charge(_ bucket: RateBucket) -> TimeAmount? { bucket.charge(at: now()) }

  /// Evicts all full buckets, or the fullest quarter if fewer are full. A client cannot cause the eviction of its
  /// empty bucket by sending requests from many other addresses.
  private func evictBuckets(in buckets: inout [Key: RateBucket], at now: NIODeadline) {
    let levels = buckets.mapValues { $0.points(at: now) }
    let full = levels.count { $0.value == rate.capacity }
    for (key, _) in levels.sorted(by: { $0.value > $1.value }).prefix(max(full, shardLimit / 4)) {
      buckets[key] = nil
    }
  }
}

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
