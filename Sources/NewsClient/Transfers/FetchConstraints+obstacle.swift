public import BackgroundFetch
public import HTTPTransfer

extension FetchConstraints {
  /// The condition that discretionary transfers wait for; nil if there is none.
  public var obstacle: Transfer.Obstacle? {
    if isOnBattery || isLowPower { return .power }
    return isMetered ? .network : nil
  }
}
