public import BackgroundFetch
public import HTTPTransfer

/// The result, the counts and the cost of a fetch, which can be encoded as one line of JSON.
///
///     let report = await news.performFetch(.launch)
///     if report.result == .newData {
///       print("\(report.inserted) new items, badge \(report.badge)")
///     }
public struct FetchReport: FetchReporting, Equatable, Codable {
  /// The result. It depends on the changes of the stored items, never on an HTTP status alone.
  public var result: FetchResult
  /// The number of items that were not stored before.
  public var inserted = 0
  /// The number of stored items whose content has changed.
  public var updated = 0
  /// The number of removed items, without those that only became too old for the window.
  public var removed = 0
  /// The number of requests sent, redirects included.
  public var requests = 0
  /// The bytes of HTTP/1.1 sent and received, as far as the response fields reveal them.
  public var bytes = 0
  /// The number of items that arrived after the app was last opened.
  public var badge = 0
  /// The number of items that a full copy has received so far, if pages are missing; nil otherwise. The next fetch
  /// continues the copy, which is shown once it is complete.
  public var received: Int?
  /// The reason of a failure, for code; nil unless the result is `failed`.
  public var failure: FetchError?
  /// The reason of a failure, for a log.
  public var error: String?

  /// Creates the report of a fetch that has not begun.
  public init(result: FetchResult) {
    self.result = result
  }

  /// Creates the report of a failure.
  init(_ failure: FetchError) {
    result = .failed
    (self.failure, error) = (failure, failure.message)
  }
}
