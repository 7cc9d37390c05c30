/// How a fetch has ended for one of those who waited for it.
public struct FetchOutcome: Sendable, Hashable {
  /// What ended it.
  public enum Ending: String, Sendable, Hashable, Codable {
    /// The fetch returned or threw; what it threw is logged.
    case finished
    /// Its time was up.
    case expired
    /// The caller was cancelled.
    case cancelled
    /// Another process was fetching; nothing was begun.
    case busy
  }

  /// What the fetch has come to; `failed` unless it finished.
  public var result: FetchResult
  /// What ended it.
  public var ending: Ending
  /// Whether the fetch had been begun by another caller.
  public var hasJoined: Bool
  /// From this caller's wake to the end, by the steady clock.
  public var duration: Duration

  package init(result: FetchResult, ending: Ending, hasJoined: Bool, duration: Duration) {
    self.result = result
    self.ending = ending
    self.hasJoined = hasJoined
    self.duration = duration
  }
}
