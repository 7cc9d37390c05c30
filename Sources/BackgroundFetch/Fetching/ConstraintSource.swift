/// A source of the current constraints on wakes.
///
///     struct Laptop: ConstraintSource {
///       var current: FetchConstraints { FetchConstraints(isOnBattery: true) }
///     }
///     print(Laptop().current.isOnBattery)  // true
public protocol ConstraintSource: Sendable {
  /// The current constraints. The getter may block for a moment.
  var current: FetchConstraints { get }
  /// Changes of the network from now on, after each of which ``current`` is worth another look. By default there are none.
  /// The counterpart of `NWPathMonitor`.
  var networkChanges: AsyncStream<Void> { get }
}

extension ConstraintSource {
  /// A stream without elements, which ends with its task.
  public var networkChanges: AsyncStream<Void> { AsyncStream { _ in } }
}

extension FetchConstraints: ConstraintSource {
  /// The constraints themselves.
  public var current: FetchConstraints { self }
}
