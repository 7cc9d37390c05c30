public import Foundation

/// The reason why a request, a transfer or an access to stored data has failed.
///
///     do {
///       print(try journal.transfers().count)
///     } catch let error as FetchError where error.code == .storage {
///       print(error.message)
///     }
public struct FetchError: Error, Hashable, Codable {
  /// The kind of failure. Later versions may add kinds.
  ///
  ///     func isWorthAnotherTry(_ code: FetchError.Code) -> Bool {
  ///       [.unreachable, .unavailable, .retryAfterPending].contains(code)
  ///     }
  public struct Code: Sendable, Hashable, Codable {
    private enum Kind: String, Codable {
      case unreachable, retryAfterPending, unavailable, rejected, redirect, unexpectedResponse, tooLarge, storage
      case cancelled, budget, busy, unknown
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
    /// The caller was cancelled.
    public static let cancelled = Code(.cancelled)
    /// The operation has not ended within its time.
    public static let budget = Code(.budget)
    /// Another process is fetching for the same store.
    public static let busy = Code(.busy)

    /// Decodes a code. One of a later version is equal to no other.
    public init(from decoder: any Decoder) throws {
      let name = try decoder.singleValueContainer().decode(String.self)
      kind = Kind(rawValue: name) ?? .unknown
    }

    /// Encodes the name of the code.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(kind.rawValue)
    }
  }

  /// The kind of a failure, by which an app decides what to do. Later versions may add kinds.
  ///
  ///     func advice(_ failure: FetchError) -> String? {
  ///       switch failure.kind {
  ///       case .offline: "You are offline"
  ///       case .refused(let until): "The server is busy" + (until.map { " until \($0)" } ?? "")
  ///       case .wrongContent: "Sign in to the network, or update the app"
  ///       case .storage: failure.message
  ///       case .cancelled, .budget, .other: nil
  ///       }
  ///     }
  public enum Kind: Sendable, Hashable {
    /// There is no network, or the server cannot be reached. See ``FetchError/isOffline`` for the difference.
    case offline
    /// The server accepts no requests at the moment, or none like this one.
    ///
    /// - Parameter until: The time at which it accepts requests again; nil if it has not said so.
    case refused(until: Date?)
    /// The response is not what was requested, such as the page of a captive portal.
    case wrongContent
    /// The store cannot be read or written.
    case storage
    /// The caller was cancelled.
    case cancelled
    /// The time was over.
    case budget
    /// Another reason, such as a fetch of another process.
    case other
  }

  /// The kind of failure for an app.
  public var kind: Kind {
    switch code {
    case .unreachable: .offline
    case .retryAfterPending, .unavailable, .rejected: .refused(until: until)
    case .redirect, .unexpectedResponse, .tooLarge: .wrongContent
    case .storage: .storage
    case .cancelled: .cancelled
    case .budget: .budget
    default: .other
    }
  }

  /// The kind of failure.
  public var code: Code
  /// A description for a log.
  public var message: String
  /// The status of the response; nil without a response.
  public var status: Int?
  /// The wait that the server demands, up to a day; nil if it demands none.
  public var retryAfter: Duration?
  /// The time at which the server accepts requests again; nil if it demands no wait.
  public var until: Date?
  /// Whether the cause is a missing network rather than the server.
  public var isOffline = false

  /// Creates a failure.
  public init(_ code: Code, _ message: String, status: Int? = nil, retryAfter: Duration? = nil) {
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
