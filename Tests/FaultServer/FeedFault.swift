public import Foundation

/// A fault that a feed applies to a correct answer.
public struct FeedFault: Sendable {
  /// The state to answer from; nil for the current one.
  let moment: FeedMoment?
  /// Whether the correct answer must not be compressed, because the fault changes its JSON.
  let needsPlainBody: Bool
  let spoil: @Sendable (FaultAnswer, FaultRequest) -> FaultAnswer

  /// Changes the correct answer in any way.
  public init(_ spoil: @escaping @Sendable (_ honest: FaultAnswer, FaultRequest) -> FaultAnswer) {
    self.init(moment: nil, needsPlainBody: false, spoil)
  }

  private init(
    moment: FeedMoment?, needsPlainBody: Bool,
    _ spoil: @escaping @Sendable (FaultAnswer, FaultRequest) -> FaultAnswer
  ) {
    self.moment = moment
    self.needsPlainBody = needsPlainBody
    self.spoil = spoil
  }

  /// Answers from an earlier state, as an outdated cache does. Like a server, it sends 503 for an `at` that it has not
  /// reached, and 410 for a `since` that is ahead of it.
  public static func stale(_ moment: FeedMoment) -> FeedFault {
    FeedFault(moment: moment, needsPlainBody: false) { honest, _ in honest }
  }

  /// Replaces the correct answer with a fixed one.
  public static func answer(_ answer: FaultAnswer) -> FeedFault { FeedFault { _, _ in answer } }

  /// Closes the connection before the answer is complete.
  public static func truncate(at point: FaultPoint) -> FeedFault {
    FeedFault { honest, _ in honest.truncated(at: point) }
  }

  /// Aborts the connection before the answer is complete.
  public static func reset(at point: FaultPoint) -> FeedFault { FeedFault { honest, _ in honest.resetting(at: point) } }

  /// Stalls before the answer is complete.
  public static func hang(at point: FaultPoint) -> FeedFault { FeedFault { honest, _ in honest.hanging(at: point) } }

  /// Sends the body slowly.
  public static func drip(over duration: Duration) -> FeedFault {
    FeedFault { honest, _ in honest.dripping(over: duration) }
  }

  /// Corrupts the JSON, which is then not compressed.
  public static func json(_ wrong: WrongJSON) -> FeedFault {
    FeedFault(moment: nil, needsPlainBody: true) { honest, _ in honest.json(wrong) }
  }

  /// Compresses the body with a defect, whether or not the client accepts gzip.
  public static func coding(_ fault: CodingFault) -> FeedFault {
    FeedFault(moment: nil, needsPlainBody: true) { honest, _ in honest.gzipped(fault) }
  }

  /// Replaces a field, or removes it if the value is nil.
  public static func header(_ name: String, _ value: String?) -> FeedFault {
    FeedFault { honest, _ in value.map { honest.setting(name, $0) } ?? honest.removing(name) }
  }

  /// Refuses temporarily.
  public static func busy(_ status: Int = 503, retryAfter: RetryAfter?) -> FeedFault {
    answer(.busy(status, retryAfter: retryAfter))
  }

  /// Redirects.
  public static func redirect(_ redirect: FaultRedirect, status: Int = 302) -> FeedFault {
    FeedFault { _, request in .redirect(redirect, from: request, status: status) }
  }

  /// Shifts `Date`, as a wrong clock does.
  public static func clock(offBy seconds: TimeInterval) -> FeedFault {
    FeedFault { honest, _ in
      honest["Date"].flatMap(HTTPDates.date(fixdate:)).map { honest.dated($0 + seconds) } ?? honest
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
