/// The rate limit of wakes for pushes: three an hour. Pushes over the limit share one later wake.
///
///     var limit = PushRateLimit()
///     let now = SystemClock().now
///     if limit.receive(at: now) {
///       print("wake the app")
///     } else if let delay = limit.delay(at: now) {
///       print("wake the app in \(delay)")
///     }
public struct PushRateLimit: Sendable, Hashable, Codable {
  /// The maximum number of wakes in an hour.
  public static let wakesPerHour = 3

  /// The moments of the last wakes, oldest first.
  private var wakes: [FetchInstant] = []
  /// Whether a push is pending.
  public private(set) var isPending = false

  /// Creates a limit without past wakes.
  public init() {}

  /// Records a push.
  ///
  /// - Parameter now: The moment of the push.
  /// - Returns: Whether to wake the app now. Otherwise the push is pending, and shares a wake with other pushes; see
  ///   ``delay(at:)``.
  public mutating func receive(at now: FetchInstant) -> Bool {
    postpone()
    return takePending(at: now)
  }

  mutating func postpone() {
    isPending = true
  }

  /// Takes the pending push if the limit allows a wake now, and counts the wake.
  ///
  /// - Returns: Whether to wake the app.
  public mutating func takePending(at now: FetchInstant) -> Bool {
    guard wait(at: now) == 0 else { return false }
    wakes = wakes.suffix(Self.wakesPerHour - 1) + [now]
    isPending = false
    return true
  }

  /// Returns the time until the pending push is due; nil if none is pending.
  public func delay(at now: FetchInstant) -> Duration? { wait(at: now).map { Duration(clamping: $0) } }

  /// Returns the number of seconds until the pending push is due; nil if none is pending.
  func wait(at now: FetchInstant) -> Double? {
    guard isPending else { return nil }
    guard wakes.count >= Self.wakesPerHour else { return 0 }
    return max(0, 3600 - now.elapsed(since: wakes[wakes.count - Self.wakesPerHour]))
  }

  /// Drops the pending push, because a fetch has brought its news or wakes are no longer wanted.
  public mutating func cancelPending() {
    isPending = false
  }
}
