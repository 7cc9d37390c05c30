import Dispatch
import Synchronization

/// The time that a fetch has, everything included: name resolution, body, decoding and disk.
///
/// In the foreground there is no budget; the timeout of ``BackgroundFetcher`` applies. Coming to the foreground ends a
/// budget; leaving it sets one that begins then.
public final class FetchBudget: Sendable {
  /// From the wake to the end.
  public static let total = Duration.seconds(30)
  /// From the call of the expiration handlers to the end.
  public static let warning = Duration.seconds(5)

  /// Why there is a fetch; that of the first caller if several wait for it.
  public let reason: FetchReason
  /// When the application was woken for it.
  public let wake: FetchMoment
  private let clock: any FetchClock
  private let state = Mutex(State())

  private struct State {
    /// The uptime at which time is up; none without a limit.
    var end: Double?
    var handlers: [@Sendable () -> Void] = []
    var isExpiring = false
    var isOver = false

    var warning: Double? { end.map { $0 - FetchBudget.warning.inSeconds } }

    mutating func takeHandlers() -> [@Sendable () -> Void] {
      defer { handlers = [] }
      return handlers
    }
  }

  init(reason: FetchReason, wake: FetchMoment, clock: any FetchClock) {
    self.reason = reason
    self.wake = wake
    self.clock = clock
  }

  /// Whether the fetch has ended for its callers. A result that comes later is dropped.
  public var isOver: Bool { state.withLock(\.isOver) }

  /// What is left, zero at the least; `nil` in the foreground.
  public var timeRemaining: Duration? {
    state.withLock(\.end).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// Calls the handler 5 s before the end, once, and never if the fetch has ended by then; at once if it is as late as
  /// that already.
  ///
  /// Handlers are called one after the other in the order of registration, and the budget lives until the last has
  /// returned. They are not waited for: one that blocks does not put off the end.
  public func onExpiration(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isOver, !state.isExpiring { state.handlers.append(handler) }
      return state.isExpiring && !state.isOver
    }
    if isLate { call([handler]) }
  }

  /// What is left until the handlers are called.
  var timeUntilWarning: Duration? {
    state.withLock(\.warning).map { .seconds(max(0, $0 - clock.now.uptime)) }
  }

  /// Sets the limit, or the earlier of two.
  ///
  /// - Parameter start: The uptime from which the time counts.
  /// - Returns: Whether that has changed anything.
  func limit(from start: Double) -> Bool {
    let end = start + Self.total.inSeconds
    return state.withLock { state in
      if let earlier = state.end, earlier <= end { return false }
      state.end = end
      return true
    }
  }

  func unlimit() {
    state.withLock { state in
      state.end = nil
      state.isExpiring = false
    }
  }

  /// Calls the handlers if it is time.
  func warn() {
    let now = clock.now.uptime
    let handlers = state.withLock { state in
      guard let warning = state.warning, warning <= now else { return [@Sendable () -> Void]() }
      state.isExpiring = true
      return state.takeHandlers()
    }
    call(handlers)
  }

  /// The fetch has ended: no handler is called any more.
  func close() {
    // Handlers may hold what frees other things; they are let go of outside the lock.
    _ = state.withLock { state in
      state.isOver = true
      return state.takeHandlers()
    }
  }

  /// On a queue of their own, for neither the timer nor the pool of threads that tasks share may be held up.
  private func call(_ handlers: [@Sendable () -> Void]) {
    if handlers.isEmpty { return }
    DispatchQueue(label: "tidings.fetch.expiration").async { [self] in
      // The fetch may have ended since.
      for handler in handlers where !isOver { handler() }
      // A handler may refer to the budget without holding it.
      withExtendedLifetime(self) {}
    }
  }
}
