import Foundation
import News
package import NewsStore

extension WebhookMessage {
  /// The body of the request: the type, the time of the event, and `data`. It is the same in all attempts.
  package var content: [UInt8] {
    var json = JSONWriter(capacity: 320)
    json.object { json in
      json.field("data") { json in
        json.object { json in
          guard let change else { return json.field("webhook", webhook) }
          json.field("id", change.item)
          json.field("token", change.token)
          json.field("topics", change.topics)
          json.field("url", change.url)
          json.field("version", change.version)
        }
      }
      json.field("timestamp", at)
      json.field("type", event)
    }
    return json.bytes
  }
}
