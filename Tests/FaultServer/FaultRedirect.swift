/// The target of a redirect.
public enum FaultRedirect: Sendable {
  /// An absolute URL on the host of the request.
  case sameOrigin(String)
  /// A reference relative to the target of the request, such as `../items` or `?limit=1`.
  case relative(String)
  /// A URL on another server; another port is another origin.
  case other(FaultServer, String)
  /// The URL of the request itself.
  case loop
  /// An endless chain of new URLs: `/hop/1`, `/hop/2` and so on.
  case chase
  /// The URL of the request with another scheme. A client must refuse the step from https to http; a step to https
  /// fails, because the server does not speak TLS.
  case scheme(String)
  /// The path on the same host, with a user name and a password in the URL.
  case credentials(String)
  /// No `Location`.
  case missing
  /// Any text: `file:///etc/passwd`, an empty string, an invalid URL.
  case text(String)

  func location(for request: FaultRequest) -> String? {
    let host = request["Host"] ?? "127.0.0.1"
    switch self {
    case .sameOrigin(let target): return "http://\(host)\(target)"
    case .relative(let reference): return reference
    case .other(let server, let target): return server.url + target
    case .loop: return request.target
    case .chase:
      let hop = request.path.hasPrefix("/hop/") ? Int(request.path.dropFirst(5)) ?? 0 : 0
      return "/hop/\(hop + 1)"
    case .scheme(let scheme): return "\(scheme)://\(host)\(request.target)"
    case .credentials(let target): return "http://reader:secret@\(host)\(target)"
    case .missing: return nil
    case .text(let text): return text
    }
  }
}

extension FaultResponse {
  /// Returns a redirect in response to a request.
  ///
  /// - Parameters:
  ///   - status: 301, 302, 303, 307 or 308; not checked.
  ///   - retryAfter: The delay before the client follows the redirect.
  public static func redirect(
    _ redirect: FaultRedirect, from request: FaultRequest, status: Int = 302, retryAfter: RetryAfter? = nil
  ) -> FaultResponse {
    var response = FaultResponse(status: status)
    if let location = redirect.location(for: request) { response = response.setting("Location", location) }
    if let retryAfter { response = response.setting("Retry-After", retryAfter.fieldValue) }
    return response
  }
}
