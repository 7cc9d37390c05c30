public import NetworkAddresses

/// The proxies that are trusted to name the client of a request, and the header field in which they name it.
public struct TrustedProxies: Sendable {
  /// The header field in which a proxy names its client. Only one field is trusted: a proxy that writes one of them
  /// forwards the other as the client wrote it.
  public enum Field: String, Sendable, CaseIterable {
    /// A list of addresses. Each proxy appends the address of its peer.
    case xForwardedFor = "x-forwarded-for"
    /// The field of RFC 7239.
    case forwarded
  }

  let networks: [IPNetwork]
  package let field: Field

  /// - Parameters:
  ///   - networks: The networks of the proxies. With an empty array, no peer is trusted.
  ///   - field: The field that the proxies write.
  public init(_ networks: [IPNetwork] = [], field: Field = .xForwardedFor) {
    self.networks = networks
    self.field = field
  }

  /// Whether any proxies are configured.
  public var areKnown: Bool { !networks.isEmpty }

  /// Returns the first network that contains one of these gateways beside other addresses.
  ///
  /// Docker shows some clients with the address of their network's gateway, which such a network would make a proxy: the
  /// client would then choose the address that counts. A gateway that is named alone is a proxy on purpose.
  package func network(containing gateways: [IPAddress]) -> (network: IPNetwork, gateway: IPAddress)? {
    for network in networks where !network.isSingleAddress {
      if let gateway = gateways.first(where: network.contains) { return (network, gateway) }
    }
    return nil
  }

  /// Whether an address is that of a trusted proxy.
  package func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

  /// Returns the client's address: the rightmost address in the field that does not belong to a trusted proxy. Each
  /// proxy vouches for the address that it has appended. The client may have written everything further left.
  ///
  /// - Parameters:
  ///   - peer: The peer of the connection.
  ///   - fields: The values of the field lines.
  /// - Returns: The address of the last known proxy if the next address is missing or malformed.
  package func client(of peer: IPAddress, _ fields: some BidirectionalCollection<String>) -> IPAddress {
    var client = peer
    guard trusts(client) else { return client }
    for line in fields.reversed() {
      for element in line.split(separator: ",", omittingEmptySubsequences: false).reversed() {
        guard let address = Self.address(element, field) else { return client }
        client = address
        guard trusts(client) else { return client }
      }
    }
    return client
  }

  private static func address(_ element: Substring, _ field: Field) -> IPAddress? {
    switch field {
    case .xForwardedFor: node(element.trimmed)
    case .forwarded: forwarded(element)
    }
  }

  /// Returns the `for` parameter of an element (RFC 7239 section 4); nil if it has none, or if a comma in quotes has
  /// split it.
  private static func forwarded(_ element: Substring) -> IPAddress? {
    for pair in element.split(separator: ";") {
      let parts = pair.trimmed.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "for" else { continue }
      guard parts[1].first == "\"" else { return node(parts[1]) }
      guard parts[1].count > 2, parts[1].last == "\"" else { return nil }
      return node(parts[1].dropFirst().dropLast())
    }
    return nil
  }

  /// Parses an address with an optional port (RFC 7239 section 6); nil for an identifier that hides the address.
  private static func node(_ text: Substring) -> IPAddress? {
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
      return IPAddress(text[..<end].dropFirst())
    }
    guard let colon = text.firstIndex(of: ":"), text.contains(".") else { return IPAddress(text) }
    if let mapped = IPAddress(text) { return mapped }
    return isPort(text[colon...]) ? IPAddress(text[..<colon]) : nil
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && 2...6 ~= text.utf8.count && text.utf8.dropFirst().allSatisfy(\.isDigit)
  }
}
