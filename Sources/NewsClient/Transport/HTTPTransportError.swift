/// Why a transport has no whole answer to a request.
public struct HTTPTransportError: Error, Sendable, Hashable {
  /// The kind of failure.
  public enum Kind: String, Sendable, Hashable {
    /// There is no network, or the name of the host cannot be resolved. Nothing was sent.
    case offline
    /// The host accepts no connection. Nothing was sent.
    case refused
    /// No secure connection could be agreed on. Nothing was sent.
    case untrusted
    /// The connection broke, or the answer is no HTTP.
    case broken
  }

  /// The kind of failure.
  public var kind: Kind
  /// A sentence for a log, without a full stop.
  public var message: String

  /// Whether the request cannot have left the machine.
  public var isUnsent: Bool { kind != .broken }

  /// A failure.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

extension HTTPTransportError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
