import Synchronization

/// Passes the reports of fetches to a function, one after the other. A fetch with several callers is reported once.
final class ReportQueue: Sendable {
  /// The number of runs that are remembered. Runs follow each other, but their callers may report in any order.
  private static let maximumRuns = 16

  private let onReport: @Sendable (FetchReport) -> Void
  /// The last reported runs. The lock is held during a report.
  private let runs = Mutex<[UInt64]>([])

  init(_ onReport: @escaping @Sendable (FetchReport) -> Void) { self.onReport = onReport }

  /// Reports a fetch, unless another caller has reported it.
  func add(_ handled: NewsFetcher.Handled) {
    runs.withLock { runs in
      if let run = handled.run {
        if runs.contains(run) { return }
        runs = runs.suffix(Self.maximumRuns - 1) + [run]
      }
      onReport(handled.report)
    }
  }
}
