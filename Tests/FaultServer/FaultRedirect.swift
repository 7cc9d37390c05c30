/// Where a redirect leads.
public enum FaultRedirect: Sendable {
  /// An absolute address on the host the request was made to.
  case sameOrigin(String)
  /// A reference relative to the target of the request, such as `../items` or `?limit=1`.
  case relative(String)
  /// Another server: another port is another origin.
  case other(FaultServer, String)
  /// The address that was asked for.
  case loop
  /// Each time one step further, without end: `/hop/1`, `/hop/2` and so on.
  case chase
  /// The address that was asked for, on another scheme: to be refused where it leads from https to http, and useless
  /// where it leads to https, which the server does not speak.
  case scheme(String)
  /// The path on the same host with a user and a password in front.
  case credentials(String)
  /// No `Location` at all.
  case missing
  /// Anything: `file:///etc/passwd`, an empty text, something that is no URL.
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

extension FaultAnswer {
  /// A redirect in answer to a request.
  ///
  /// - Parameters:
  ///   - status: 301, 302, 303, 307 or 308; nothing is checked.
  ///   - retryAfter: How long to wait before it is followed.
  public static func redirect(
    _ redirect: FaultRedirect, from request: FaultRequest, status: Int = 302, retryAfter: RetryAfter? = nil
  ) -> FaultAnswer {
    var answer = FaultAnswer(status: status)
    if let location = redirect.location(for: request) { answer = answer.setting("Location", location) }
    if let retryAfter { answer = answer.setting("Retry-After", retryAfter.fieldValue) }
    return answer
  }
}
