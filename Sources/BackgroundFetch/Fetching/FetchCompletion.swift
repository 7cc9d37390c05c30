import Synchronization

/// A completion handler that is called exactly once.
///
/// Only the first result counts. Later results are logged and ignored. A completion that is released without a result
/// reports `failed`. The counterpart of the completion handler of
/// `UIApplicationDelegate.application(_:performFetchWithCompletionHandler:)`.
///
///     let completion = FetchCompletion(log: { print($0) }) { result in print(result) }
///     completion(.newData)  // prints newData
///     completion(.noData)  // logs: a completion was called again; the result noData is ignored
public final class FetchCompletion: Sendable {
  private let handler: Mutex<(@Sendable (FetchResult) -> Void)?>
  private let log: @Sendable (String) -> Void

  /// Creates a completion that has not been called.
  ///
  /// - Parameters:
  ///   - log: Receives a message for each result after the first, and for a missing result.
  ///   - handler: Receives the result, on the thread that passes it.
  public init(
    log: @escaping @Sendable (String) -> Void = { _ in }, handler: @escaping @Sendable (FetchResult) -> Void
  ) {
    self.handler = Mutex(handler)
    self.log = log
  }

  deinit {
    guard let handler = handler.withLock({ $0.take() }) else { return }
    log("a completion was released without a result; the fetch counts as failed")
    handler(.failed)
  }

  /// Passes the result to the handler, on any thread.
  ///
  /// - Returns: Whether it was the first result.
  @discardableResult
  public func callAsFunction(_ result: FetchResult) -> Bool {
    guard let handler = handler.withLock({ $0.take() }) else {
      log("a completion was called again; the result \(result.rawValue) is ignored")
      return false
    }
    handler(result)
    return true
  }
}
