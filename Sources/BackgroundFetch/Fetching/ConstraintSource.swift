/// A source of the current constraints on wakes.
///
///     struct Laptop: ConstraintSource {
///       var current: FetchConstraints { FetchConstraints(isOnBattery: true) }
///     }
///     print(Laptop().current.isOnBattery)  // true
public protocol ConstraintSource: Sendable {
  /// The current constraints. The getter may block for a moment.
  var current: FetchConstraints { get }
}

extension FetchConstraints: ConstraintSource {
  /// The constraints themselves.
  public var current: FetchConstraints { self }
}
