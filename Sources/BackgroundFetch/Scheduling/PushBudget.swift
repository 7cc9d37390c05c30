/// Limits the wakes for pushes to three an hour. Pushes over the limit share one later wake.
///
///     var budget = PushBudget()
///     let now = SystemClock().now
///     if budget.receive(at: now) {
///       print("wake the app")
///     } else if let seconds = budget.delay(at: now) {
///       print("wake the app in \(seconds) s")
///     }
public struct PushBudget: Sendable, Hashable, Codable {
  /// The maximum number of wakes in an hour.
  public static let wakesPerHour = 3

  /// The last wakes, oldest first.
  private var wakes: [FetchMoment] = []
  /// Whether a push waits for its wake.
  public private(set) var isPending = false

  /// Creates a budget without wakes.
  public init() {}

  /// Records a push.
  ///
  /// - Parameter now: The moment of the push.
  /// - Returns: Whether to wake the app for it now. Otherwise it is pending and shares a wake with others; see
  ///   ``delay(at:)``.
  public mutating func receive(at now: FetchMoment) -> Bool {
    postpone()
    return takePending(at: now)
  }

  mutating func postpone() {
    isPending = true
  }

  /// Takes the pending push if the limit allows a wake now. The wake counts from then on.
  ///
  /// - Returns: Whether to wake the app.
  public mutating func takePending(at now: FetchMoment) -> Bool {
    guard delay(at: now) == 0 else { return false }
    wakes = wakes.suffix(Self.wakesPerHour - 1) + [now]
    isPending = false
    return true
  }

  /// Returns the number of seconds until the pending push is due; nil if none is pending.
  public func delay(at now: FetchMoment) -> Double? {
    guard isPending else { return nil }
    guard wakes.count >= Self.wakesPerHour else { return 0 }
    return max(0, 3600 - now.elapsed(since: wakes[wakes.count - Self.wakesPerHour]))
  }

  /// Drops the pending push, because a fetch has brought its news or no wakes are wanted any more.
  public mutating func cancelPending() {
    isPending = false
  }
}
