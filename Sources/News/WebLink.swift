package import Foundation

/// The rules for links of items and attachments.
///
///     print(WebLink.normalised("HTTPS://news.example/ferry") ?? "invalid")  // https://news.example/ferry
///     print(WebLink.normalised("/ferry") ?? "invalid")  // invalid
public enum WebLink {
  /// The maximum length of a link in bytes.
  package static let maximumBytes = 2048

  /// Validates an absolute http or https URL of at most 2048 bytes, with a valid host and a port in 1...65535.
  ///
  /// - Returns: The URL with its scheme in lower case (RFC 3986 section 3.1); nil for any other text.
  public static func normalised(_ text: String) -> String? {
    guard text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }), let url = URL(string: text),
      let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), namesServer(url)
    else { return nil }
    return scheme + text.dropFirst(scheme.utf8.count)
  }

  /// The characters that no host name has (URL Standard, "forbidden domain code point"), besides controls.
  private static let forbiddenInHosts = Set(" #%/:<>?@[\\]^|".utf8)

  /// Whether the host of a URL is a name of at most 253 bytes or an address without a zone, and the port 1...65535. A client
  /// that trusts another URL may connect to a wrong server, or crash.
  package static func namesServer(_ url: URL) -> Bool {
    guard let host = url.host(percentEncoded: false), !host.isEmpty else { return false }
    var authority = url.absoluteString[...]
    if let start = authority.firstRange(of: "://") { authority = authority[start.upperBound...] }
    authority = authority.prefix { !"/?#".contains($0) }
    if let end = authority.lastIndex(of: "@") { authority = authority[end...].dropFirst() }
    if authority.first == "[" {
      guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return false }
    } else {
      let isName = host.utf8.allSatisfy { $0 > 32 && $0 != 127 && !forbiddenInHosts.contains($0) }
      guard isName, host.utf8.count <= 253 else { return false }
    }
    // `port` is nil for a number that is no `Int`.
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return true }
    let port = authority[colon...].dropFirst()
    return port.isEmpty || (UInt16(port) ?? 0) > 0
  }
}
