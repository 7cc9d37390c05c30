public import Foundation
import HTTPTransfer
public import News

/// A push from the server: a silent one, which says that the server has at least the version of the token, or an alert, which
/// shows an item.
///
/// The counterpart of the `userInfo` of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
///
///     let payload = Data(#"{"aps":{"content-available":1},"content-id":42,"room":"harbour"}"#.utf8)
///     let push = RemoteNotification(payload: payload)
///     print(push.contentIdentifier ?? "", push.userInfo["room"]?.text ?? "")  // 42 harbour
///     let report = await news.receive(push)
///     print(report.result)
public struct RemoteNotification: Sendable, Equatable {
  /// The visible part of a push.
  ///
  ///     let push = RemoteNotification(payload: Data(#"{"title":"Night ferry returns","push":"…"}"#.utf8))
  ///     if let alert = push.alert { print(alert.title) }
  public struct Alert: Sendable, Equatable {
    /// The title; empty if there is none.
    public var title: String
    /// The text; empty if there is none.
    public var body: String
    /// The page of the item, an http or https URL; nil if there is none.
    public var url: URL?
    /// Whether the alert also appears in quiet hours.
    public var isBreaking: Bool

    /// Creates an alert.
    public init(title: String, body: String = "", url: URL? = nil, isBreaking: Bool = false) {
      self.title = title
      self.body = body
      self.url = url
      self.isBreaking = isBreaking
    }
  }

  /// The maximum size of a payload in bytes. Push services allow about 4,096.
  public static let maximumPayloadBytes = 64 << 10

  /// Whether the push asks for a fetch. Other pushes are for display only.
  public var isContentAvailable: Bool
  /// The id of the item that the push is about; nil for ids of another form, see ``contentIdentifier``.
  public var contentID: UUID?
  /// The `content-id` of the payload, a text or a whole number of any form; nil if there is none.
  public var contentIdentifier: String?
  /// The fields of the payload with those of the app: the whole payload of APNs or Web Push, or the `data` of FCM. It is empty
  /// for a payload that is no JSON object.
  public var userInfo: [String: JSONValue] = [:]
  /// A token that the server has reached.
  public var token: SyncToken?
  /// The id of the push. A push that was received before is dropped.
  public var id: UUID?
  /// Whether the server asks for a report about the fetch.
  public var asksForReport = false
  /// The code that confirms a registration for Web Push. It is in the first push only.
  public var code: String?
  /// The visible part; nil for a silent push.
  public var alert: Alert?

  /// Creates a silent notification.
  public init(isContentAvailable: Bool = true, contentID: UUID? = nil, token: SyncToken? = nil, id: UUID? = nil) {
    self.isContentAvailable = isContentAvailable
    self.contentID = contentID
    contentIdentifier = contentID?.uuidString.lowercased()
    self.token = token
    self.id = id
  }

  /// Reads the payload of a push in JSON: the payload of APNs, the `data` of FCM, or the decrypted message of Web Push.
  ///
  /// A payload of APNs asks for a fetch by `"content-available":1` in `aps`. A payload without `aps` asks for a fetch if it
  /// has a field of a silent push, and neither an alert nor a code. Fields that are missing or of another type are ignored,
  /// because a push is a hint and never a reason to fail.
  public init(payload: Data) {
    self.init(isContentAvailable: false)
    guard payload.count <= Self.maximumPayloadBytes,
      var fields = try? JSONDecoder().decode([String: JSONValue].self, from: payload)
    else { return }
    let aps = fields["aps"]
    // A complete message of FCM has the fields in its data.
    if aps == nil, Self.ownFields.allSatisfy({ fields[$0] == nil }), case .object(let data)? = fields["data"] {
      fields = data
    }
    userInfo = fields
    contentIdentifier = fields["content-id"]?.text
    contentID = contentIdentifier.flatMap(UUID.init(uuidString:))
    token = fields["token"]?.stringValue.flatMap { SyncToken($0) }
    id = fields["push"]?.stringValue.flatMap(UUID.init(uuidString:))
    asksForReport = Self.isSet(fields["report"])
    let code = fields["code"]?.stringValue
    self.code = code.flatMap { $0.utf8.count <= Self.maximumCodeBytes ? $0 : nil }
    // Pages with other schemes could run programs.
    let url = fields["url"]?.stringValue.flatMap { URL(string: $0) }.flatMap { $0.requestObstacle == nil ? $0 : nil }
    if let aps {
      let level = aps["interruption-level"]?.stringValue
      let isBreaking = level == "time-sensitive" || level == "critical"
      alert = aps["alert"].flatMap { Alert($0, url: url, isBreaking: isBreaking) }
      isContentAvailable = aps["content-available"] == .integer(1)
    } else {
      alert = Alert(.object(fields), url: url, isBreaking: Self.isSet(fields["breaking"]))
      isContentAvailable =
        alert == nil && code == nil && ["content-id", "push", "token"].contains { fields[$0] != nil }
    }
  }

  /// The maximum length of a code in bytes.
  private static let maximumCodeBytes = 256
  /// The fields by which a payload without `aps` is one of this server.
  private static let ownFields = ["content-id", "push", "token", "code", "title", "body"]

  /// Reads a flag, which FCM sends as the string `1`.
  private static func isSet(_ value: JSONValue?) -> Bool {
    value == .integer(1) || value == .bool(true) || value == .string("1")
  }
}

extension RemoteNotification.Alert {
  /// Reads the texts of an alert, an object; that of APNs may also be the body alone.
  fileprivate init?(_ texts: JSONValue, url: URL?, isBreaking: Bool) {
    let (title, body) = (texts["title"]?.stringValue, texts.stringValue ?? texts["body"]?.stringValue)
    guard title != nil || body != nil else { return nil }
    self.init(title: title ?? "", body: body ?? "", url: url, isBreaking: isBreaking)
  }
}

extension JSONValue {
  /// The text of a string; nil for other values.
  fileprivate var stringValue: String? { if case .string(let text) = self { text } else { nil } }
}
