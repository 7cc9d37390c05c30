/// How a fetch has ended for one of its callers.
public struct FetchOutcome<Report: FetchReporting>: Sendable {
  /// What ended it.
  public enum Ending: String, Sendable, Hashable, Codable {
    /// The fetch returned or threw; see ``FetchOutcome/failure``.
    case finished
    /// Its time was up.
    case expired
    /// The caller was cancelled.
    case cancelled
    /// Another process was fetching; nothing was begun.
    case busy
  }

  /// The report of this very fetch; nil where it has not returned one.
  public var report: Report?
  /// What ended it.
  public var ending: Ending
  /// A sentence about the error that the fetch, or its lock, has thrown; nil if neither has.
  public var failure: String?
  /// Whether the fetch had been begun by another caller.
  public var hasJoined: Bool
  /// From this caller's wake to the end, by the steady clock.
  public var duration: Duration

  /// The result of the fetch; `failed` without a report.
  public var result: FetchResult { report?.result ?? .failed }

  package init(report: Report?, ending: Ending, failure: String? = nil, hasJoined: Bool, duration: Duration) {
    self.report = report
    self.ending = ending
    self.failure = failure
    self.hasJoined = hasJoined
    self.duration = duration
  }
}

extension FetchOutcome: Equatable where Report: Equatable {}
extension FetchOutcome: Hashable where Report: Hashable {}
