import News
import NewsStore

/// The payload of a message for Web Push.
enum WebPushPayload {
  /// Returns the payload of a message, whose texts are cut if necessary; nil if it is too large without them.
  static func bytes(_ message: PushMessage) -> [UInt8]? {
    guard let alert = message.content.alert else {
      let payload = payload(message, texts: nil)
      return payload.count <= WebPushEncryption.limit ? payload : nil
    }
    return PayloadText.fitted(alert.title, alert.body, limit: WebPushEncryption.limit) {
      payload(message, texts: ($0, $1))
    }
  }

  private static func payload(_ message: PushMessage, texts: (title: String, body: String)?) -> [UInt8] {
    let alert = message.content.alert
    var json = JSONWriter(capacity: 512)
    json.object { json in
      json.field("body", texts?.body)
      if alert?.breaking == true { json.field("breaking", true) }
      json.field("code", message.content.code)
      if let id = message.content.contentID { json.field("content-id", id) }
      json.field("push", message.push)
      if message.asksForReport { json.field("report", 1) }
      json.field("title", texts?.title)
      json.field("token", message.content.token)
      json.field("url", alert?.url)
      message.content.writeData(to: &json)
    }
    return json.bytes
  }
}
