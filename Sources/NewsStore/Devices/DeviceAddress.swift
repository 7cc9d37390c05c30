import Crypto
import Foundation
import News

/// The address of a device at its provider, and the digest by which it is found again.
struct DeviceAddress {
  /// The maximum length of a registration token in bytes.
  private static let maximumBytes = 2048

  let provider: PushProvider
  /// The device token in lower case, the registration token, or the endpoint in its normal form.
  let text: String
  /// The host of the endpoint in lower case; nil for other providers.
  let host: String?
  /// The keys of the receiver; nil for other providers.
  let keys: (p256dh: Data, auth: Data)?
  /// The environment of APNs; nil for other providers.
  let environment: PushEnvironment?
  /// SHA-256 over provider, environment, app and address. Tokens of two apps may be equal.
  let digest: Data

  /// - Parameter errors: Receives the rules that the registration violates.
  init?(_ registration: DeviceRegistration, errors: inout [FieldError]) {
    var found: [FieldError] = []
    func require(_ condition: Bool, _ field: String, _ rule: String) {
      if !condition { found.append(FieldError(field: field, rule: rule)) }
    }
    let isWebPush = registration.provider == .webpush
    provider = registration.provider
    require(
      isWebPush == (registration.kind != .app), "kind",
      isWebPush ? "must be unifiedpush or browser for the provider webpush" : "must be app for this provider")
    environment = registration.provider == .apns ? registration.environment ?? .production : nil
    require(registration.environment == nil || environment != nil, "environment", "is only for the provider apns")
    if registration.provider == .apns {
      require(registration.app.map(Self.isApp) ?? false, "app", Self.appRule)
    } else {
      // Otherwise, one address could be registered many times, and receive each push as often.
      require(registration.app == nil, "app", "is only for the provider apns")
    }
    if isWebPush {
      require(registration.token == nil, "token", "must be omitted for the provider webpush")
      let subscription = registration.subscription
      require(subscription != nil, "subscription", "is required for the provider webpush")
      let endpoint = PushEndpoint(subscription?.endpoint ?? "")
      (text, host) = (endpoint?.text ?? "", endpoint?.host)
      let (p256dh, auth) = (subscription?.keys.p256dh ?? "", subscription?.keys.auth ?? "")
      let key = [UInt8](base64URL: p256dh) ?? []
      let secret = [UInt8](base64URL: auth) ?? []
      keys = (Data(key), Data(secret))
      if subscription != nil {
        require(
          host != nil, "subscription.endpoint", "must be an https URL of at most \(PushEndpoint.maximumBytes) bytes")
        require(
          (try? P256.KeyAgreement.PublicKey(x963Representation: key)) != nil,
          "subscription.keys.p256dh",
          "must be an uncompressed point on P-256 in base64url, 65 bytes")
        require(secret.count == 16, "subscription.keys.auth", "must be 16 bytes in base64url")
      }
    } else {
      require(registration.subscription == nil, "subscription", "is only for the provider webpush")
      let token = registration.token ?? ""
      (text, host, keys) = (registration.provider == .apns ? token.lowercased() : token, nil, nil)
      require(
        registration.provider == .apns ? Self.isDeviceToken(text) : Self.isRegistrationToken(text), "token",
        registration.provider == .apns
          ? "must be a device token of APNs in hexadecimal" : "must be a registration token of FCM")
    }
    // None of the parts contains a zero byte.
    let parts = [registration.provider.rawValue, environment?.rawValue ?? "", registration.app ?? "", text]
    digest = Data(SHA256.hash(data: Data(parts.joined(separator: "\0").utf8)))
    errors += found
    if !found.isEmpty { return nil }
  }

  private static let appRule = "must be a bundle id: 1 to 155 letters, digits, points, hyphens and underscores"

  private static func isApp(_ app: String) -> Bool {
    1...155 ~= app.utf8.count
      && app.utf8.allSatisfy {
        $0.isASCIILetter || $0.isASCIIDigit || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains($0)
      }
  }

  private static func isDeviceToken(_ token: String) -> Bool {
    // Apple promises no length. Tokens have 32 bytes today.
    16...400 ~= token.utf8.count && token.utf8.count.isMultiple(of: 2) && token.utf8.allSatisfy(\.isASCIIHexDigit)
  }

  private static func isRegistrationToken(_ token: String) -> Bool {
    1...maximumBytes ~= token.utf8.count && token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
