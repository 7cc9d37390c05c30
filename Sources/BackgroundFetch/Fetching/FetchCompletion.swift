import Synchronization

/// A handler that is called once: the first result counts, a second one is logged and dropped, and a completion that is
/// let go of without one has `failed`.
public final class FetchCompletion: Sendable {
  private let handler: Mutex<(@Sendable (FetchResult) -> Void)?>
  private let log: @Sendable (String) -> Void

  /// A completion that has not been called.
  ///
  /// - Parameters:
  ///   - log: Is told of results that come too late, and of one that never came.
  ///   - handler: Gets the result, on the thread on which it was handed in.
  public init(
    log: @escaping @Sendable (String) -> Void = { _ in }, handler: @escaping @Sendable (FetchResult) -> Void
  ) {
    self.handler = Mutex(handler)
    self.log = log
  }

  deinit {
    guard let handler = handler.withLock({ $0.take() }) else { return }
    log("a completion was dropped without a result")
    handler(.failed)
  }

  /// Hands in the result; to be called from any thread.
  ///
  /// - Returns: Whether it was the first.
  @discardableResult
  public func callAsFunction(_ result: FetchResult) -> Bool {
    guard let handler = handler.withLock({ $0.take() }) else {
      log("a completion was called again, with \(result.rawValue)")
      return false
    }
    handler(result)
    return true
  }
}
