import Foundation
import News

/// The endpoint of a subscription to Web Push in its normal form, so that a device is found again whatever spelling it
/// registers with (RFC 3986 section 6.2).
///
///     PushEndpoint("HTTPS://Push.Example.:443/a/../%7Eb")?.text  // https://push.example/~b
struct PushEndpoint {
  /// The maximum length in bytes.
  static let maximumBytes = 2048

  /// The endpoint: scheme and host in lower case, no final dot of the host, no default port, no dot segments, and no
  /// percent-encoding of unreserved characters. Other percent-encodings have capital digits.
  let text: String
  /// The host in lower case.
  let host: String

  /// - Returns: nil unless the text is an https URL with a valid host and port, without user name, password and fragment.
  init?(_ endpoint: String) {
    guard 1...Self.maximumBytes ~= endpoint.utf8.count, endpoint.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      let parts = URLComponents(string: endpoint), parts.scheme?.lowercased() == "https", parts.user == nil,
      parts.password == nil, parts.fragment == nil, let url = parts.url, WebLink.namesServer(url),
      var host = parts.host?.lowercased()
    else { return nil }
    if host.hasSuffix(".") { host.removeLast() }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-._:[]".utf8.contains($0) })
    else { return nil }
    let port = parts.port.flatMap { $0 == 443 ? nil : ":\($0)" } ?? ""
    let path = Self.withoutDotSegments(Self.decodingUnreserved(parts.percentEncodedPath))
    let query = parts.percentEncodedQuery.map { "?\(Self.decodingUnreserved($0))" } ?? ""
    self.host = host
    text = "https://\(host)\(port)\(path)\(query)"
  }

  /// Normalises percent-encodings (RFC 3986 sections 6.2.2.1 and 6.2.2.2).
  private static func decodingUnreserved(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let digits = bytes[index...].dropFirst().prefix(2)
      guard bytes[index] == UInt8(ascii: "%"), digits.count == 2,
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else {
        result.append(bytes[index])
        index += 1
        continue
      }
      if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%")] + String(decoding: digits, as: UTF8.self).uppercased().utf8
      }
      index += 3
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Removes the segments `.` and `..` (RFC 3986 section 5.2.4). An empty path becomes `/`.
  private static func withoutDotSegments(_ path: String) -> String {
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (number, segment) in segments.enumerated() {
      if segment == ".." { _ = kept.popLast() }
      if segment != ".", segment != ".." {
        kept.append(segment)
      } else if number == segments.count - 1 {
        kept.append("")
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
