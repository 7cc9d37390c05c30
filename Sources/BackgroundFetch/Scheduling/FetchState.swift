/// What is being fetched and who waits for it; changed under the fetcher's lock, without calling out.
struct FetchState<Report: FetchReporting> {
  struct Caller {
    var number: UInt64
    /// The uptime of the wake.
    var start: Double
    var hasJoined: Bool
    var tell: @Sendable (FetchOutcome<Report>) -> Void
  }

  /// One fetch.
  struct Run {
    var number: UInt64
    var budget: FetchBudget
    var fetch: BackgroundFetcher<Report>.Fetch
    /// In the order in which they came.
    var callers: [Caller]
    var task: Task<Void, Never>?
    /// Ends the run: at the end of its budget, or at its deadline.
    var timer: Task<Void, Never>?
    /// The uptime at which the run ends in the foreground; nil while its budget limits it.
    var deadline: Double?
  }

  /// What callers join.
  var run: Run?
  /// The run whose fetch has not returned: the one that callers join, or one that was given up and holds the next one
  /// up, as two never overlap.
  var working: UInt64?
  private var last: UInt64 = 0

  mutating func makeNumber() -> UInt64 {
    last += 1
    return last
  }

  /// The run may begin unless another one is still at work.
  mutating func takeTurn() {
    if working == nil { working = run?.number }
  }

  /// Removes a caller.
  ///
  /// - Returns: The caller if it was still waiting, and the run if nobody waits for it any more.
  mutating func leave(_ number: UInt64) -> (caller: Caller, abandoned: Run?)? {
    guard let index = run?.callers.firstIndex(where: { $0.number == number }),
      let caller = run?.callers.remove(at: index)
    else { return nil }
    return (caller, run?.callers.isEmpty == true ? run.take() : nil)
  }
}
