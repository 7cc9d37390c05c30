public import BackgroundFetch

/// How it is decided when to wake.
public struct Policy: Sendable, Hashable, Codable {
  /// The kinds of policies.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// The scheduler of `BackgroundFetch`.
    case scheduler
    /// The same time after each wake, as often altogether as the scheduler.
    case fixed
    /// A time that grows with each wake that finds nothing and begins anew with one that does, as often altogether as
    /// the scheduler.
    case exponential
  }

  /// What it is called.
  public var name: String
  /// What it is.
  public var kind: Kind
  /// For the scheduler: how often wakes are wanted; `minimum` if nil.
  public var interval: FetchInterval?
  /// For `fixed`: by which part each time may be shorter or longer, 0...1; 0 if nil.
  public var jitter: Double?
  /// For `exponential`: what the time is multiplied by, 1 or more; 2 if nil.
  public var factor: Double?
  /// For `exponential`: the longest time, as a multiple of the shortest; 16 if nil.
  public var longest: Double?
}
