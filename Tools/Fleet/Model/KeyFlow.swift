/// The requests in a second for one key of the caches, at a constant rate: an example that can be calculated by hand.
///
///     let flow = KeyFlow(rate: 1000, Network(), Network().changes)
///     print(flow.proxy, flow.server)
public struct KeyFlow: Sendable, Hashable {
  /// The requests of phones in a second.
  public let rate: Double
  /// The requests in a second that the edges pass on.
  public let proxy: Double
  /// The requests in a second that nginx passes on.
  public let server: Double
  private let edgeHits: Double
  private let proxyHits: Double

  /// - Parameters:
  ///   - rate: The requests of phones in a second, above 0.
  ///   - network: The caches and servers.
  ///   - lifetime: The lifetime of the response.
  public init(rate: Double, _ network: Network, _ lifetime: Network.Lifetime) {
    var flow = CacheFlow(network, lifetime)
    var (requests, atEdge, atProxy) = (0.0, CacheFlow.Passed(), CacheFlow.Passed())
    let windows = 100_000.0
    flow.advance(from: 0, to: windows * lifetime.meanFresh, rate: rate) { part in
      // Without the first windows, in which nothing is stored yet.
      guard part.span.start > lifetime.meanFresh * 15 else { return }
      requests += part.requests
      (atEdge.requests, atEdge.stale) = (atEdge.requests + part.edge.requests, atEdge.stale + part.edge.stale)
      (atProxy.requests, atProxy.stale) = (atProxy.requests + part.proxy.requests, atProxy.stale + part.proxy.stale)
    }
    let scale = rate / requests
    self.rate = rate
    (proxy, server) = (atEdge.requests * scale, atProxy.requests * scale)
    edgeHits = rate - proxy + atEdge.stale * scale
    proxyHits = proxy - server + atProxy.stale * scale
  }

  /// Returns the processor time of a tier for a second, in milliseconds. The database has none.
  public func milliseconds(_ tier: Tier, _ prices: Prices) -> Double {
    let operations: [(Operation, Double)] =
      switch tier {
      case .edge: [(.edgeHit, edgeHits), (.edgeForward, proxy)]
      case .proxy: [(.proxyHit, proxyHits), (.proxyForward, server)]
      case .server: [(.read, server)]
      case .database: []
      }
    return operations.reduce(0) { $0 + $1.1 * prices.seconds(of: $1.0, at: tier) * 1000 }
  }
}
