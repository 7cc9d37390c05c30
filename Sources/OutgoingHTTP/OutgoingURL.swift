import Foundation
package import NIOCore
import NetworkAddresses

/// An address that can be requested: http or https, a host of ASCII letters, digits, hyphens and underscores or an IP
/// address, and a target.
///
///     let url = try OutgoingURL("HTTPS://M\u{FC}ller.example./feed#top")
///     print(url.text)  // https://xn--mller-kva.example/feed
public struct OutgoingURL: Sendable, Hashable {
  /// The normal form: scheme and host in lower case, without default port and fragment.
  public let text: String
  /// Whether the scheme is https.
  package let isSecure: Bool
  /// The host name without trailing dot, or the IP address without brackets.
  package let host: String
  package let port: Int
  /// The path and query (RFC 9112 section 3.2.1).
  package let target: String
  /// The value of the field `Host`.
  package let authority: String

  /// The IP address in place of a name; nil for a name.
  package var literal: SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }

  /// Whether a request to it may have a secret: it is encrypted, or does not leave the machine, as in tests.
  package var isSafeForSecrets: Bool { isSecure || host == "localhost" || IPAddress(host)?.isLoopback == true }

  /// Parses an address of at most 2048 bytes. Characters that are not allowed in a path or query are percent-encoded,
  /// and a host with other letters is converted to ASCII (RFC 5891).
  ///
  /// - Parameter base: The address to which a relative one refers.
  /// - Throws: `OutgoingError.invalidURL`, which names the rule.
  public init(_ text: String, relativeTo base: OutgoingURL? = nil) throws(OutgoingError) {
    guard text.utf8.count <= 2048 else { throw .invalidURL("the address has more than 2048 bytes") }
    guard text.utf8.allSatisfy({ $0 > 32 && $0 != 127 && $0 != UInt8(ascii: "\\") }) else {
      throw .invalidURL("the address contains spaces, control characters or backslashes")
    }
    let url = URL(string: Self.encoded(text), relativeTo: base.flatMap { URL(string: $0.text) })?.absoluteURL
    guard let url, let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
      throw .invalidURL("the address must be an absolute http or https URL")
    }
    guard url.user() == nil, url.password() == nil else {
      throw .invalidURL("the address contains a user name or password, which is not allowed here")
    }
    isSecure = scheme == "https"
    let standard = isSecure ? 443 : 80
    // `URL` ignores a port that is no number.
    guard let port = Self.port(text, standard, relativeTo: base) else {
      throw .invalidURL("the port must be from 1 to 65535")
    }
    self.port = port
    host = try Self.host(url.host(percentEncoded: false) ?? "")
    let name = host.contains(":") ? "[\(host)]" : host
    authority = port == standard ? name : "\(name):\(port)"
    let path = url.path(percentEncoded: true)
    target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    self.text = "\(scheme)://\(authority)\(target)"
  }

  /// Reads the port of an address (RFC 3986 section 3.2.3); nil if it is not from 1 to 65,535.
  private static func port(_ text: String, _ standard: Int, relativeTo base: OutgoingURL?) -> Int? {
    let bytes = Array(text.utf8)
    let end = authorityEnd(bytes)
    guard end > 0 else { return base?.port ?? standard }
    guard let colon = bytes[..<end].lastIndex(where: { ":]/".utf8.contains($0) }), bytes[colon] == UInt8(ascii: ":")
    else {
      return standard
    }
    let digits = bytes[(colon + 1)..<end]
    if digits.isEmpty { return standard }
    guard digits.allSatisfy({ 48...57 ~= $0 }), let port = Int(String(decoding: digits, as: UTF8.self)) else {
      return nil
    }
    return 1...65_535 ~= port ? port : nil
  }

  /// Takes the user and the password out of an address.
  ///
  /// - Returns: The address without them, and both without percent-encoding; nil if there are none. The address is not
  ///   validated.
  public static func separated(_ text: String) -> (text: String, user: String, password: String?)? {
    var bytes = Array(text.utf8)
    guard let slashes = bytes.firstRange(of: Array("//".utf8)) else { return nil }
    let end = authorityEnd(bytes)
    guard end > 0, let at = bytes[slashes.upperBound..<end].lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let parts = bytes[slashes.upperBound..<at].split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false
    ).map { part in
      let text = String(decoding: part, as: UTF8.self)
      return text.removingPercentEncoding ?? text
    }
    bytes.removeSubrange(slashes.upperBound...at)
    return (String(decoding: bytes, as: UTF8.self), parts[0], parts.count > 1 ? parts[1] : nil)
  }

  /// The scheme, host and port, as the normal form begins with them.
  public var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

  /// Corrects a reference of a response as browsers do (URL Standard, basic URL parser): blanks around it and line breaks
  /// inside are removed, spaces and controls are percent-encoded, backslashes are slashes, and an address may have any
  /// number of slashes before its host.
  static func repaired(_ reference: String) -> String {
    var bytes = Array(reference.utf8.drop { $0 <= 0x20 })
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    bytes.removeAll { [0x09, 0x0A, 0x0D].contains($0) }
    let pathEnd = bytes.firstIndex { "?#".utf8.contains($0) } ?? bytes.count
    for index in 0..<pathEnd where bytes[index] == UInt8(ascii: "\\") { bytes[index] = UInt8(ascii: "/") }
    var start = 0
    for scheme in ["https:", "http:"]
    where bytes.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 32 == $1 }) {
      start = scheme.utf8.count
    }
    let slashes = bytes[start...].prefix { $0 == UInt8(ascii: "/") }.count
    if slashes > 2 { bytes.replaceSubrange(start..<(start + slashes), with: "//".utf8) }
    let encoded = bytes.flatMap { (byte: UInt8) -> [UInt8] in
      byte <= 0x20 || byte == UInt8(ascii: "\\") || byte == 0x7F ? percentEncoded(byte) : [byte]
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Checks a host. `getaddrinfo` also accepts IPv4 addresses in octal, in hexadecimal and of fewer than four numbers;
  /// other programs read these differently.
  private static func host(_ text: String) throws(OutgoingError) -> String {
    if text.contains(":") {
      guard !text.contains("%") else { throw .invalidURL("the address has a zone, which is not allowed") }
      guard let address = try? SocketAddress(ipAddress: text, port: 0), let canonical = address.ipAddress else {
        throw .invalidURL("the IPv6 address is not valid")
      }
      return canonical
    }
    var name = text.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard name.utf8.count <= 253,
      labels.allSatisfy({ label in
        1...63 ~= label.count
          && label.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
      })
    else { throw .invalidURL("the address has no valid host name") }
    // A name whose last label is a number is an IPv4 address (WHATWG URL section 3.5).
    let last = labels.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    if last.utf8.allSatisfy({ 48...57 ~= $0 }) || last.hasPrefix("0x") {
      guard let address = try? SocketAddress(ipAddress: name, port: 0), address.ipAddress == name else {
        throw .invalidURL("an IPv4 address must be written as four decimal numbers without leading zeros")
      }
    }
    return name
  }

  /// Percent-encodes the characters after the authority that a URL must not contain. `URL` would encode all of it
  /// again, valid `%XX` included, if one were left.
  private static func encoded(_ text: String) -> String {
    var bytes = Array(text.utf8)
    let start = authorityEnd(bytes)
    var encoded = Array(bytes[..<start])
    bytes.removeFirst(start)
    for (index, byte) in bytes.enumerated() {
      let isValid =
        switch byte {
        case UInt8(ascii: "%"): bytes.dropFirst(index + 1).prefix(2).count { isHexDigit($0) } == 2
        case 0x80...: false
        default: !"\"<>[]^`{|}".utf8.contains(byte)
        }
      if isValid {
        encoded.append(byte)
      } else {
        encoded += percentEncoded(byte)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func percentEncoded(_ byte: UInt8) -> [UInt8] {
    let digits = String(byte, radix: 16, uppercase: true)
    return Array("%\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8)
  }

  /// Returns the offset at which the path begins.
  private static func authorityEnd(_ bytes: [UInt8]) -> Int {
    let slashes = Array("//".utf8)
    guard let found = bytes.firstRange(of: slashes) else { return 0 }
    // Slashes in a path or query are not those before an authority.
    let scheme = bytes[..<found.lowerBound]
    guard scheme.isEmpty || scheme.last == UInt8(ascii: ":") && scheme.dropLast().allSatisfy(isSchemeByte) else {
      return 0
    }
    return bytes[found.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    97...122 ~= byte | 32 || 48...57 ~= byte || "+-.".utf8.contains(byte)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte || 97...102 ~= byte | 32 }
}
