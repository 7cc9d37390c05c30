/// Lets at most three pushes an hour wake the app. Those in excess become one wake that is made up for later.
public struct PushBudget: Sendable, Hashable, Codable {
  /// How many wakes there are in an hour at most.
  public static let wakesPerHour = 3

  /// The last wakes, oldest first.
  private var wakes: [FetchMoment] = []
  /// Whether a push waits for its wake.
  public private(set) var isPending = false

  /// An untouched budget.
  public init() {}

  /// A push came in.
  ///
  /// - Parameter now: When.
  /// - Returns: Whether to wake the app for it now. If not, it waits together with others, see ``delay(at:)``.
  public mutating func receive(at now: FetchMoment) -> Bool {
    postpone()
    return takePending(at: now)
  }

  mutating func postpone() {
    isPending = true
  }

  /// Whether to wake the app now for pushes that had to wait. The wake counts from then on.
  public mutating func takePending(at now: FetchMoment) -> Bool {
    guard delay(at: now) == 0 else { return false }
    wakes = wakes.suffix(Self.wakesPerHour - 1) + [now]
    isPending = false
    return true
  }

  /// In how many seconds the pending push is due; nil if there is none.
  public func delay(at now: FetchMoment) -> Double? {
    guard isPending else { return nil }
    guard wakes.count >= Self.wakesPerHour else { return 0 }
    return max(0, 3600 - now.elapsed(since: wakes[wakes.count - Self.wakesPerHour]))
  }

  /// Forgets the pending push: a fetch has brought its news, or nobody wants them any more.
  public mutating func cancelPending() {
    isPending = false
  }
}
