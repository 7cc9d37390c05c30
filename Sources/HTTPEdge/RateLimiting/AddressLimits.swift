package import NIOCore
package import NIOHTTP1
package import NetworkAddresses
import Synchronization

/// The rate limits of client addresses, each across all connections of the address.
package final class AddressLimits: Sendable {
  /// The clients to which the requests of a connection belong.
  package enum Client: Sendable {
    /// All requests belong to one client, which has this bucket.
    case bucket(RateBucket)
    /// The peer is a trusted proxy. Each request names its client.
    case proxy(IPAddress)
    case unlimited
  }

  private let proxies: TrustedProxies
  private let limiter: RateLimiter<IPAddress>
  private let unlimitedPaths: [String]
  private let onUnknownProxy: @Sendable (IPAddress) -> Void
  private let hasWarned = Atomic(false)

  /// - Parameters:
  ///   - unlimitedPaths: The paths that are never limited, such as those for monitoring.
  ///   - onUnknownProxy: Called once if requests are not limited because they come from a private network, where a proxy
  ///     is likely, and no proxies are configured.
  package init(
    _ rate: RequestRate, proxies: TrustedProxies, unlimitedPaths: [String],
    onUnknownProxy: @escaping @Sendable (IPAddress) -> Void
  ) {
    self.proxies = proxies
    self.unlimitedPaths = unlimitedPaths
    self.onUnknownProxy = onUnknownProxy
    limiter = RateLimiter(rate)
  }

  /// Determines whose limit applies to the requests of a connection.
  ///
  /// - Parameter peer: The peer of the connection; nil for a peer without an IP address.
  package func client(of peer: IPAddress?) -> Client {
    guard let peer else { return .unlimited }
    if proxies.trusts(peer) { return .proxy(peer) }
    // Behind a proxy that is not configured, all clients share one address. No limit is better than one limit for all.
    guard proxies.areKnown || !IPNetwork.privateNetworks.contains(where: { $0.contains(peer) }) else {
      if !hasWarned.exchange(true, ordering: .relaxed) { onUnknownProxy(peer) }
      return .unlimited
    }
    return .bucket(limiter.bucket(of: peer.subscriber))
  }

  /// Returns the bucket that is charged for a request; nil if the request is not limited.
  ///
  /// - Parameter head: The head of the request, with its target in origin form.
  package func bucket(of head: HTTPRequestHead, from client: Client) -> RateBucket? {
    bucket(of: head.uri, client, forwarded: forwardingField(of: client).map { head.headers[$0] } ?? [])
  }

  /// Returns the field in which a peer names its client, in lower case; nil for a peer that is no trusted proxy.
  func forwardingField(of client: Client) -> String? {
    if case .proxy = client { proxies.field.rawValue } else { nil }
  }

  /// Returns the bucket that is charged for a request; nil if the request is not limited.
  ///
  /// - Parameter fields: The values of the field in which a trusted proxy names its client.
  func bucket(of target: String, _ client: Client, forwarded fields: [String]) -> RateBucket? {
    switch client {
    case .unlimited: return nil
    case .bucket(let bucket): return isUnlimited(target) ? nil : bucket
    case .proxy(let proxy):
      guard !isUnlimited(target) else { return nil }
      let client = proxies.client(of: proxy, fields)
      // A trusted proxy that names no client is not limited.
      return proxies.trusts(client) ? nil : limiter.bucket(of: client.subscriber)
    }
  }

  /// Charges a request to a bucket.
  ///
  /// - Returns: The time until the next request is accepted if the bucket is empty; nil if the request was charged.
  package func charge(_ bucket: RateBucket) -> TimeAmount? { limiter.charge(bucket) }

  private func isUnlimited(_ target: String) -> Bool {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    return unlimitedPaths.contains { path.elementsEqual($0.utf8) }
  }
}
