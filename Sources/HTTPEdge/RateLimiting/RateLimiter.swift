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
