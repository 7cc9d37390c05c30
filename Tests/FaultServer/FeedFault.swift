public import Foundation

/// What a feed does to an honest answer.
public struct FeedFault: Sendable {
  /// Answers from then, if not from now.
  let moment: FeedMoment?
  /// The honest answer must not be compressed: it is the JSON that is to be spoilt.
  let needsPlainBody: Bool
  let spoil: @Sendable (FaultAnswer, FaultRequest) -> FaultAnswer

  /// Changes the honest answer in any way.
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

  /// Answers as an earlier state would have: a cache that runs behind. It answers 503 to an `at` it has not reached, and
  /// 410 to a `since` that is ahead of it, as a server would.
  public static func stale(_ moment: FeedMoment) -> FeedFault {
    FeedFault(moment: moment, needsPlainBody: false) { honest, _ in honest }
  }

  /// Answers the same to everyone, whatever the honest answer is.
  public static func answer(_ answer: FaultAnswer) -> FeedFault { FeedFault { _, _ in answer } }

  /// Closes the connection before the answer is complete.
  public static func truncate(at point: FaultPoint) -> FeedFault {
    FeedFault { honest, _ in honest.truncated(at: point) }
  }

  /// Aborts the connection before the answer is complete.
  public static func reset(at point: FaultPoint) -> FeedFault { FeedFault { honest, _ in honest.resetting(at: point) } }

  /// Does not complete the answer.
  public static func hang(at point: FaultPoint) -> FeedFault { FeedFault { honest, _ in honest.hanging(at: point) } }

  /// Sends the body little by little.
  public static func drip(over duration: Duration) -> FeedFault {
    FeedFault { honest, _ in honest.dripping(over: duration) }
  }

  /// Spoils the JSON, which is then not compressed.
  public static func json(_ wrong: WrongJSON) -> FeedFault {
    FeedFault(moment: nil, needsPlainBody: true) { honest, _ in honest.json(wrong) }
  }

  /// Compresses the body with something wrong, whether or not the client accepts gzip.
  public static func coding(_ fault: CodingFault) -> FeedFault {
    FeedFault(moment: nil, needsPlainBody: true) { honest, _ in honest.gzipped(fault) }
  }

  /// Says something else in a field, or nothing where it is nil.
  public static func header(_ name: String, _ value: String?) -> FeedFault {
    FeedFault { honest, _ in value.map { honest.setting(name, $0) } ?? honest.removing(name) }
  }

  /// Refuses for now.
  public static func busy(_ status: Int = 503, retryAfter: RetryAfter?) -> FeedFault {
    answer(.busy(status, retryAfter: retryAfter))
  }

  /// Sends elsewhere.
  public static func redirect(_ redirect: FaultRedirect, status: Int = 302) -> FeedFault {
    FeedFault { _, request in .redirect(redirect, from: request, status: status) }
  }

  /// Runs by a clock that is off.
  public static func clock(offBy seconds: TimeInterval) -> FeedFault {
    FeedFault { honest, _ in
      honest["Date"].flatMap(HTTPDates.date(fixdate:)).map { honest.dated($0 + seconds) } ?? honest
    }
  }
}

/// In which order a feed's event streams tell what happens.
public enum EventOrder: Sendable {
  /// As it happens.
  case faithful
  /// Each event twice.
  case twice
  /// Each event but the first behind the one that follows it: 2, 1, 4, 3.
  case swapped
  /// No event at all, as if a proxy had swallowed them.
  case silent
}
