/// Knows what makes wakes dearer at the moment.
public protocol ConstraintSource: Sendable {
  /// What it is like now. May take a moment.
  var current: FetchConstraints { get }
}

extension FetchConstraints: ConstraintSource {
  /// Always the same.
  public var current: FetchConstraints { self }
}
