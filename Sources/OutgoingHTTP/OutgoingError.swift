/// The error of an outgoing request. Its description is a sentence for editors, without full stop.
public enum OutgoingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is not an address that can be requested.
  case invalidURL(String)
  /// The policy does not allow the request.
  case refused(String)
  /// The name cannot be resolved.
  case unresolved(String)
  /// No connection could be made.
  case unreachable(String)
  /// The certificate is invalid, or the TLS handshake failed.
  case insecure(String)
  /// The response exceeds a limit of size.
  case tooLarge(String)
  /// The response took too long.
  case timedOut(String)
  /// The response is malformed or incomplete.
  case malformed(String)
  /// There were more redirects than allowed.
  case tooManyRedirects(Int)

  /// The reason in words.
  public var description: String {
    switch self {
    case .invalidURL(let reason), .refused(let reason), .unresolved(let reason), .unreachable(let reason),
      .insecure(let reason), .tooLarge(let reason), .timedOut(let reason), .malformed(let reason):
      reason
    case .tooManyRedirects(let limit): "there were more than \(limit) redirects"
    }
  }
}
