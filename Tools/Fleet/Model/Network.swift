/// The caches and servers between the phones and the data, with the lifetimes that the server's `Cache-Control` sets
/// (`CachePolicy` of NewsAPI).
///
///     var network = Network()
///     network.changes.fresh = 5
///     network.servers = 4
public struct Network: Sendable, Hashable {
  /// The lifetime of a response in a shared cache.
  public struct Lifetime: Sendable, Hashable {
    /// The seconds of `s-maxage`, 1 or more.
    public var fresh: Int
    /// The seconds of `stale-while-revalidate`, 0 or more.
    public var stale: Int

    /// Creates a lifetime.
    public init(fresh: Int, stale: Int) {
      (self.fresh, self.stale) = (fresh, stale)
    }

    /// Creates the lifetime of a public read for a setting `TIDINGS_SHARED_MAX_AGE`: both parts are 10 s together.
    public init(sharedMaxAge: Int) {
      self.init(fresh: sharedMaxAge, stale: max(0, 10 - sharedMaxAge))
    }

    /// The mean time in seconds for which a cached response is fresh. nginx counts whole seconds: a response that arrives
    /// within the second 100 and has `s-maxage=1` is fresh until the end of the second 101.
    public var meanFresh: Double { Double(fresh) + 0.5 }
  }

  /// The number of edges of the CDN, each with a cache of its own, 1 or more.
  public var edges = 1
  /// The number of nginx in front of the servers, each with a cache of its own, 1 or more.
  public var proxies = 1
  /// The number of servers, 1 or more.
  public var servers = 2
  /// The lifetime of `/v1/changes`.
  public var changes = Lifetime(sharedMaxAge: 1)
  /// The lifetime of `/v1/items`.
  public var items = Lifetime(sharedMaxAge: 1)
  /// The time in seconds after which nginx forgets a response that nobody asks for (`inactive`).
  public var inactive = 600.0
  /// The maximum time of a long poll in seconds, which is not compressed.
  public var longPoll = 50.0

  /// Creates the shipped configuration with one edge and two servers.
  public init() {}
}
