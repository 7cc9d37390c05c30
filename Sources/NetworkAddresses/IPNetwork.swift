/// A network: all addresses with the same prefix (RFC 4632 section 3.1).
public struct IPNetwork: Sendable {
  private let address: IPAddress
  private let masks: (high: UInt64, low: UInt64)

  /// Parses a network.
  ///
  /// - Parameter text: An address, or `ADDRESS/LENGTH` with the length of the prefix in bits: 0...32 for IPv4, 0...128
  ///   for IPv6. Bits after the prefix must be 0.
  /// - Returns: nil for anything else.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(parts[0]) else { return nil }
    let maximumLength = parts[0].contains(":") ? 128 : 32
    var length = maximumLength
    if parts.count > 1 {
      guard parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(parts[1]), number <= maximumLength else {
        return nil
      }
      length = number
    }
    length += 128 - maximumLength
    self.address = address
    masks = (Self.mask(length), Self.mask(length - 64))
    guard address.high & ~masks.high == 0, address.low & ~masks.low == 0 else { return nil }
  }

  /// Returns a mask with the given number of leading ones: none for a negative number, at most 64.
  private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }

  /// Whether the network consists of one address.
  package var isSingleAddress: Bool { masks.low == .max }

  /// Whether an address belongs to the network.
  package func contains(_ other: IPAddress) -> Bool {
    other.high & masks.high == address.high && other.low & masks.low == address.low
  }

  /// The addresses of the machine itself (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3).
  static let loopback = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }

  /// The networks that are not routed over the internet: loopback, private (RFC 1918, RFC 4193), link-local (RFC 3927, RFC
  /// 4291) and shared address space behind carrier-grade NAT (RFC 6598).
  package static let privateNetworks =
    loopback
    + [
      "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "169.254.0.0/16", "fe80::/10", "100.64.0.0/10",
    ].compactMap { IPNetwork($0) }
}

extension IPNetwork: CustomStringConvertible {
  /// The address, and the length of the prefix unless the network is a single address.
  public var description: String {
    let length = masks.high.nonzeroBitCount + masks.low.nonzeroBitCount - (address.isVersion4 ? 96 : 0)
    return isSingleAddress ? "\(address)" : "\(address)/\(length)"
  }
}
