public import Foundation
public import News

/// A registered device.
public struct Device: Sendable {
  /// The time for which a registration is valid: 90 days.
  public static let lifetime: Duration = .seconds(90 * 86_400)
  /// The time in which a device must return its code: one hour.
  public static let confirmationTime: Duration = .seconds(3600)

  /// The last report of a device about the news that it has.
  public struct Report: Sendable, Equatable {
    /// The epoch of the reported token.
    public let epoch: String
    /// The version of the reported token.
    public let version: Int
    /// The time of the report.
    public let at: Date

    /// Creates a report.
    public init(epoch: String, version: Int, at: Date) {
      self.epoch = epoch
      self.version = version
      self.at = at
    }
  }

  /// The last refusal of a device's address by its provider.
  public struct TokenError: Sendable, Equatable {
    /// The reason of the provider.
    public let reason: String
    /// The time of the refusal.
    public let at: Date
    /// The number of refusals since the last message that was accepted.
    public let count: Int

    /// Creates a description.
    public init(reason: String, at: Date, count: Int) {
      self.reason = reason
      self.at = at
      self.count = count
    }
  }

  /// The id.
  public let id: UUID
  /// The address of the device and the pushes that it wants. It must not be logged.
  public let registration: DeviceRegistration
  /// Whether the device has not returned the code of its first push. It receives no other push before.
  public let isPending: Bool
  /// The time of the first registration.
  public let createdAt: Date
  /// The time of the last registration.
  public let registeredAt: Date
  /// The time at which the registration ends if it is not renewed.
  public let expiresAt: Date
  /// The last report; nil before the first, and after the app was installed again.
  public let lastReport: Report?
  /// The last refusal; nil if the last message was accepted.
  public let tokenError: TokenError?
}

/// The maximum numbers of devices.
public struct DeviceLimits: Sendable {
  /// The maximum number of all devices. Processes count them once in a while, so that it may be exceeded a little.
  public var total: Int
  /// The maximum number of devices with addresses at one host of Web Push that have not returned the code of their first
  /// push. A further one replaces the oldest of the network that has most of them.
  public var perHost: Int

  /// Creates limits.
  public init(total: Int, perHost: Int) {
    self.total = total
    self.perHost = perHost
  }
}

/// The refusal of a registration because of the number of devices.
public enum DeviceError: Error, Sendable, Equatable {
  /// There are too many devices.
  case tooManyDevices
}
