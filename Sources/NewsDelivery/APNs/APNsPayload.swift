import News
import NewsStore

/// The payload of a notification for APNs.
enum APNsPayload {
  /// The maximum size in bytes.
  static let limit = 4096

  /// Returns the payload of a message, whose texts are cut if necessary; nil if it is too large without them.
  static func bytes(_ message: PushMessage) -> [UInt8]? {
    guard let alert = message.content.alert else { return payload(message, texts: nil) }
    return PayloadText.fitted(alert.title, alert.body, limit: limit) { payload(message, texts: ($0, $1)) }
  }

  private static func payload(_ message: PushMessage, texts: (title: String, body: String)?) -> [UInt8] {
    var json = JSONWriter(capacity: 512)
    json.object { json in
      json.field("aps") { $0.object { aps(message, texts, &$0) } }
      if let id = message.content.contentID { json.field("content-id", id) }
      json.field("push", message.push)
      if message.asksForReport { json.field("report", 1) }
      json.field("token", message.content.token)
      json.field("url", message.content.alert?.url)
      message.content.writeData(to: &json)
    }
    return json.bytes
  }

  private static func aps(
    _ message: PushMessage, _ texts: (title: String, body: String)?, _ json: inout JSONWriter
  ) {
    guard let texts else { return json.field("content-available", 1) }
    json.field("alert") { json in
      json.object { json in
        json.field("body", texts.body)
        json.field("title", texts.title)
      }
    }
    if message.content.alert?.breaking == true { json.field("interruption-level", "time-sensitive") }
  }
}
