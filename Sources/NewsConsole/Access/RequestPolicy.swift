import Foundation
import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import NetworkAddresses
import NewsAPI

/// The rules about where a request to the console may come from.
struct RequestPolicy: Sendable {
  /// The origin of the public URL; nil without one.
  private let publicOrigin: String?
  private let proxies: TrustedProxies

  /// Whether browsers reach the server by https. Otherwise the console is for clients on the same machine only, because
  /// the token of a session must not cross a network in clear.
  let isSecure: Bool

  init(publicURL: String?, proxies: TrustedProxies) {
    publicOrigin = publicURL.flatMap(Self.origin)
    isSecure = publicOrigin?.hasPrefix("https:") ?? false
    self.proxies = proxies
  }

  /// The address of the client; nil for a peer without an IP address.
  func client(of request: Request, _ context: APIContext) -> IPAddress? { proxies.address(of: request, context) }

  /// Checks that a request may come to the console at all.
  ///
  /// - Throws: `ProblemError`, 403, `console-needs-https`.
  func checkPlace(_ request: Request, _ context: APIContext) throws {
    guard !isSecure else { return }
    let isLocal = client(of: request, context)?.isLoopback
    // A proxy on this machine that is not configured hides its clients.
    let isForwarded = [HTTPField.Name.forwarded, .xForwardedFor].contains { request.headers[$0] != nil }
    let isKnownProxy = context.peer.map { proxies.trusts($0) } ?? false
    guard isLocal ?? false, !isForwarded || isKnownProxy else { throw ProblemError.consoleNeedsHTTPS }
  }

  /// Checks that a form was sent by a page of this server. A browser says so in `Sec-Fetch-Site` (Fetch Metadata Request
  /// Headers), in `Origin` (RFC 6454 section 7), or in both.
  ///
  /// - Throws: `ProblemError`, 403, `foreign-form`.
  func checkOrigin(_ request: Request) throws {
    let sites = request.headers[values: .secFetchSite]
    guard sites.allSatisfy(Self.isOwnSite) else { throw ProblemError.foreignForm }
    guard request.headers[values: .origin].allSatisfy({ isOwn($0, request) }) else { throw ProblemError.foreignForm }
  }

  /// Whether the browser states that a form comes from a page of this server. `checkOrigin` has accepted the form.
  func isFromOwnPage(_ request: Request) -> Bool {
    request.headers[.origin] != nil || request.headers[.secFetchSite] == "same-origin"
  }

  /// Whether a page may be compressed. Its length then shows whether a text of its address, such as that of a search, is
  /// equal to another one on the page. A site that makes a browser load many pages could find out texts by that (the
  /// BREACH attack). So the browser must accept gzip and state that a page of this server, or its user, wants the page.
  func allowsCompression(_ request: Request) -> Bool {
    let sites = request.headers[values: .secFetchSite]
    guard !sites.isEmpty, sites.allSatisfy(Self.isOwnSite) else { return false }
    return AcceptEncoding(fields: request.headers).preferredCoding(among: [.gzip, .identity]) == .gzip
  }

  /// Whether a value of `Sec-Fetch-Site` means a page of this server, or the user.
  private static func isOwnSite(_ site: String) -> Bool { site == "same-origin" || site == "none" }

  private func isOwn(_ origin: String, _ request: Request) -> Bool {
    let origin = origin.lowercased()
    if let publicOrigin { return origin == publicOrigin }
    guard let authority = request.head.authority?.lowercased(), !authority.isEmpty else { return false }
    return origin == "http://\(authority)"
  }

  /// Returns the origin of a URL as browsers write it: scheme, host and any port other than that of the scheme.
  private static func origin(of url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      let host = parts.encodedHost?.lowercased(), !host.isEmpty
    else { return nil }
    let usual = scheme == "https" ? 443 : 80
    return "\(scheme)://\(host)" + (parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
  }
}

extension ProblemError {
  static let consoleNeedsHTTPS = ProblemError(
    .forbidden, "console-needs-https", "The console needs https",
    detail: "Over plain HTTP, it answers clients on the same machine only.")

  static let foreignForm = ProblemError(
    .forbidden, "foreign-form", "The form was sent by another site", detail: "Only pages of the console may send it.")

  static let formExpired = ProblemError(
    .forbidden, "form-expired", "The form does not belong to the session", detail: "Load the page again.")

  /// The reason why the form of an earlier session is shown again.
  static let formShownAgain = ProblemError(
    .forbidden, "form-shown-again", "The form belongs to an earlier session", detail: "Send it again.")

  static let sessionEnded = ProblemError(
    .forbidden, "session-ended", "The session has ended", detail: "Sign in again.")
}

extension HTTPField.Name {
  // Each name is a token (RFC 9110 section 5.6.2), so no initializer returns nil.
  static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
  static let forwarded = HTTPField.Name("Forwarded")!
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
}
