/// The gateways in the routing tables of Linux.
package enum RoutingTable {
  /// Returns the gateways in the text of `/proc/net/route`: the third column, an IPv4 address as a number in the byte order of
  /// the machine.
  package static func gateways(version4 text: String) -> [IPAddress] {
    column(2, of: text).compactMap { field in
      guard field.utf8.count == 8, let number = UInt32(field, radix: 16), number != 0 else { return nil }
      return IPAddress(high: 0, low: 0xffff << 32 | UInt64(UInt32(bigEndian: number)))
    }
  }

  /// Returns the gateways in the text of `/proc/net/ipv6_route`: the fifth column, an IPv6 address.
  package static func gateways(version6 text: String) -> [IPAddress] {
    column(4, of: text).compactMap { field in
      guard field.utf8.count == 32, let high = UInt64(field.prefix(16), radix: 16),
        let low = UInt64(field.suffix(16), radix: 16), (high, low) != (0, 0)
      else { return nil }
      return IPAddress(high: high, low: low)
    }
  }

  private static func column(_ number: Int, of text: String) -> [Substring] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(whereSeparator: \.isWhitespace)
      return fields.count > number ? fields[number] : nil
    }
  }
}
