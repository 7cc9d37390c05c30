/// The conditions that make wakes and transfers more expensive at the moment.
///
///     let scheduler = FetchScheduler(interval: .minimum)
///     let constraints = FetchConstraints(isMetered: true, isLowPower: true)
///     if case .wait(let date, let reason) = scheduler.decision(at: SystemClock().now, constraints: constraints) {
///       print("\(reason) until \(date)")
///     }
public struct FetchConstraints: Sendable, Hashable, Codable {
  /// Whether the network is paid for by volume.
  public var isMetered: Bool
  /// Whether the battery is low or the user asked to save power.
  public var isLowPower: Bool
  /// Whether there is no external power. It makes no wake more expensive; large transfers may wait for external power.
  public var isOnBattery: Bool
  /// Whether there is no network, or a login page in front of it. No scheduled wake begins.
  public var isOffline: Bool

  /// No constraints.
  public static let none = FetchConstraints()

  /// Creates constraints.
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

  /// The factor for the price of a wake: 1.5 on a metered network, 2 to save power, 3 for both. Wakes before strong
  /// habits remain, and those for the rest of the day become fewer or disappear. One wake a day remains in any case.
  var factor: Double { (isMetered ? 1.5 : 1) * (isLowPower ? 2 : 1) }
}
