package import NIOCore
public import NetworkAddresses

/// The rule that decides which addresses outgoing requests may reach.
///
/// The addresses of feeds, hubs and webhooks come from strangers. Without the rule, such an address could name a
/// service in the operator's network.
///
///     var policy = AddressPolicy()
///     policy.allowedNetworks = [IPNetwork("10.1.0.0/16")].compactMap { $0 }
public struct AddressPolicy: Sendable {
  /// The networks that requests may reach although they are not public. The other rules do not apply to them: http and
  /// all ports are allowed.
  public var allowedNetworks: [IPNetwork] = []
  /// Whether http is allowed, as well as https.
  public var allowsPlainHTTP = false

  /// Creates a policy that allows https to public addresses only.
  public init() {}

  /// Checks a resolved address.
  ///
  /// - Throws: `OutgoingError.refused`, with a reason that does not reveal the address.
  package func check(_ address: SocketAddress, of url: OutgoingURL) throws(OutgoingError) {
    guard let ip = IPAddress(address) else { throw .refused("\(url.host) has no IP address") }
    if allowedNetworks.contains(where: { $0.contains(ip) }) { return }
    if case .v6 = address, ip.isVersion4 {
      throw .refused("\(url.host) has an IPv4-mapped address, which is not allowed")
    }
    if let special = SpecialNetwork.containing(ip) {
      throw .refused("\(url.host) has a \(special.name) address, which is not allowed")
    }
    guard allowsPlainHTTP || url.isSecure else { throw .refused("\(url.text) uses http; https is required") }
    guard Self.isAllowed(port: url.port) else { throw .refused("port \(url.port) is not allowed") }
  }

  /// Checks an address before anything is resolved, so far as it names an IP address: in place of a name, or by a name of
  /// the host itself (RFC 6761 section 6.3). Other names are checked when they are resolved.
  ///
  /// - Throws: `OutgoingError.refused`.
  public func check(_ url: OutgoingURL) throws(OutgoingError) {
    if let address = url.literal { return try check(address, of: url) }
    guard url.host == "localhost" || url.host.hasSuffix(".localhost") else { return }
    var failure: OutgoingError?
    for text in ["127.0.0.1", "::1"] {
      guard let address = try? SocketAddress(ipAddress: text, port: url.port) else { continue }
      do { return try check(address, of: url) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// The ports from 1024 on that belong to other protocols, from the list of bad ports of the Fetch standard (section
  /// 2.9).
  private static let otherProtocols: Set<Int> = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
    10080,
  ]

  private static func isAllowed(port: Int) -> Bool {
    port == 80 || port == 443 || port >= 1024 && !otherProtocols.contains(port)
  }
}

/// A network whose addresses do not belong to a host on the internet.
struct SpecialNetwork {
  let name: String
  private let network: IPNetwork

  private init?(_ network: String, _ name: String) {
    guard let parsed = IPNetwork(network) else { return nil }
    (self.network, self.name) = (parsed, name)
  }

  /// Returns the network of an address; nil for a public address.
  static func containing(_ address: IPAddress) -> SpecialNetwork? {
    if let special = all.first(where: { $0.network.contains(address) }) { return special }
    // All other addresses outside the block of global unicast are unassigned (RFC 4291 section 2.4).
    return address.isVersion4 || globalUnicast?.contains(address) == true ? nil : unassigned
  }

  private static let globalUnicast = IPNetwork("2000::/3")
  private static let unassigned = SpecialNetwork("::/0", "reserved")

  /// The special-purpose address registries of IANA (RFC 6890), and multicast.
  private static let all: [SpecialNetwork] = [
    SpecialNetwork("0.0.0.0/8", "reserved"),
    SpecialNetwork("10.0.0.0/8", "private"),
    SpecialNetwork("100.64.0.0/10", "shared (carrier-grade NAT)"),
    SpecialNetwork("127.0.0.0/8", "loopback"),
    SpecialNetwork("169.254.0.0/16", "link-local"),
    SpecialNetwork("172.16.0.0/12", "private"),
    SpecialNetwork("192.0.0.0/24", "reserved"),
    SpecialNetwork("192.0.2.0/24", "documentation"),
    SpecialNetwork("192.88.99.0/24", "6to4"),
    SpecialNetwork("192.168.0.0/16", "private"),
    SpecialNetwork("198.18.0.0/15", "benchmark"),
    SpecialNetwork("198.51.100.0/24", "documentation"),
    SpecialNetwork("203.0.113.0/24", "documentation"),
    SpecialNetwork("224.0.0.0/4", "multicast"),
    SpecialNetwork("240.0.0.0/4", "reserved"),
    SpecialNetwork("::1", "loopback"),
    SpecialNetwork("::", "reserved"),
    SpecialNetwork("64:ff9b::/96", "NAT64"),
    SpecialNetwork("64:ff9b:1::/48", "NAT64"),
    SpecialNetwork("100::/64", "reserved"),
    // Includes Teredo, benchmarks and ORCHIDv2.
    SpecialNetwork("2001::/23", "reserved"),
    SpecialNetwork("2001:db8::/32", "documentation"),
    SpecialNetwork("2002::/16", "6to4"),
    SpecialNetwork("3fff::/20", "documentation"),
    SpecialNetwork("fc00::/7", "private"),
    SpecialNetwork("fe80::/10", "link-local"),
    SpecialNetwork("ff00::/8", "multicast"),
  ].compactMap { $0 }
}
