import Foundation
package import NIOCore

/// An IPv6 address. An IPv4 address is kept in its IPv4-mapped form (RFC 4291 section 2.5.5.2), so that a client has
/// the same address on sockets of both families.
package struct IPAddress: Hashable, Sendable {
  /// The first and the last eight bytes of the address, as numbers.
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses an address.
  ///
  /// - Parameter text: Four decimal numbers, or IPv6 as in RFC 4291 section 2.2, without brackets, port and zone.
  /// - Returns: nil for anything else.
  package init?(_ text: some StringProtocol) {
    let text = String(text)
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(four)
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    self.init(six)
  }

  /// Creates the IP address of a socket address.
  ///
  /// - Returns: nil for a socket of another family.
  package init?(_ address: SocketAddress) {
    switch address {
    case .v4(let address): self.init(address.address.sin_addr)
    case .v6(let address): self.init(address.address.sin6_addr)
    case .unixDomainSocket: return nil
    }
  }

  private init(_ address: in_addr) {
    self.init(high: 0, low: Self.mapped | UInt64(UInt32(bigEndian: address.s_addr)))
  }

  private init(_ address: in6_addr) {
    self = withUnsafeBytes(of: address) { bytes in
      IPAddress(
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  private static let mapped: UInt64 = 0xffff << 32

  /// Whether the address is an IPv4 address, in either form.
  package var isVersion4: Bool { high == 0 && low >> 32 == 0xffff }

  /// Whether the address is one of the machine itself.
  package var isLoopback: Bool { IPNetwork.loopback.contains { $0.contains(self) } }

  /// The address that identifies one client. An IPv6 subscriber has 64 bits of addresses to choose from (RFC 6177);
  /// these bits are 0 here.
  package var subscriber: IPAddress { isVersion4 ? self : IPAddress(high: high, low: 0) }

  /// The site of an IPv6 address, the first 48 bits, which one network may have as a whole (RFC 6177); nil for IPv4.
  package var site: IPAddress? { isVersion4 ? nil : IPAddress(high: high & ~0xffff, low: 0) }

  /// The network that the address shares with its neighbours, `ADDRESS/LENGTH`: 24 bits of an IPv4 address, and the 64 bits
  /// of an IPv6 subscriber.
  package var neighbourhood: String {
    isVersion4 ? "\(IPAddress(high: high, low: low & ~0xff))/24" : "\(subscriber)/64"
  }
}

extension IPAddress: CustomStringConvertible {
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    if isVersion4 {
      var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
      inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
    } else {
      var address = [high.bigEndian, low.bigEndian]
      inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
