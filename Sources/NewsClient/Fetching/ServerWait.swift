public import Foundation

/// A wait that a server has demanded by `Retry-After` (RFC 9110, section 10.2.3).
///
///     for wait in news.serverWaits {
///       print("\(wait.origin) accepts no requests until \(wait.until)")
///     }
public struct ServerWait: Sendable, Hashable {
  /// The scheme, the host and the port of the server, such as `https://news.example:443`.
  public var origin: String
  /// The end of the wait.
  public var until: Date
}
