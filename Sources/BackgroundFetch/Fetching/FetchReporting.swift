/// The report that a fetch returns: a ``FetchResult``, or a type of the app that contains one.
///
///     struct Downloaded: FetchReporting {
///       var result: FetchResult
///       var articles: Int
///     }
///     let fetcher = BackgroundFetcher<Downloaded>(application: ApplicationLifecycle(launchReason: .fetch))
///     let outcome = await fetcher.perform(reason: .scheduled) { _ in Downloaded(result: .newData, articles: 3) }
///     print(outcome.report?.articles ?? 0)  // 3
public protocol FetchReporting: Sendable {
  /// The result of the fetch.
  var result: FetchResult { get }
}

extension FetchResult: FetchReporting {
  /// The result itself.
  public var result: FetchResult { self }
}
