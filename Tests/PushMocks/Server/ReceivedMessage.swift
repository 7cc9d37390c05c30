public import Foundation
public import NIOHTTP1

/// A message that a mock has accepted.
public struct ReceivedMessage: Sendable {
  /// The device token, the registration token, or the id of the subscription.
  public var address: String
  /// The fields of the request.
  public var headers: HTTPHeaders
  /// The payload in JSON as the device receives it: that of APNs, `data` of FCM, or the decrypted content of Web Push.
  /// It is empty in light mode, and encrypted if the receiver has made its own keys.
  public var payload: Data
  /// The options outside of the payload by name, such as those of `android`.
  public var options: [String: String]
  /// The time of the request.
  public var time: Date
  /// The number of the connection, from 1.
  public var connection: Int

  /// Whether the message shows something on the device.
  public var isVisible: Bool {
    let fields = (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:]
    return fields["title"] != nil || (fields["aps"] as? [String: Any])?["alert"] != nil
  }

  /// Returns a field of the payload, or of the alert in that of APNs, as text; nil if it is absent.
  public func field(_ name: String) -> String? {
    let fields = (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:]
    let alert = (fields["aps"] as? [String: Any])?["alert"] as? [String: Any]
    return (fields[name] ?? alert?[name]).map { "\($0)" }
  }
}
