import HTTPTypes
import NewsStore

/// The cookie with the token of a session (RFC 6265).
///
/// With https it has the prefix `__Host-`: a browser accepts it only over https, from this host and for all its paths, and
/// no other host can set it (RFC 6265bis section 4.1.3.2).
struct SessionCookie: Sendable {
  let name: String
  private let attributes: String

  /// - Parameter isSecure: Whether browsers reach the server by https.
  init(isSecure: Bool) {
    name = isSecure ? "__Host-tidings" : "tidings_console"
    attributes = (isSecure ? "; Secure" : "") + "; HttpOnly; SameSite=Lax; Path=/"
  }

  /// The value of `Set-Cookie` that stores a token.
  func storing(_ token: String) -> String {
    "\(name)=\(token)\(attributes); Max-Age=\(ConsoleSession.lifetime.components.seconds)"
  }

  /// The value of `Set-Cookie` that removes the cookie.
  var removing: String { "\(name)=\(attributes); Max-Age=0" }

  /// Returns the token that a request has sent.
  ///
  /// - Returns: nil without a cookie, and for two of them: one is not from this server.
  func token(in headers: HTTPFields) -> String? {
    let values = headers[values: .cookie].flatMap { field in
      field.utf8.split(separator: UInt8(ascii: ";")).compactMap(value)
    }
    guard values.count == 1, 1...Self.maximumBytes ~= values[0].utf8.count else { return nil }
    return values[0]
  }

  private static let maximumBytes = 256

  /// Returns the value of a pair with the name of this cookie; nil for another pair.
  private func value(_ pair: Substring.UTF8View) -> String? {
    let pair = pair.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard pair.starts(with: name.utf8) else { return nil }
    let rest = pair.dropFirst(name.utf8.count)
    guard rest.first == UInt8(ascii: "=") else { return nil }
    return String(Substring(rest.dropFirst()))
  }
}
