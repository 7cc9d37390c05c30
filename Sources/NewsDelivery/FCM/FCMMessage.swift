import News
import NewsStore

/// The body of `messages:send` of FCM HTTP v1.
enum FCMMessage {
  /// The maximum size of `data` in bytes.
  static let limit = 4096

  /// Returns the body for a message, whose texts are cut if necessary; nil if it is too large without them.
  static func bytes(_ message: PushMessage, token: String) -> [UInt8]? {
    let data: [UInt8]?
    if let alert = message.content.alert {
      data = PayloadText.fitted(alert.title, alert.body, limit: limit) { Self.data(message, texts: ($0, $1)) }
    } else {
      data = Self.data(message, texts: nil)
    }
    guard let data, data.count <= limit else { return nil }
    var json = JSONWriter(capacity: data.count + token.utf8.count + 128)
    json.object { json in
      json.field("message") { json in
        json.object { json in
          json.field("android") { $0.object { android(message, &$0) } }
          json.field("data") { $0.write(json: data) }
          json.field("token", token)
        }
      }
    }
    return json.bytes
  }

  private static func android(_ message: PushMessage, _ json: inout JSONWriter) {
    let isAlert = message.kind == .alert
    // FCM keeps at most four collapse keys of a device. A newer silent message makes an older one superfluous.
    if !isAlert { json.field("collapse_key", "news") }
    json.field("priority", isAlert ? "HIGH" : "NORMAL")
    json.field("ttl", isAlert ? "21600s" : "86400s")
  }

  /// All values are strings, as FCM requires.
  private static func data(_ message: PushMessage, texts: (title: String, body: String)?) -> [UInt8] {
    let alert = message.content.alert
    var json = JSONWriter(capacity: 512)
    json.object { json in
      json.field("body", texts?.body)
      if alert?.breaking == true { json.field("breaking", "1") }
      if let id = message.content.contentID { json.field("content-id", id) }
      json.field("push", message.push)
      if message.asksForReport { json.field("report", "1") }
      json.field("title", texts?.title)
      json.field("token", message.content.token)
      json.field("url", alert?.url)
      message.content.writeData(to: &json)
    }
    return json.bytes
  }
}
