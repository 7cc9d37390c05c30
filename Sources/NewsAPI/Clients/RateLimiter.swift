package import NIOCore
import Synchronization

/// The buckets of those who ask, no more than a number of them.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
  private final class Shelf: Sendable {
    let buckets = Mutex<[Key: RateBucket]>([:])
  }

  private let rate: RequestRate
  private let now: @Sendable () -> NIODeadline
  /// Many, so that threads seldom wait for each other.
  private let shelves = (0..<64).map { _ in Shelf() }
  private let shelfLimit: Int

  /// - Parameters:
  ///   - capacity: How many buckets are kept, about.
  ///   - now: The clock.
  package init(
    _ rate: RequestRate, capacity: Int = 65_536, now: @escaping @Sendable () -> NIODeadline = { .now() }
  ) {
    self.rate = rate
    self.now = now
    shelfLimit = max(4, capacity / shelves.count)
  }

  /// How many buckets there are.
  package var count: Int { shelves.reduce(0) { $0 + $1.buckets.withLock { $0.count } } }

  /// The bucket of somebody, a full one where there is none.
  package func bucket(of key: Key) -> RateBucket {
    shelves[Int(UInt(bitPattern: key.hashValue) % UInt(shelves.count))].buckets.withLock { buckets in
      if let known = buckets[key] { return known }
      let now = now()
      if buckets.count >= shelfLimit { makeRoom(in: &buckets, at: now) }
      let new = RateBucket(rate, at: now)
      buckets[key] = new
      return new
    }
  }

  /// Takes the price of a request.
  ///
  /// - Returns: How long it takes until that is possible; nil where it was.
  package func take(_ bucket: RateBucket) -> TimeAmount? { bucket.take(at: now()) }

  /// Forgets those of whom nothing is to be remembered, or else a quarter of those who may ask for most: who has asked
  /// for too much cannot be forgotten by asking under many other addresses.
  private func makeRoom(in buckets: inout [Key: RateBucket], at now: NIODeadline) {
    let levels = buckets.mapValues { $0.points(at: now) }
    let full = levels.count { $0.value == rate.capacity }
    for (key, _) in levels.sorted(by: { $0.value > $1.value }).prefix(max(full, shelfLimit / 4)) {
      buckets[key] = nil
    }
  }
}
