/// The reason why a transport has no complete response.
///
///     let transport = AsyncHTTPTransport()
///     do {
///       let response = try await transport.get(URL(string: "https://news.example/v1/state")!, headers: [])
///       print(response.status)
///     } catch let error as HTTPTransportError where error.kind == .offline {
///       print("no network: \(error.message)")
///     }
public struct HTTPTransportError: Error, Sendable, Hashable {
  /// The kind of failure.
  ///
  ///     func advice(_ kind: HTTPTransportError.Kind) -> String {
  ///       switch kind {
  ///       case .offline: "check the network"
  ///       case .untrusted: "check the certificate and the clock"
  ///       case .refused, .broken: "try again later"
  ///       }
  ///     }
  public enum Kind: String, Sendable, Hashable {
    /// There is no network, or the host name cannot be resolved. Nothing was sent.
    case offline
    /// The host refuses the connection, or does not accept it in time. Nothing was sent.
    case refused
    /// No secure connection could be established. Nothing was sent.
    case untrusted
    /// The connection broke, or the response is not HTTP.
    case broken
  }

  /// The kind of failure.
  public var kind: Kind
  /// A description for a log, without a full stop.
  public var message: String

  /// A failure that needs a message of its own.
  enum Detail: Sendable, Hashable {
    /// The peer has closed the connection before the end of the response.
    case earlyEnd
    /// The body is larger than the transport accepts.
    case tooLarge
    /// The content does not have the coding that it declares.
    case coding
  }

  /// The detail of the failure; nil for none.
  var detail: Detail?

  /// Whether the request cannot have left the machine.
  public var isUnsent: Bool { kind != .broken }

  /// Creates a failure.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

extension HTTPTransportError {
  /// The failure of a transport that has no method for short contents.
  static let noContent = HTTPTransportError(.broken, "this transport sends no content")
}

extension HTTPTransportError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
