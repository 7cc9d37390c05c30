/// Those who may say for whom they ask, and how they say it.
public struct TrustedProxies: Sendable {
  /// The field in which a proxy names who asked it. Only one is believed: a proxy that writes one of them passes the
  /// other on as the client wrote it.
  public enum Field: String, Sendable, CaseIterable {
    /// A list of addresses, each added by the next proxy.
    case xForwardedFor = "x-forwarded-for"
    /// RFC 7239.
    case forwarded
  }

  let networks: [IPNetwork]
  let field: Field

  /// - Parameters:
  ///   - networks: Of the proxies; empty for none, then nobody is believed.
  ///   - field: Which of the fields they write.
  public init(_ networks: [IPNetwork] = [], field: Field = .xForwardedFor) {
    self.networks = networks
    self.field = field
  }

  /// Whether there are any.
  public var areKnown: Bool { !networks.isEmpty }

  func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

  /// Who asks: the last address on the way that is not a proxy's. From the right, because each proxy vouches for what it
  /// has added, and a client may have written whatever is further left.
  ///
  /// - Parameters:
  ///   - peer: Of the connection.
  ///   - fields: The values of the field, a line each.
  /// - Returns: The last proxy where nobody is named before it, or not understandably.
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

  /// The `for` of an element (RFC 7239 section 4); nil where it has none, or a comma in quotes has cut it in two.
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

  /// An address with an optional port (RFC 7239 section 6), nil for names that hide one.
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

extension Substring {
  /// Without white space around it (RFC 9110 section 5.6.3).
  fileprivate var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
