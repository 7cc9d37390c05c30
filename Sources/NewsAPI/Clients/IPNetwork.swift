/// All addresses that begin with the same bits (RFC 4632 section 3.1).
public struct IPNetwork: Sendable {
  private let address: IPAddress
  private let masks: (high: UInt64, low: UInt64)

  /// - Parameter text: An address, or `ADDRESS/LENGTH`; bits behind the length must be 0.
  /// - Returns: nil for anything else.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(parts[0]) else { return nil }
    let longest = parts[0].contains(":") ? 128 : 32
    var length = longest
    if parts.count > 1 {
      guard parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(parts[1]), number <= longest else {
        return nil
      }
      length = number
    }
    length += 128 - longest
    self.address = address
    masks = (Self.mask(length), Self.mask(length - 64))
    guard address.high & ~masks.high == 0, address.low & ~masks.low == 0 else { return nil }
  }

  /// The first bits of 64.
  private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }

  package func contains(_ other: IPAddress) -> Bool {
    other.high & masks.high == address.high && other.low & masks.low == address.low
  }

  /// Those that do not come over the internet: of this machine (RFC 1122 section 3.2.1.3), of a site (RFC 1918, RFC
  /// 4193), of a link (RFC 3927, RFC 4291), and behind a carrier's translation (RFC 6598).
  static let inside = [
    "127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "169.254.0.0/16", "fe80::/10",
    "100.64.0.0/10",
  ].compactMap { IPNetwork($0) }
}
