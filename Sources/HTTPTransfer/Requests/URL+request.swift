package import Foundation

extension URL {
  /// The maximum length of a host name in bytes (RFC 1035, section 2.3.4). SOCKS counts the length in one byte.
  private static let maximumHostBytes = 253
  /// The characters that no host name has (URL Standard, "forbidden domain code point"), besides controls.
  private static let forbiddenInHosts = Set(" #%/:<>?@[\\]^|".utf8)

  /// The reason why the URL cannot be requested; nil if it can. AsyncHTTPClient ends the process for some of these URLs,
  /// and a server may name them in a redirect or an attachment.
  package var requestObstacle: String? {
    guard ["http", "https"].contains(scheme?.lowercased()) else { return "it is not an http or https URL" }
    return serverObstacle
  }

  /// The reason why the URL names no server, with any scheme; nil if it does.
  var serverObstacle: String? {
    guard let host = host(percentEncoded: false), !host.isEmpty else { return "it names no host" }
    let authority = writtenAuthority
    guard authority.first == "[" ? Self.isAddress(host) : Self.isName(host) else { return "its host is not valid" }
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return nil }
    let port = authority[colon...].dropFirst()
    return port.isEmpty || (UInt16(port) ?? 0) > 0 ? nil : "its port is not 1...65535"
  }

  /// The port, or that of the scheme.
  var effectivePort: Int? { port ?? ["http": 80, "https": 443][scheme?.lowercased() ?? ""] }

  /// The host and the port as written. `port` is nil for a number that is no `Int`.
  private var writtenAuthority: Substring {
    let text = absoluteString
    guard let start = text.range(of: "://")?.upperBound else { return "" }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    return authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
  }

  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= maximumHostBytes
      && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !forbiddenInHosts.contains($0) }
  }

  /// Whether a host in brackets is an address of IPv6. A zone has a meaning on one machine only (RFC 9844).
  private static func isAddress(_ host: String) -> Bool {
    host.contains(":") && host.allSatisfy { $0.isHexDigit || ":.".contains($0) }
  }
}
