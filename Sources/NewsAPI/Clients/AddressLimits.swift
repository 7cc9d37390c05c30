import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// What an address may ask for, whatever its connections.
final class AddressLimits: Sendable {
  /// How the requests of a connection are told apart.
  enum Judgement {
    /// They are all of one client.
    case client(RateBucket)
    /// Each says whose it is.
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

  /// - Parameter peer: The other end of a connection; nil for one that has no address.
  func judgement(of peer: IPAddress?) -> Judgement {
    guard let peer else { return .unlimited }
    if proxies.trusts(peer) { return .proxy(peer) }
    // Behind a proxy that nobody has told of, all the world has one address: better no limit than one for all.
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

  /// The bucket of the client for whom a proxy asks; nil where it does not say.
  func bucket(of head: HTTPRequestHead, through proxy: IPAddress) -> RateBucket? {
    let client = proxies.client(of: proxy, head.headers[proxies.field.rawValue])
    return proxies.trusts(client) ? nil : limiter.bucket(of: client.subscriber)
  }

  /// Takes the price of a request.
  ///
  /// - Returns: The refusal where there is nothing left.
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
  /// RFC 6585 section 4.
  static func tooManyRequests(in time: TimeAmount) -> ProblemError {
    let seconds = max(1, (time.nanoseconds + 999_999_999) / 1_000_000_000)
    return ProblemError(
      .tooManyRequests, "too-many-requests", "There have been too many requests", detail: "Wait for \(seconds) s.",
      headers: [.retryAfter: "\(seconds)"])
  }
}
