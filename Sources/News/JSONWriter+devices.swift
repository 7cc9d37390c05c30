import Foundation

/// The values that responses about devices and pushes consist of. Their fields are those of `Codable`, sorted by name.
extension JSONWriter {
  /// Writes the body of the response to a registration.
  package mutating func write(_ device: DeviceCredentials) {
    object { json in
      json.field("expires", device.expires)
      json.field("id", device.id)
      json.field("secret", device.secret)
    }
  }

  /// Writes the body of `GET /v1/push`.
  package mutating func write(_ offer: PushOffer) {
    object { json in
      json.field("providers", offer.providers.map(\.rawValue))
      if let webPush = offer.webPush {
        json.field("webPush") { $0.object { $0.field("publicKey", webPush.publicKey) } }
      }
    }
  }

  /// Writes the body of `GET /v1/editorial/pushes`.
  package mutating func write(_ list: PushList) {
    object { json in
      json.field("pushes") { $0.array(list.pushes) { $0.write($1) } }
    }
  }

  /// Writes a push.
  package mutating func write(_ push: Push) {
    object { json in
      json.field("audience", push.audience)
      json.field("cancelled", push.cancelled)
      json.field("created", push.created)
      json.field("dropped", push.dropped)
      json.field("finished", push.finished)
      json.field("foundNews", push.foundNews)
      json.field("gone", push.gone)
      json.field("id", push.id)
      if let item = push.item { json.field("item", item) }
      json.field("kind", push.kind.rawValue)
      json.field("lastSent", push.lastSent)
      json.field("refused", push.refused)
      json.field("reports", push.reports)
      json.field("sent", push.sent)
      json.field("starts", push.starts)
      json.field("title", push.title)
      json.field("woke", push.woke)
    }
  }

  /// Writes the audience of an alert.
  package mutating func write(_ audience: PushAudience) {
    object { json in
      json.field("devices", audience.devices)
      json.field("providers") { $0.dictionary(audience.namedProviders) { $0.write($1) } }
      json.field("quiet", audience.quiet)
    }
  }
}
