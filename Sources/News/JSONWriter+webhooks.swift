extension JSONWriter {
  /// Writes the body of `GET /v1/editorial/webhooks`.
  package mutating func write(_ list: WebhookList) {
    object { json in
      json.field("webhooks") { $0.array(list.webhooks) { $0.write($1) } }
    }
  }

  /// Writes a webhook.
  package mutating func write(_ webhook: Webhook) {
    object { json in
      json.field("created", webhook.created)
      json.field("disabledReason", webhook.disabledReason?.rawValue)
      json.field("events", webhook.events.map(\.rawValue))
      json.field("failingSince", webhook.failingSince)
      json.field("id", webhook.id)
      json.field("lastSuccess", webhook.lastSuccess)
      json.field("paused", webhook.paused)
      json.field("previousSecretUntil", webhook.previousSecretUntil)
      json.field("revision", webhook.revision)
      json.field("secret", webhook.secret)
      if let topics = webhook.topics { json.field("topics", topics) }
      json.field("url", webhook.url)
    }
  }

  /// Writes a page of deliveries.
  package mutating func write(_ list: WebhookDeliveryList) {
    object { json in
      json.field("deliveries") { $0.array(list.deliveries) { $0.write($1) } }
    }
  }

  /// Writes a delivery.
  package mutating func write(_ delivery: WebhookDelivery) {
    object { json in
      json.field("attempts") { json in
        json.array(delivery.attempts) { json, attempt in json.write(attempt) }
      }
      json.field("created", delivery.created)
      json.field("event", delivery.event)
      json.field("id", delivery.id)
      if let item = delivery.item { json.field("item", item) }
      json.field("nextAttempt", delivery.nextAttempt)
      json.field("state", delivery.state.rawValue)
      json.field("version", delivery.version)
    }
  }

  private mutating func write(_ attempt: WebhookAttempt) {
    object { json in
      json.field("at", attempt.at)
      json.field("error", attempt.error)
      json.field("milliseconds", attempt.milliseconds)
      json.field("number", attempt.number)
      json.field("status", attempt.status)
    }
  }
}
