internal import Foundation

/// Validates links of unknown origin.
public enum SafeLink {
  /// The maximum length of a link in bytes. Longer links are dropped.
  public static let maximumBytes = 2048

  /// Makes an http or https URL absolute, and percent-encodes it.
  ///
  /// - Parameters:
  ///   - reference: The link as written by the source. Blanks around it and line breaks inside are ignored.
  ///   - base: The absolute URL that a relative reference refers to.
  /// - Returns: The URL; nil for another scheme, a URL without a host, one that is too long, or a relative one without
  ///   a base.
  public static func web(_ reference: String, base: String? = nil) -> String? {
    resolve(reference, base: base.flatMap { URL(string: $0) }, allowingMail: false)
  }

  /// Like `web`, for links that may also be mail addresses.
  static func resolve(_ reference: String, base: URL?, allowingMail: Bool) -> String? {
    guard let written = cleaned(reference) else { return nil }
    let scheme = scheme(of: written)
    let cleaned = encoded(written, afterScheme: scheme)
    let url: URL?
    switch scheme {
    case "http", "https": url = URL(string: cleaned)
    case "mailto": return allowingMail ? URL(string: cleaned).flatMap { bounded($0.absoluteString) } : nil
    case nil:
      // A reference that lacks only the scheme needs no base.
      let fallback = cleaned.hasPrefix("//") ? URL(string: "https://localhost/") : nil
      guard let base = base ?? fallback else { return nil }
      url = URL(string: cleaned, relativeTo: base)?.absoluteURL
    default: return nil
    }
    guard let url, let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      url.host()?.isEmpty == false, hasValidPort(url)
    else { return nil }
    return bounded(scheme + url.absoluteString.dropFirst(scheme.utf8.count))
  }

  /// The use of a link outside of the web for a person.
  enum Other: Equatable {
    /// A number to call or the address of a file, which a person can use elsewhere.
    case words(String)
    case loss(SafeHTML.Loss.Reason)
    /// A script, data or a place on the page.
    case nothing
  }

  /// Reads a reference that `resolve` rejects.
  static func other(_ reference: String) -> Other {
    guard let written = cleaned(reference) else {
      return reference.utf8.count > maximumBytes ? .loss(SafeHTML.Loss.Reason(reference)) : .nothing
    }
    guard let scheme = scheme(of: written) else {
      if written.utf8.first == UInt8(ascii: "#") { return .nothing }
      return .loss(written.utf8.starts(with: "//".utf8) ? .notOnTheWeb : .relative)
    }
    if scripts.contains(scheme) { return .nothing }
    guard phones.contains(scheme) || networks.contains(scheme), written.utf8.count <= 256 else {
      return .loss(SafeHTML.Loss.Reason(reference))
    }
    if networks.contains(scheme) { return .words(written) }
    let number = written.utf8.dropFirst(scheme.utf8.count + 1).drop { $0 == UInt8(ascii: "/") }
    let text = String(decoding: number.prefix { !"?;".utf8.contains($0) }, as: UTF8.self)
    let decoded = text.removingPercentEncoding ?? text
    return decoded.utf8.contains { $0.isASCIIDigit } ? .words(decoded) : .nothing
  }

  private static let scripts: Set<String> = [
    "about", "blob", "chrome", "cid", "data", "file", "filesystem", "javascript", "livescript", "mocha", "resource",
    "vbscript", "view-source",
  ]
  private static let phones: Set<String> = ["callto", "fax", "mms", "sms", "smsto", "tel"]
  private static let networks: Set<String> = [
    "ftp", "ftps", "gemini", "gopher", "irc", "ircs", "magnet", "sftp", "sip", "sips", "xmpp",
  ]

  /// Whether the port of a URL is 1...65535. A client that requests another one may crash.
  private static func hasValidPort(_ url: URL) -> Bool {
    if let port = url.port { return 1...65_535 ~= port }
    // `port` is nil for a number that is no `Int`, too.
    let authority = url.absoluteString.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2).dropFirst().first
    let written = authority?.prefix { !"?#".utf8.contains($0) } ?? ""[...].utf8
    let digits = written.reversed().prefix(while: \.isASCIIDigit)
    return digits.isEmpty || written.dropLast(digits.count).last != UInt8(ascii: ":")
  }

  /// Removes tabs and line breaks anywhere in a URL, and controls around it, as browsers do (URL Standard, basic URL
  /// parser). Such characters are used to hide schemes, as in `java\nscript:`.
  private static func cleaned(_ reference: String) -> String? {
    guard reference.utf8.count <= maximumBytes * 2 else { return nil }
    var scalars = reference.unicodeScalars.filter { ![0x09, 0x0A, 0x0D].contains($0.value) }[...]
    while let first = scalars.first, first.value <= 0x20 { scalars.removeFirst() }
    while let last = scalars.last, last.value <= 0x20 { scalars.removeLast() }
    guard !scalars.isEmpty, !scalars.contains(where: { $0.value < 0x20 || 0x7F...0x9F ~= $0.value }) else { return nil }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Returns the scheme in lower case (RFC 3986 section 3.1). A colon after other characters does not end a scheme.
  private static func scheme(of reference: String) -> String? {
    guard let colon = reference.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = reference[..<colon]
    let isScheme = name.utf8.allSatisfy {
      $0.isASCIIAlphanumeric || [43, 45, 46].contains($0)
    }
    return isScheme && !name.isEmpty ? name.lowercased() : nil
  }

  /// Percent-encodes the invalid characters after the authority. `URL` would encode the whole component of such a
  /// character, including valid `%XX`.
  static func encoded(_ reference: String, afterScheme scheme: String?) -> String {
    let bytes = Array(reference.utf8)
    let start = scheme.map { $0.utf8.count + 1 } ?? 0
    var index = start
    if bytes[start...].starts(with: "//".utf8) {
      index = bytes[(start + 2)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    }
    var output = bytes[..<index]
    var inFragment = false
    for (position, byte) in bytes.enumerated().dropFirst(index) {
      var isValid = isURLByte(byte)
      switch byte {
      case UInt8(ascii: "%"): isValid = bytes[(position + 1)...].prefix(2).count(where: isHexadecimal) == 2
      case UInt8(ascii: "#"):
        isValid = !inFragment
        inFragment = true
      default: break
      }
      if isValid { output.append(byte) } else { output += percentEncoded(byte) }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Whether the byte is an unreserved or reserved character of RFC 3986, except brackets, which occur only in the
  /// host.
  private static func isURLByte(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "-._~!$&'()*+,;=:@/?#".utf8.contains(byte)
  }

  static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte.isASCIIDigit || 65...70 ~= byte || 97...102 ~= byte
  }

  private static func percentEncoded(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  private static func bounded(_ url: String) -> String? {
    url.utf8.count <= maximumBytes && url.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? url : nil
  }
}
