public import BackgroundFetch
public import HTTPTransfer

extension FetchConstraints {
  /// The conditions that transfers may wait for.
  public var obstacles: Set<Transfer.Obstacle> {
    var obstacles: Set<Transfer.Obstacle> = []
    if isOnBattery || isLowPower { obstacles.insert(.power) }
    if isMetered { obstacles.insert(.network) }
    return obstacles
  }
}
