/// The value that a fetch returns: a ``FetchResult``, or a type of the app's own that has one.
///
/// ```swift
/// struct Downloaded: FetchReporting {
///   var result: FetchResult
///   var articles: Int
/// }
/// let fetcher = BackgroundFetcher<Downloaded>(application: application)
/// ```
public protocol FetchReporting: Sendable {
  /// The result of the fetch.
  var result: FetchResult { get }
}

extension FetchResult: FetchReporting {
  /// The result itself.
  public var result: FetchResult { self }
}
