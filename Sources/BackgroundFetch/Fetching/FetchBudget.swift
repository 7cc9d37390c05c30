import Dispatch
import Synchronization

/// The time limit of a fetch, everything included: name resolution, body, decoding and disk.
///
/// A fetch has no budget in the foreground, where the timeout of ``BackgroundFetcher`` applies. Entering the foreground
/// removes the limit; leaving it sets a new one, which counts from then.
///
///     let fetcher = BackgroundFetcher<FetchResult>(application: ApplicationLifecycle(launchReason: .fetch))
///     let outcome = await fetcher.perform(reason: .scheduled) { budget in
///       budget.onExpiration { print("5 s left") }
///       print(budget.timeRemaining ?? .zero)
///       return budget.isOver ? .failed : .newData
///     }
///     print(outcome.duration)
public final class FetchBudget: Sendable {
  /// The time from the wake to the end of the fetch.
  public static let total = Duration.seconds(30)
  /// The time from the call of the expiration handlers to the end.
  public static let warning = Duration.seconds(5)

  /// The reason of the fetch. If several callers wait for it, this is the reason of the first one.
  public let reason: FetchReason
  /// The moment at which the application was woken for the fetch.
  public let wake: FetchInstant
  private let clock: any FetchClock
  private let state = Mutex(State())

  private struct State {
    /// The uptime at which the time is over, in seconds; nil without a limit.
    var end: Double?
    /// The uptime at which the fetch ends in the foreground, in seconds.
    var deadline: Double?
    var handlers: [@Sendable () -> Void] = []
    var isExpiring = false
    var isOver = false

    var warning: Double? { end.map { $0 - FetchBudget.warning.inSeconds } }

    mutating func takeHandlers() -> [@Sendable () -> Void] {
      defer { handlers = [] }
      return handlers
    }
  }

  init(reason: FetchReason, wake: FetchInstant, clock: any FetchClock) {
    self.reason = reason
    self.wake = wake
    self.clock = clock
  }

  /// Whether the fetch has ended for its callers. A later result is dropped.
  public var isOver: Bool { state.withLock(\.isOver) }

  /// The remaining time, not negative; `nil` in the foreground. The counterpart of
  /// `UIApplication.backgroundTimeRemaining`.
  public var timeRemaining: Duration? {
    state.withLock(\.end).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// The time until the fetch ends for its callers, in the foreground too; nil before it has a limit.
  package var timeLeft: Duration? {
    state.withLock { [$0.end, $0.deadline].compactMap(\.self).min() }.map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// Registers a handler that is called once, 5 s before the end. It is called at once if less time is left. If the
  /// fetch ends before, it is not called.
  ///
  /// Handlers that are registered before those 5 s are called one after the other, in the order of registration. The
  /// budget exists until the last handler has returned. A handler that blocks does not delay the end.
  public func onExpiration(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isOver, !state.isExpiring { state.handlers.append(handler) }
      return state.isExpiring && !state.isOver
    }
    if isLate { call([handler]) }
  }

  /// The time until the handlers are called; nil without a limit.
  var timeUntilWarning: Duration? {
    state.withLock(\.warning).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// Sets the limit, unless the current one is earlier.
  ///
  /// - Parameter start: The uptime from which the time counts, in seconds.
  /// - Returns: Whether the limit has changed.
  func limit(from start: Double) -> Bool {
    let end = start + Self.total.inSeconds
    return state.withLock { state in
      if let earlier = state.end, earlier <= end { return false }
      state.end = end
      return true
    }
  }

  /// Removes the limit of the background.
  ///
  /// - Parameter deadline: The uptime at which the fetch ends in the foreground, in seconds.
  func unlimit(until deadline: Double) {
    state.withLock { state in
      (state.end, state.deadline) = (nil, deadline)
      state.isExpiring = false
    }
  }

  /// Calls the handlers if 5 s or less are left.
  func warn() {
    let now = clock.now.uptime
    let handlers = state.withLock { state in
      guard let warning = state.warning, warning <= now else { return [@Sendable () -> Void]() }
      state.isExpiring = true
      return state.takeHandlers()
    }
    call(handlers)
  }

  /// Ends the budget. No handler is called afterwards.
  func close() {
    // Releasing a handler may run other code, so handlers are released outside the lock.
    _ = state.withLock { state in
      state.isOver = true
      return state.takeHandlers()
    }
  }

  /// Calls the handlers on a queue of their own, because they must block neither the timer nor the cooperative thread
  /// pool.
  private func call(_ handlers: [@Sendable () -> Void]) {
    if handlers.isEmpty { return }
    DispatchQueue(label: "tidings.fetch.expiration").async { [self] in
      // The fetch may have ended meanwhile.
      for handler in handlers where !isOver { handler() }
      // A handler may use the budget without retaining it.
      withExtendedLifetime(self) {}
    }
  }
}
