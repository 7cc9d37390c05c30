import News

/// A subscription at the mock of a Web Push service, as a browser or UnifiedPush has one.
public struct MockSubscription: Sendable {
  /// The id, the last part of the endpoint.
  public let id: String
  /// The URL to which messages are sent.
  public let endpoint: String
  /// The public key: an uncompressed point on P-256, 65 bytes.
  public let p256dh: [UInt8]
  /// The authentication secret, 16 bytes.
  public let auth: [UInt8]

  /// The subscription in JSON, as `PushSubscription.toJSON()` of browsers returns it.
  public var json: String {
    let keys = #"{"auth":"\#(String(base64URL: auth))","p256dh":"\#(String(base64URL: p256dh))"}"#
    return #"{"endpoint":"\#(endpoint)","keys":\#(keys)}"#
  }
}
