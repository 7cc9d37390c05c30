import Foundation
import OutgoingHTTP

/// The origins of push services to which messages are sent.
///
/// Anybody can register an endpoint. Without this list the server would send requests to any host.
///
///     let origins = try WebPushOrigins(["https://push.example.org", "https://*.push.example.net:8443"])
///     print(origins.allows("https://push.example.org/up/4f1a"))  // true
public struct WebPushOrigins: Sendable {
  /// The origin is malformed.
  public struct InvalidOrigin: Error, Sendable {
    /// The rule that the origin breaks.
    public let rule: String
  }

  private struct Rule: Sendable {
    var isSecure: Bool
    /// The host, or the common end of hosts with a leading dot.
    var host: String
    var port: Int

    func matches(_ url: OutgoingURL) -> Bool {
      guard url.isSecure == isSecure, url.port == port else { return false }
      return host.hasPrefix(".") ? url.host.hasSuffix(host) : url.host == host
    }
  }

  /// The push services of Mozilla, Google, Apple and Microsoft.
  private static let known = [
    "updates.push.services.mozilla.com", "fcm.googleapis.com", ".push.apple.com", ".notify.windows.com",
  ].map { Rule(isSecure: true, host: $0, port: 443) }

  private let rules: [Rule]

  /// Creates the list.
  ///
  /// - Parameter additional: Origins such as `https://push.example.org`; a host that begins with `*.` stands for all
  ///   names below it.
  /// - Throws: `InvalidOrigin`.
  public init(_ additional: [String] = []) throws(InvalidOrigin) {
    var rules = Self.known
    for text in additional { rules.append(try Self.rule(text)) }
    self.rules = rules
  }

  /// Whether messages may be sent to an endpoint.
  public func allows(_ endpoint: String) -> Bool {
    guard let url = try? OutgoingURL(endpoint) else { return false }
    return allows(url)
  }

  func allows(_ url: OutgoingURL) -> Bool { rules.contains { $0.matches(url) } }

  private static func rule(_ text: String) throws(InvalidOrigin) -> Rule {
    let wildcard = text.range(of: "://*.")
    let address = wildcard.map { text.replacingCharacters(in: $0, with: "://") } ?? text
    let url: OutgoingURL
    do {
      url = try OutgoingURL(address)
    } catch {
      throw InvalidOrigin(rule: "\(error)")
    }
    guard url.target == "/", !text.contains("#") else {
      throw InvalidOrigin(rule: "an origin has a scheme, a host and perhaps a port, and nothing after them")
    }
    guard wildcard == nil || url.literal == nil && url.host.contains(".") else {
      throw InvalidOrigin(rule: "'*.' must precede a name with a dot")
    }
    return Rule(isSecure: url.isSecure, host: wildcard == nil ? url.host : ".\(url.host)", port: url.port)
  }
}
