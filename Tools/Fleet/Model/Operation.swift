/// The parts of a deployment, from the phones to the data.
public enum Tier: String, Sendable, Hashable, CaseIterable {
  /// The edges of the CDN together.
  case edge
  /// nginx in front of the servers.
  case proxy
  /// The servers.
  case server
  /// PostgreSQL.
  case database
}

/// The operations that cost processor time. Their prices are those that `scripts/bench-fleet` and `scripts/bench-delivery`
/// print under the same names.
public enum Operation: String, Sendable, Hashable, CaseIterable {
  /// A TLS handshake of a phone with an edge.
  case handshake
  /// A response from the cache of an edge.
  case edgeHit = "edge-hit"
  /// A request that an edge passes on.
  case edgeForward = "edge-forward"
  /// A response from the cache of nginx.
  case proxyHit = "proxy-hit"
  /// A request that nginx passes on.
  case proxyForward = "proxy-forward"
  /// A read that a server answers from memory.
  case read
  /// A read that runs a query.
  case query
  /// A long poll, with its response.
  case longPoll = "long-poll"
  /// An event stream, with its first event.
  case stream
  /// The registration of a device, `POST /v1/devices`.
  case register
  /// The renewal of a registration, `PUT /v1/devices/{id}`.
  case renew
  /// The report of a device, `PUT /v1/devices/{id}/state`.
  case report
  /// The publication of an item at one server.
  case publication
  /// The publication of an item, as another server reads it.
  case advance
  /// A message to APNs.
  case apns
  /// A message to FCM.
  case fcm
  /// A message to a Web Push service.
  case webPush = "webpush"
  /// A second of a server without requests.
  case upkeep
}
