public import Foundation

/// A fault that a feed applies to a correct response.
public struct FeedFault: Sendable {
  /// The state that the response has; nil for the current one.
  let snapshot: FeedSnapshot?
  /// Whether the correct response must not be compressed, because the fault changes its JSON.
  let needsPlainBody: Bool
  let modify: @Sendable (FaultResponse, FaultRequest) -> FaultResponse

  /// Changes the correct response in any way.
  public init(_ modify: @escaping @Sendable (_ original: FaultResponse, FaultRequest) -> FaultResponse) {
    self.init(snapshot: nil, needsPlainBody: false, modify)
  }

  private init(
    snapshot: FeedSnapshot?, needsPlainBody: Bool,
    _ modify: @escaping @Sendable (FaultResponse, FaultRequest) -> FaultResponse
  ) {
    self.snapshot = snapshot
    self.needsPlainBody = needsPlainBody
    self.modify = modify
  }

  /// Answers from an earlier state, as an outdated cache does. Like a server, it sends 503 for an `at` that it has not
  /// reached, and 410 for a `since` that is ahead of it.
  public static func stale(_ snapshot: FeedSnapshot) -> FeedFault {
    FeedFault(snapshot: snapshot, needsPlainBody: false) { original, _ in original }
  }

  /// Replaces the correct response with a fixed one.
  public static func response(_ response: FaultResponse) -> FeedFault { FeedFault { _, _ in response } }

  /// Closes the connection before the response is complete.
  public static func truncate(at point: FaultPoint) -> FeedFault {
    FeedFault { original, _ in original.truncated(at: point) }
  }

  /// Aborts the connection before the response is complete.
  public static func reset(at point: FaultPoint) -> FeedFault {
    FeedFault { original, _ in original.resetting(at: point) }
  }

  /// Stalls before the response is complete.
  public static func hang(at point: FaultPoint) -> FeedFault {
    FeedFault { original, _ in original.hanging(at: point) }
  }

  /// Sends the body slowly.
  public static func drip(over duration: Duration) -> FeedFault {
    FeedFault { original, _ in original.dripping(over: duration) }
  }

  /// Corrupts the JSON, which is then not compressed.
  public static func json(_ wrong: WrongJSON) -> FeedFault {
    FeedFault(snapshot: nil, needsPlainBody: true) { original, _ in original.json(wrong) }
  }

  /// Compresses the body with a defect, whether or not the client accepts gzip.
  public static func coding(_ fault: CodingFault) -> FeedFault {
    FeedFault(snapshot: nil, needsPlainBody: true) { original, _ in original.gzipped(fault) }
  }

  /// Replaces a field, or removes it if the value is nil.
  public static func header(_ name: String, _ value: String?) -> FeedFault {
    FeedFault { original, _ in value.map { original.setting(name, $0) } ?? original.removing(name) }
  }

  /// Refuses temporarily.
  public static func busy(_ status: Int = 503, retryAfter: RetryAfter?) -> FeedFault {
    response(.busy(status, retryAfter: retryAfter))
  }

  /// Redirects.
  public static func redirect(_ redirect: FaultRedirect, status: Int = 302) -> FeedFault {
    FeedFault { _, request in .redirect(redirect, from: request, status: status) }
  }

  /// Shifts `Date`, as a wrong clock does.
  public static func clock(offBy seconds: TimeInterval) -> FeedFault {
    FeedFault { original, _ in
      original["Date"].flatMap(HTTPDates.date(fixdate:)).map { original.dated($0 + seconds) } ?? original
    }
  }
}

/// The order in which event streams send events.
public enum EventOrder: Sendable {
  /// The order of the changes.
  case faithful
  /// Each event twice.
  case twice
  /// Adjacent events swapped: 2, 1, 4, 3.
  case swapped
  /// No events, as if a proxy withheld them.
  case silent
}
