import Crypto
import Fleet
import Foundation
import News
import PostgresClient

/// The registrations of phones for pushes, whose addresses belong to mocks of the push services.
struct Registrations: Sendable {
  /// The origin of the mock of Web Push.
  let origin: String

  /// Returns the body of a registration; nil for a phone without pushes.
  ///
  /// - Parameter number: The number of the phone, which gives it an address of its own.
  func body(of phone: Phone, _ number: Int) throws -> Data? {
    guard let provider = phone.push else { return nil }
    let hexadecimal = SHA256.hash(data: Data("phone \(number)".utf8)).map { String(format: "%02x", $0) }.joined()
    var registration = DeviceRegistration(provider: provider, topics: phone.topics.isEmpty ? nil : phone.topics)
    switch provider {
    case .apns: (registration.token, registration.app) = (hexadecimal, "org.example.news")
    case .fcm: registration.token = "mock:\(hexadecimal)"
    case .webpush:
      registration.kind = .unifiedpush
      let keys = WebPushSubscription.Keys(
        p256dh: P256.KeyAgreement.PrivateKey().publicKey.x963Representation.base64URL,
        auth: Data(hexadecimal.utf8.prefix(16)).base64URL)
      registration.subscription = WebPushSubscription(endpoint: "\(origin)/push/shared-\(hexadecimal)", keys: keys)
    }
    return try NewsJSON.encode(registration)
  }

  /// Confirms all devices, in place of the code that a device of Web Push receives and returns.
  func confirmAll(_ database: PostgresPool) async throws {
    _ = try await database.query("UPDATE devices SET state = 'active' WHERE state = 'pending'")
  }
}

extension Data {
  fileprivate var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
