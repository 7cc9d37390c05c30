/// The state of a ``BackgroundFetcher``: the current run and its callers. It is changed under the fetcher's lock, and
/// its methods call no other code.
struct FetcherState<Report: FetchReporting> {
  struct Caller {
    var number: UInt64
    /// The uptime of the caller's wake, in seconds.
    var start: Double
    var hasJoined: Bool
    var completion: @Sendable (FetchOutcome<Report>) -> Void
  }

  /// A fetch and its callers.
  struct Run {
    var number: UInt64
    var budget: FetchBudget
    var fetch: BackgroundFetcher<Report>.Fetch
    /// The callers, in the order of their calls.
    var callers: [Caller]
    var task: Task<Void, Never>?
    /// The task that ends the run at the end of its budget or at its deadline.
    var timer: Task<Void, Never>?
    /// The uptime at which the run ends in the foreground, in seconds; nil while its budget limits it.
    var deadline: Double?
  }

  /// The run that callers join.
  var run: Run?
  /// The number of the run whose fetch may run or has not returned: the one that callers join, or an abandoned one. An
  /// abandoned run delays the next one, because two fetches never overlap.
  var activeRun: UInt64?
  private var lastNumber: UInt64 = 0

  mutating func makeNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Makes the current run the active one, unless the fetch of another run has not returned.
  mutating func activateRun() {
    if activeRun == nil { activeRun = run?.number }
  }

  /// Removes a caller.
  ///
  /// - Returns: The caller if it was still waiting, and the run if it has no caller left.
  mutating func removeCaller(_ number: UInt64) -> (caller: Caller, abandoned: Run?)? {
    guard let index = run?.callers.firstIndex(where: { $0.number == number }),
      let caller = run?.callers.remove(at: index)
    else { return nil }
    return (caller, run?.callers.isEmpty == true ? run.take() : nil)
  }
}
