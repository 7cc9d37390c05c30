/// What makes wakes and transfers dearer at the moment.
public struct FetchConstraints: Sendable, Hashable, Codable {
  /// The network is paid for by volume.
  public var isMetered: Bool
  /// The battery is low, or the user asked to save power.
  public var isLowPower: Bool
  /// There is no external power. It makes no wake dearer; large transfers may wait for it.
  public var isOnBattery: Bool
  /// There is no network, or a login page is in front of it. No scheduled wake begins.
  public var isOffline: Bool

  /// Nothing in the way.
  public static let none = FetchConstraints()

  /// Constraints.
  ///
  /// - Parameters:
  ///   - isMetered: Whether the network is paid for by volume.
  ///   - isLowPower: Whether power is to be saved.
  ///   - isOnBattery: Whether there is no external power.
  ///   - isOffline: Whether there is no network.
  public init(
    isMetered: Bool = false, isLowPower: Bool = false, isOnBattery: Bool = false, isOffline: Bool = false
  ) {
    self.isMetered = isMetered
    self.isLowPower = isLowPower
    self.isOnBattery = isOnBattery
    self.isOffline = isOffline
  }

  /// What the price of a wake is multiplied by: 1.5 on a metered network, 2 to save power, 3 for both. Wakes before
  /// strong habits remain, those for the rest of the day become fewer or are left out. There is one a day in any case.
  var factor: Double { (isMetered ? 1.5 : 1) * (isLowPower ? 2 : 1) }
}
