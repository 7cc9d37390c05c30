/// The outcome of a fetch for one of its callers.
///
///     let fetcher = BackgroundFetcher<FetchResult>(application: Application(launchReason: .push))
///     let outcome = await fetcher.perform(reason: .push) { _ in .newData }
///     switch outcome.ending {
///     case .finished: print(outcome.failure ?? outcome.result.rawValue)
///     case .expired, .cancelled, .busy: print("no report")
///     }
public struct FetchOutcome<Report: FetchReporting>: Sendable {
  /// The reason for the end of a fetch.
  ///
  ///     print(FetchOutcome<FetchResult>.Ending.busy.rawValue)  // busy
  public enum Ending: String, Sendable, Hashable, Codable {
    /// The fetch returned or threw; see ``FetchOutcome/failure``.
    case finished
    /// The time was over.
    case expired
    /// The caller was cancelled.
    case cancelled
    /// Another process was fetching, so the fetch did not begin.
    case busy
  }

  /// The report of this fetch; nil if it has returned none.
  public var report: Report?
  /// The reason for the end.
  public var ending: Ending
  /// The description of the error that the fetch or its lock has thrown; nil without an error.
  public var failure: String?
  /// Whether another caller had begun the fetch.
  public var hasJoined: Bool
  /// The time from this caller's wake to the end, by the uptime.
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
