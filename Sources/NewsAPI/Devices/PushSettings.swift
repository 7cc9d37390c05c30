public import News
public import NewsStore

extension NewsAPI {
  /// The push services that devices can register for.
  public struct PushSettings: Sendable {
    /// The services, as `GET /v1/push` names them.
    public var offer = PushOffer(providers: [])
    /// Whether messages of Web Push may be sent to an endpoint.
    public var allowsEndpoint: @Sendable (String) -> Bool = { _ in false }
    /// The maximum numbers of devices.
    public var limits = DeviceLimits(total: 10_000_000, perHost: 10_000)
    /// The maximum number of registrations per minute from one client address, 1 or more; nil for no limit. An IPv6
    /// client is a /64.
    public var registrationsPerAddress: Int? = 60

    /// Creates settings without any push service.
    public init() {}
  }
}
