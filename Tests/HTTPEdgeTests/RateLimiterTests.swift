import HTTPEdge
import NIOCore
import Synchronization
import TestKit
import Testing

@Suite struct RateLimiterTests {
  /// A clock that advances only on request.
  private final class Clock: Sendable {
    private let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000_000))

    var now: NIODeadline { time.withLock { $0 } }

    func advance(by amount: TimeAmount) { time.withLock { $0 = $0 + amount } }
  }

  private let clock = Clock()

  private func limiter(_ perMinute: Int, capacity: Int = 1000) -> RateLimiter<Int> {
    RateLimiter(RequestRate(perMinute: perMinute), capacity: capacity) { [clock] in clock.now }
  }

  @Test("The allowed number of requests passes at once, and the next one exactly after the announced time")
  func bucket() throws {
    let limiter = limiter(30)
    let bucket = limiter.bucket(of: 1)
    for _ in 0..<30 { #expect(limiter.charge(bucket) == nil) }
    let wait = try #require(limiter.charge(bucket))
    // A request is admitted once a tenth of its cost is available.
    #expect(wait == .milliseconds(200))
    clock.advance(by: .milliseconds(199))
    #expect(limiter.charge(bucket) == .milliseconds(1))
    clock.advance(by: .milliseconds(1))
    #expect(limiter.charge(bucket) == nil)
    #expect(limiter.charge(bucket) == .seconds(2))
  }

  @Test(
    "The average rate is the limit, for any distribution of requests and any rate",
    arguments: [7, 60, 6001])
  func rate(perMinute: Int) async {
    let limiter = limiter(perMinute)
    let bucket = limiter.bucket(of: 1)
    let steps = rounds(200_000)
    var passed = 0
    for step in 0..<steps {
      // Tests share the threads with servers of other tests, which must answer in time.
      if step % 1000 == 0 { await Task.yield() }
      if limiter.charge(bucket) == nil { passed += 1 }
      clock.advance(by: .nanoseconds(Int64(1_000_003 + step % 7 * 500_000)))
    }
    let minutes = Double(steps) * 2.5 / 60_000
    #expect(abs(Double(passed) - Double(perMinute) * (minutes + 1)) < Double(perMinute) * 0.02 + 2)
  }

  @Test("A 304 costs a tenth of a request")
  func notModified() {
    let limiter = limiter(10)
    let bucket = limiter.bucket(of: 1)
    var passed = 0
    while limiter.charge(bucket) == nil {
      bucket.refund(status: 304)
      passed += 1
    }
    #expect(passed == 100)
    clock.advance(by: .minutes(1))
    passed = 0
    while limiter.charge(bucket) == nil {
      bucket.refund(status: 200)
      passed += 1
    }
    #expect(passed == 10)
  }

  @Test("A long pause fills the bucket only up to its capacity")
  func rest() {
    let limiter = limiter(5)
    let bucket = limiter.bucket(of: 1)
    for _ in 0..<5 { #expect(limiter.charge(bucket) == nil) }
    clock.advance(by: .hours(10_000))
    for _ in 0..<5 { #expect(limiter.charge(bucket) == nil) }
    #expect(limiter.charge(bucket) != nil)
  }

  @Test("The number of buckets is bounded, and empty buckets are not evicted before full ones")
  func memory() async {
    let limiter = limiter(10, capacity: 6400)
    let culprit = limiter.bucket(of: -1)
    while limiter.charge(culprit) == nil {}
    for key in 0..<100_000 {
      if key % 1000 == 0 { await Task.yield() }
      _ = limiter.charge(limiter.bucket(of: key))
    }
    #expect(limiter.count <= 6400)
    #expect(limiter.bucket(of: -1) === culprit)
    #expect(limiter.charge(limiter.bucket(of: -1)) != nil)
  }
}
