public import BackgroundFetch

/// What a fetch has come to and what it cost, as one line for machines.
public struct FetchReport: FetchReporting, Equatable, Codable {
  /// From the stored difference, never from a status alone.
  public var result: FetchResult
  /// Items that were not stored before.
  public var inserted = 0
  /// Items that were stored otherwise.
  public var updated = 0
  /// Items that are stored no more.
  public var removed = 0
  /// Requests that were sent, redirections included.
  public var requests = 0
  /// Bytes of HTTP/1.1 both ways, as far as the fields of the answers tell.
  public var bytes = 0
  /// Items that came since the app was last opened.
  public var badge = 0
  /// Why it has failed, for a log.
  public var error: String?

  /// The report of a fetch that has not begun.
  public init(result: FetchResult) {
    self.result = result
  }
}
