/// The reason why a request, a transfer or an access to stored data has failed.
///
///     do {
///       print(try journal.transfers().count)
///     } catch let error as FetchError where error.code == .storage {
///       print(error.message)
///     }
public struct FetchError: Error, Hashable {
  /// The kind of failure. Later versions may add kinds.
  ///
  ///     func isWorthAnotherTry(_ code: FetchError.Code) -> Bool {
  ///       [.unreachable, .unavailable, .retryAfterPending].contains(code)
  ///     }
  public struct Code: Sendable, Hashable {
    private enum Kind {
      case unreachable, retryAfterPending, unavailable, rejected, redirect, unexpectedResponse, tooLarge, storage
    }
    private let kind: Kind
    private init(_ kind: Kind) { self.kind = kind }

    /// The server could not be reached, or the connection broke.
    public static let unreachable = Code(.unreachable)
    /// The wait that the server has demanded by `Retry-After` is not over. No request was sent.
    public static let retryAfterPending = Code(.retryAfterPending)
    /// The server cannot respond at the moment, such as with 429 or 5xx.
    public static let unavailable = Code(.unavailable)
    /// The request is refused, such as with another 4xx, and is not repeated.
    public static let rejected = Code(.rejected)
    /// A redirect that is not followed: too many, from https to http, without a valid `Location`, or with a user name.
    public static let redirect = Code(.redirect)
    /// The response is not what was requested, such as the page of a captive portal.
    public static let unexpectedResponse = Code(.unexpectedResponse)
    /// The response body, or the list in it, is larger than any expected response.
    public static let tooLarge = Code(.tooLarge)
    /// The store cannot be read or written: the disk is full, read-only or broken.
    public static let storage = Code(.storage)
  }

  /// The kind of failure.
  public var code: Code
  /// A description for a log.
  public var message: String
  /// The status of the response; nil without a response.
  public var status: Int?
  /// The wait that the server demands, in seconds, 0...86 400; nil if it demands none.
  public var retryAfter: Double?
  /// Whether the cause is a missing network rather than the server.
  public var isOffline = false

  /// Creates a failure.
  public init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Double? = nil) {
    self.code = code
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }
}

extension FetchError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
