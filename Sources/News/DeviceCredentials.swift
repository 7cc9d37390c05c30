public import Foundation

/// The body of the response to `POST /v1/devices` and `PUT /v1/devices/{id}`.
///
///     func needsRenewal(_ device: DeviceCredentials, at now: Date) -> Bool {
///       device.expires.timeIntervalSince(now) < 83 * 86_400
///     }
public struct DeviceCredentials: Sendable, Equatable, Codable {
  /// The id, which is part of the device's address.
  public var id: UUID
  /// The secret that the device presents as a bearer token: 43 characters of base64url. The server keeps only its digest.
  public var secret: String
  /// The time at which the registration ends if it is not renewed.
  public var expires: Date

  /// Creates credentials.
  public init(id: UUID, secret: String, expires: Date) {
    self.id = id
    self.secret = secret
    self.expires = expires
  }
}

/// The body of `PUT /v1/devices/{id}/state`: the news that a device has.
///
///     let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 36)
///     let report = DeviceReport(token: token, push: UUID(), result: .newData)
///     print(report.token)  // 1k3x9qam9pkx.10
public struct DeviceReport: Sendable, Equatable, Codable {
  /// The outcome of the fetch after a push.
  public enum Result: String, Sendable, Codable, CaseIterable {
    case newData, noData, failed
  }

  /// The token of the device, of any scope.
  public var token: SyncToken
  /// The push that has woken the device; nil if none has.
  public var push: UUID?
  /// The outcome of the fetch; nil if there was none.
  public var result: Result?

  /// Creates a report.
  public init(token: SyncToken, push: UUID? = nil, result: Result? = nil) {
    self.token = token
    self.push = push
    self.result = result
  }
}

/// The body of `GET /v1/push`: the services through which the server sends pushes.
///
///     let offer = try NewsJSON.decode(PushOffer.self, from: Data(#"{"providers":["apns"]}"#.utf8))
///     print(offer.providers.contains(.webpush))  // false
public struct PushOffer: Sendable, Equatable, Codable {
  /// The identity of the server at push services.
  public struct WebPush: Sendable, Equatable, Codable {
    /// The public key for `PushManager.subscribe()` (RFC 8292 section 4): an uncompressed point on P-256 in base64url.
    public var publicKey: String

    /// Creates a description.
    public init(publicKey: String) {
      self.publicKey = publicKey
    }
  }

  /// The services, in the order of ``PushProvider``.
  public var providers: [PushProvider]
  /// The identity for Web Push; nil if the server does not offer it.
  public var webPush: WebPush?

  /// Creates an offer.
  public init(providers: [PushProvider], webPush: WebPush? = nil) {
    self.providers = providers
    self.webPush = webPush
  }

  private enum CodingKeys: String, CodingKey {
    case providers, webPush
  }

  /// Decodes an offer. Services that this version of the library does not know are left out.
  ///
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    providers = try container.decode([String].self, forKey: .providers).compactMap(PushProvider.init(rawValue:))
    webPush = try container.decodeIfPresent(WebPush.self, forKey: .webPush)
  }
}
