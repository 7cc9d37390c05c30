import Foundation

/// The expected number of requests for one key that pass the edges, and then nginx.
///
/// Time is divided into windows as long as a response is fresh. A cache sends at most about one request in a window. With a
/// mean of m requests of phones in the window, it sends one
///
/// - with the probability 1 - exp(-m) if it has sent none in the window before,
/// - with the probability 1 - (1 - exp(-m)) / m otherwise: the response then stays fresh until the same moment of this
///   window, any moment being as likely as others.
///
/// While the rate does not change, this is m / (1 + m).
struct CacheFlow {
  private let edges: Double
  private let proxies: Double
  private let length: Double
  private let stale: Double
  private let inactive: Double
  /// The start of the current window, and the requests in it so far. Windows follow one another while there are requests; a
  /// request after a gap begins a new one.
  private var start = -Double.infinity
  private var requests = 0.0
  private var edge = CacheState()
  private var proxy = CacheState()

  /// Whether a cache has sent a request in the window before.
  private struct CacheState {
    var probability = 0.0
    var recent = RecentRequests()

    /// Returns the probability of a request in the next window.
    ///
    /// - Parameter mean: The mean number of requests that the cache receives.
    mutating func advance(_ mean: Double) -> Double {
      guard mean > 1e-12 else {
        probability = 0
        return 0
      }
      let any = -expm1(-mean)
      probability = (1 - probability) * any + probability * max(0, 1 - any / mean)
      return probability
    }
  }

  /// The requests that a cache passes on, all edges or all nginx together.
  struct Passed {
    var requests = 0.0
    /// Those whose client has received a stale response meanwhile.
    var stale = 0.0
    /// Those after a time in which the cache has forgotten its response.
    var forgotten = 0.0

    static func * (passed: Passed, factor: Double) -> Passed {
      Passed(
        requests: passed.requests * factor, stale: passed.stale * factor, forgotten: passed.forgotten * factor)
    }
  }

  /// The requests of phones in a time, and those that the edges and nginx pass on.
  struct Flow {
    var span: FleetCounts.Span
    var requests: Double
    var edge: Passed
    var proxy: Passed
  }

  typealias Consumer = (_ flow: Flow) -> Void

  init(_ network: Network, _ lifetime: Network.Lifetime) {
    (edges, proxies) = (Double(network.edges), Double(network.proxies))
    length = lifetime.meanFresh
    (stale, inactive) = (Double(lifetime.stale), network.inactive)
  }

  /// Adds requests with a constant rate.
  ///
  /// - Parameters:
  ///   - rate: The requests of all phones in a second.
  ///   - consume: Receives the requests of windows that are over, and those that pass the edges and nginx.
  mutating func advance(from begin: Double, to end: Double, rate: Double, _ consume: Consumer) {
    guard rate > 1e-12 else { return }
    var now = begin
    if now >= start + length { beginWindow(at: now, consume) }
    while now < end {
      if now >= start + length - Self.precision { beginWindow(at: start + length, consume) }
      let windows = Int((end - now) / length)
      if requests == 0, windows > 2 * Self.settling, now < start + Self.precision {
        for _ in 0..<Self.settling {
          requests = rate * length
          beginWindow(at: start + length, consume)
        }
        let rest = Double(windows - Self.settling)
        let passed = pass(rate * length, windows: rest)
        consume(
          Flow(
            span: .init(start, start + rest * length), requests: rate * length * rest, edge: passed.edge * rest,
            proxy: passed.proxy * rest))
        start += rest * length
        now = start
      } else {
        let next = min(end, start + length)
        requests += rate * (next - now)
        now = next
      }
    }
  }

  /// Ends the current window.
  mutating func finish(_ consume: Consumer) {
    guard requests > 0 else { return }
    let passed = pass(requests)
    consume(Flow(span: .init(start, start + length), requests: requests, edge: passed.edge, proxy: passed.proxy))
    requests = 0
  }

  private mutating func beginWindow(at time: Double, _ consume: Consumer) {
    finish(consume)
    // A response that was fresh for a part of the gap is fresh for a shorter time afterwards.
    let gap = max(0, time - start - length)
    let kept = max(0, 1 - gap / length)
    (edge.probability, proxy.probability) = (edge.probability * kept, proxy.probability * kept)
    start = time
  }

  /// A time in seconds below which two moments are the same.
  private static let precision = 1e-7
  /// The number of windows after which a constant rate has a constant outcome.
  private static let settling = 20

  /// Returns the requests of a window that pass the edges and nginx.
  ///
  /// - Parameter windows: The number of equal windows that follow.
  private mutating func pass(_ requests: Double, windows: Double = 1) -> (edge: Passed, proxy: Passed) {
    let mean = requests / edges
    let passed = edge.advance(mean)
    // The edge that was the last one to ask nginx has just received a response of the same age. Its next request depends on
    // its phones alone.
    let arrivals = ((edges - 1) * passed + mean) / proxies
    let atProxy = min(edges * passed, proxies * proxy.advance(arrivals))
    let atEdge = self.passed(edges * passed, caches: edges, arrivals: mean, edge.recent, windows)
    let behind = self.passed(atProxy, caches: proxies, arrivals: arrivals, proxy.recent, windows)
    edge.recent.add(mean * min(windows, inactive / length), until: start + windows * length)
    proxy.recent.add(edges * passed / proxies * min(windows, inactive / length), until: start + windows * length)
    return (atEdge, behind)
  }

  /// - Parameters:
  ///   - arrivals: The mean number of requests that a cache receives in a window.
  ///   - recent: Those that it has received before.
  private func passed(
    _ requests: Double, caches: Double, arrivals: Double, _ recent: RecentRequests, _ windows: Double
  ) -> Passed {
    // In the middle of many windows, those before have filled the time after which a response is forgotten.
    let before = max(recent.sum(since: start - inactive), arrivals * min(inactive / length, (windows - 1) / 2))
    return Passed(
      requests: requests, stale: requests * -expm1(-arrivals / length * stale),
      forgotten: min(requests, caches * exp(-before) * -expm1(-arrivals)))
  }
}

/// The requests that a cache has received for a key lately.
private struct RecentRequests {
  private var parts: [(end: Double, requests: Double)] = []

  mutating func add(_ requests: Double, until end: Double) {
    parts.append((end, requests))
    // About the time after which a response is forgotten, whatever the length of the windows.
    if parts.count > 2000 { parts.removeFirst(1000) }
  }

  func sum(since start: Double) -> Double {
    var sum = 0.0
    for part in parts.reversed() {
      guard part.end > start else { break }
      sum += part.requests
      // The response is almost certainly still there.
      if sum > 40 { break }
    }
    return sum
  }
}
