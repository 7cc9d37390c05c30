/// The outcome of a fetch for one of its callers.
///
///     let fetcher = BackgroundFetcher<FetchResult>(application: ApplicationLifecycle(launchReason: .push))
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
    /// The fetch has exceeded its time limit.
    case expired
    /// The caller was cancelled.
    case cancelled
    /// Another process held the lock, so the fetch did not begin.
    case busy
  }

  /// The report of the fetch; nil if it has returned none.
  public var report: Report?
  /// The reason for the end.
  public var ending: Ending
  /// The description of the error that the fetch or its lock has thrown; nil if there was none.
  public var failure: String?
  /// Whether another caller had started the fetch.
  public var hasJoined: Bool
  /// The time from this caller's wake to the end, measured by the uptime.
  public var duration: Duration
  /// The number of the run, the same for all callers of a fetch; nil if the caller was not part of one at its end.
  package var run: UInt64?

  /// The result of the fetch; `failed` if there is no report.
  public var result: FetchResult { report?.result ?? .failed }

  package init(
    report: Report?, ending: Ending, failure: String? = nil, hasJoined: Bool, duration: Duration, run: UInt64? = nil
  ) {
    self.report = report
    self.ending = ending
    self.failure = failure
    self.hasJoined = hasJoined
    self.duration = duration
    self.run = run
  }
}

extension FetchOutcome: Equatable where Report: Equatable {
  /// Compares everything except the number of the run, which differs between equal fetches.
  public static func == (one: Self, other: Self) -> Bool {
    (one.report, one.ending, one.failure, one.hasJoined, one.duration)
      == (other.report, other.ending, other.failure, other.hasJoined, other.duration)
  }
}

extension FetchOutcome: Hashable where Report: Hashable {
  /// Hashes everything except the number of the run.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(report)
    hasher.combine(ending)
    hasher.combine(failure)
    hasher.combine(hasJoined)
    hasher.combine(duration)
  }
}
