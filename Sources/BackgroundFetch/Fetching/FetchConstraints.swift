/// The conditions that make wakes and transfers more expensive at the moment.
///
///     let scheduler = FetchScheduler(interval: .minimum)
///     let constraints = FetchConstraints(isMetered: true, isLowPower: true)
///     if case .wait(let date, let reason) = scheduler.decision(at: SystemClock().now, constraints: constraints) {
///       print("\(reason) until \(date)")
///     }
public struct FetchConstraints: Sendable, Hashable, Codable {
  /// Whether the network is metered, so that data costs money by volume.
  public var isMetered: Bool
  /// Whether the battery is low or the user asked to save power.
  public var isLowPower: Bool
  /// Whether the machine runs on battery. This does not make wakes more expensive, but large transfers may wait for
  /// external power.
  public var isOnBattery: Bool
  /// Whether there is no network, or only a captive portal (a login page). No scheduled wake begins.
  public var isOffline: Bool

  /// No constraints.
  public static let none = FetchConstraints()

  /// Creates constraints.
  ///
  /// - Parameters:
  ///   - isMetered: Whether the network is metered.
  ///   - isLowPower: Whether the battery is low or the user asked to save power.
  ///   - isOnBattery: Whether the machine runs on battery.
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
  /// habits remain, and other wakes become fewer or disappear. One wake a day remains in any case.
  var priceFactor: Double { (isMetered ? 1.5 : 1) * (isLowPower ? 2 : 1) }
}
