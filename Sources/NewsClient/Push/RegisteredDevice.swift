import BackgroundFetch
public import Foundation
public import News

/// The registration of this device for pushes, without its secrets.
///
///     if let device = try news.device, !device.isConfirmed {
///       print("waiting for the first push since \(device.renewed)")
///     }
public struct RegisteredDevice: Sendable, Equatable {
  /// The id at the server; nil until the server has accepted the registration.
  public var id: UUID?
  /// The server.
  public var server: URL
  /// The service that delivers the pushes.
  public var provider: PushProvider
  /// The topics whose changes wake the device; empty for the whole feed.
  public var topics: [String]
  /// Whether the device wants visible alerts.
  public var alerts: Bool
  /// The time at which the server has last accepted the registration; nil before.
  public var renewed: Date?
  /// The time at which the registration ends if it is not renewed; nil before the server has accepted it.
  public var expires: Date?
  /// Whether the server sends pushes. A device with Web Push must have received a first push before.
  public var isConfirmed: Bool
}

/// The stored registration, with its secrets.
struct StoredDevice: Codable {
  /// The server at which the device is registered, or is to be.
  var server: URL
  /// The registration that the app wants. Without topics they are those of the feed.
  var wanted: DeviceRegistration
  /// The id and the secret at the server; nil before the server has accepted the registration, and after it has forgotten
  /// the device.
  var credentials: DeviceCredentials?
  /// The registration that the server has; nil without credentials.
  var accepted: DeviceRegistration?
  /// The moment at which the server has accepted it.
  var renewed: FetchInstant?
  /// The moment of the last attempt that failed, or did not end.
  var attempted: FetchInstant?
  /// Whether a subscription of Web Push was confirmed by its code.
  var isConfirmed = false
  /// The code that the server has not received yet.
  var code: String?
  /// Whether the user has turned pushes off, but the server does not know it yet.
  var isRemoved = false

  init(server: URL, wanted: DeviceRegistration) {
    self.server = server
    self.wanted = wanted
  }

  /// The registration for the server. It follows the topics of the feed unless the app has chosen others.
  func registration(topics: [String]) -> DeviceRegistration {
    var registration = wanted
    if registration.topics == nil, !topics.isEmpty { registration.topics = topics }
    return registration
  }

  /// The device with the registration that the server has, because it has refused the wanted one. Topics of the feed remain
  /// those of the feed.
  var withAcceptedRegistration: StoredDevice {
    guard let accepted else { return self }
    var device = self
    device.wanted = accepted
    device.wanted.topics = wanted.topics == nil ? nil : accepted.topics
    return device
  }

  /// Stores the server's acceptance of a registration.
  mutating func accept(_ credentials: DeviceCredentials, _ registration: DeviceRegistration, at now: FetchInstant) {
    // Only an address of Web Push is a stranger's claim that needs a code.
    if registration.provider != .webpush || registration.subscription != accepted?.subscription {
      isConfirmed = registration.provider != .webpush
    }
    (self.credentials, accepted, renewed, attempted) = (credentials, registration, now, nil)
  }

  /// Forgets the credentials, because the server does not know them.
  mutating func forget() {
    (credentials, accepted, renewed, code) = (nil, nil, nil, nil)
    isConfirmed = false
  }

  /// The registration for users, without secrets.
  func described(topics: [String]) -> RegisteredDevice {
    RegisteredDevice(
      id: credentials?.id, server: server, provider: wanted.provider,
      topics: registration(topics: topics).topics ?? [], alerts: wanted.alerts, renewed: renewed?.date,
      expires: credentials?.expires, isConfirmed: isConfirmed)
  }
}
