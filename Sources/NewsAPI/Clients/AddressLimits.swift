import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// The rate limits of client addresses, each across all connections of the address.
final class AddressLimits: Sendable {
  /// The clients to which the requests of a connection belong.
  enum Judgement {
    /// All requests belong to one client, which has this bucket.
    case client(RateBucket)
    /// The peer is a trusted proxy. Each request names its client.
    case proxy(IPAddress)
    case unlimited
  }

  private let proxies: TrustedProxies
  private let limiter: RateLimiter<IPAddress>
  private let logger: Logger
  private let hasWarned = Atomic(false)

  init(_ rate: RequestRate, proxies: TrustedProxies, logger: Logger) {
    self.proxies = proxies
    self.logger = logger
    limiter = RateLimiter(rate)
  }

  /// Determines whose limit applies to the requests of a connection.
  ///
  /// - Parameter peer: The peer of the connection; nil for a peer without an IP address.
  func judgement(of peer: IPAddress?) -> Judgement {
    guard let peer else { return .unlimited }
    if proxies.trusts(peer) { return .proxy(peer) }
    // Behind a proxy that is not configured, all clients share one address. No limit is better than one limit for all.
    guard proxies.areKnown || !IPNetwork.inside.contains(where: { $0.contains(peer) }) else {
      if !hasWarned.exchange(true, ordering: .relaxed) {
        logger.warning(
          "requests from inside are not limited: TIDINGS_TRUSTED_PROXIES says who asks for others",
          metadata: ["peer": "\(peer)"])
      }
      return .unlimited
    }
    return .client(limiter.bucket(of: peer.subscriber))
  }

  /// Returns the bucket of the client for which a proxy forwards a request; nil if the proxy names no client.
  func bucket(of head: HTTPRequestHead, through proxy: IPAddress) -> RateBucket? {
    let client = proxies.client(of: proxy, head.headers[proxies.field.rawValue])
    return proxies.trusts(client) ? nil : limiter.bucket(of: client.subscriber)
  }

  /// Charges a request to a bucket.
  ///
  /// - Returns: The refusal if the bucket is empty; nil otherwise.
  func take(_ bucket: RateBucket) -> ProblemError? { limiter.take(bucket).map { .tooManyRequests(in: $0) } }

  /// Whether a request is for one of the monitoring endpoints, which are never rate limited.
  ///
  /// - Parameter target: The target in origin form.
  static func isExempt(_ target: String) -> Bool {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    return ["/healthz", "/readyz", "/metrics"].contains { path.elementsEqual($0.utf8) }
  }
}

extension ProblemError {
  /// The refusal of a client that has exceeded its rate limit (RFC 6585 section 4).
  ///
  /// - Parameter time: The time until a request is accepted again. `Retry-After` is rounded up to whole seconds.
  static func tooManyRequests(in time: TimeAmount) -> ProblemError {
    let seconds = max(1, (time.nanoseconds + 999_999_999) / 1_000_000_000)
    return ProblemError(
      .tooManyRequests, "too-many-requests", "There have been too many requests", detail: "Wait for \(seconds) s.",
      headers: [.retryAfter: "\(seconds)"])
  }
}
