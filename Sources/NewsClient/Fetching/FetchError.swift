/// Why a fetch has failed.
public struct FetchError: Error, Hashable {
  /// The kind of failure; more may come.
  public struct Code: Sendable, Hashable {
    private enum Kind { case unreachable, held, unavailable, rejected, redirect, notTidings, tooLarge, storage }
    private let kind: Kind
    private init(_ kind: Kind) { self.kind = kind }

    /// There is no connection, or it broke.
    public static let unreachable = Code(.unreachable)
    /// The server has said when to come again, and it is not yet time; nothing was sent.
    public static let held = Code(.held)
    /// The server cannot answer now: 429 or 5xx.
    public static let unavailable = Code(.unavailable)
    /// The server does not answer this request: another 4xx.
    public static let rejected = Code(.rejected)
    /// A redirection that is not followed: too many, not from https to http, without a place.
    public static let redirect = Code(.redirect)
    /// The answer is no answer of this API, such as the page of a captive portal.
    public static let notTidings = Code(.notTidings)
    /// The body, or what is in it, is larger than any answer of this API.
    public static let tooLarge = Code(.tooLarge)
    /// The store cannot be read or written: the disk is full, read-only or broken.
    public static let storage = Code(.storage)
  }

  /// What kind it is.
  public var code: Code
  /// What happened, for a log.
  public var message: String
  /// The status of the answer, nil where there was none.
  public var status: Int?
  /// For how many seconds nothing is to be sent, 0...86 400; nil where the server did not say.
  public var retryAfter: Double?
  /// Whether there is no network, which is not the server's fault.
  public var isOffline = false

  /// A failure.
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
