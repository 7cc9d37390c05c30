import Foundation
import HTTPConditions
import HTTPTypes

/// The cookies of a chain of redirects (RFC 6265). Some servers redirect to the same address until a cookie comes back.
///
/// A cookie ends with the chain. It is sent to the host that has set it. A `Domain` that is the host, with or without
/// `www.` at its start, adds the other one of the two. Without a list of public suffixes (RFC 6265 section 5.3), a wider
/// domain is not one.
struct ChainCookies {
  private static let maximumCount = 32
  private static let maximumBytes = 4096

  private struct Cookie {
    var name: String
    var value: String
    var host: String
    /// The host without `www.` if the cookie is for both.
    var domain: String?
    var path: String
    var isSecure: Bool

    func isFor(_ other: String) -> Bool {
      other == host || domain.map { other == $0 || other == "www." + $0 } == true
    }
  }

  private var cookies: [Cookie] = []

  /// Notes the cookies that a response sets.
  mutating func note(_ response: OutgoingResponse, at now: Date) {
    for field in response.fields[values: .setCookie] {
      guard let (cookie, isRemoval) = Self.cookie(field, from: response.url, at: now) else { continue }
      cookies.removeAll { $0.name == cookie.name && $0.isFor(cookie.host) && $0.path == cookie.path }
      if !isRemoval, cookies.count < Self.maximumCount { cookies.append(cookie) }
    }
  }

  /// Returns the value of the field `Cookie` of a request; nil for none.
  func field(for url: OutgoingURL) -> String? {
    let path = url.target.prefix { $0 != "?" }
    let sent = cookies.filter { cookie in
      cookie.isFor(url.host) && (url.isSecure || !cookie.isSecure)
        && (path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/"))
    }
    let field = sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    return field.isEmpty || field.utf8.count > Self.maximumBytes ? nil : field
  }

  private static func cookie(
    _ field: String, from url: OutgoingURL, at now: Date
  ) -> (cookie: Cookie, isRemoval: Bool)? {
    guard field.utf8.count <= maximumBytes, field.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return nil }
    let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { part in
      part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { trimmed($0) }
    }
    guard let pair = parts.first, pair.count == 2, !pair[0].isEmpty, !pair[1].contains(" ") else { return nil }
    var cookie = Cookie(name: pair[0], value: pair[1], host: url.host, path: defaultPath(of: url), isSecure: false)
    var isRemoval: Bool?
    var hasExpired = false
    for attribute in parts.dropFirst() {
      let value = attribute.count == 2 ? attribute[1] : ""
      switch attribute[0].lowercased() {
      case "path" where value.hasPrefix("/"): cookie.path = value
      case "secure": cookie.isSecure = true
      case "max-age": isRemoval = Int(value).map { $0 <= 0 } ?? isRemoval
      case "expires": hasExpired = date(value).map { $0 <= now } ?? hasExpired
      case "domain":
        let domain = value.lowercased().drop { $0 == "." }
        guard domain.isEmpty || url.host == domain || url.host.hasSuffix("." + domain) else { return nil }
        if url.host == domain || url.host == "www." + domain { cookie.domain = String(domain) }
      default: break
      }
    }
    // `Max-Age` precedes `Expires` (RFC 6265 section 5.3).
    return (cookie, isRemoval ?? hasExpired)
  }

  /// Returns the date of an attribute `Expires`, also with hyphens or with a year of two digits (RFC 6265 section 5.1.1).
  private static func date(_ text: String) -> Date? {
    let parts = text.split { ", -".contains($0) }
    guard parts.count >= 5 else { return nil }
    let century = parts[3].count > 2 ? "" : parts[3] < "70" ? "20" : "19"
    return HTTPDate.parse("Thu, \(parts[1]) \(parts[2]) \(century)\(parts[3]) \(parts[4]) GMT") ?? HTTPDate.parse(text)
  }

  /// The path of a cookie without one (RFC 6265 section 5.1.4).
  private static func defaultPath(of url: OutgoingURL) -> String {
    let path = url.target.prefix { $0 != "?" }
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func trimmed(_ text: Substring) -> String {
    var rest = text.drop { $0 == " " }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
