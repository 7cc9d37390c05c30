import Foundation

/// The values that public responses consist of. Their fields are those of `Codable`, sorted by name.
extension JSONWriter {
  /// Writes an item.
  package mutating func write(_ item: NewsItem) { write(item, editorial: nil) }

  /// Writes an item as editors see it.
  package mutating func write(_ item: EditorialItem) { write(item.item, editorial: item) }

  /// Writes an item, with the fields for editors if there are any.
  private mutating func write(_ item: NewsItem, editorial: EditorialItem?) {
    object { json in
      json.field("attachments") { $0.write(item.attachments) }
      json.field("author", item.author)
      json.field("breaking", item.breaking)
      if editorial?.hasDate ?? true { json.field("date", item.date) }
      json.field("edited", editorial?.edited)
      json.field("erased", editorial?.erased)
      json.field("expireAt", editorial?.expireAt)
      json.field("html", item.html)
      json.field("id", item.id)
      json.field("language", item.language)
      json.field("publishAt", editorial?.publishAt)
      json.field("retractionReason", editorial?.retractionReason)
      json.field("revision", editorial?.revision)
      json.field("state", editorial?.state.rawValue)
      json.field("summary", item.summary)
      json.field("text", item.text)
      json.field("title", item.title)
      json.field("topics", item.topics)
      json.field("updated", item.updated)
      json.field("url", item.url)
      json.field("version", item.version)
    }
  }

  /// Writes the body of `GET /v1/editorial/items`.
  package mutating func write(_ list: EditorialItemList) {
    object { json in
      json.field("counts") { $0.dictionary(list.namedCounts) { $0.write($1) } }
      json.field("items") { $0.array(list.items) { $0.write($1) } }
    }
  }

  /// Writes the body of `GET /v1/editorial/media`.
  package mutating func write(_ list: EditorialMediaList) {
    object { json in
      json.field("items") { $0.array(list.items) { $0.write($1) } }
    }
  }

  /// Writes a file as editors see it.
  package mutating func write(_ file: EditorialMedia) {
    object { json in
      json.field("alt", file.attachment.alt)
      json.field("bytes", file.attachment.bytes)
      json.field("caption", file.attachment.caption)
      json.field("created", file.created)
      json.field("credit", file.attachment.credit)
      json.field("height", file.attachment.height)
      json.field("id", file.id)
      json.field("name", file.name)
      json.field("public", file.isPublic)
      json.field("sha256", file.attachment.sha256)
      json.field("type", file.attachment.type)
      json.field("url", file.attachment.url)
      json.field("uses") { $0.array(file.uses) { $0.write($1) } }
      json.field("width", file.attachment.width)
    }
  }

  /// Writes the body of `GET /v1/editorial/subscriptions`.
  package mutating func write(_ list: SubscriptionList) {
    object { json in
      json.field("subscriptions") { $0.array(list.subscriptions) { $0.write($1) } }
    }
  }

  /// Writes a subscription.
  package mutating func write(_ subscription: Subscription) {
    object { json in
      json.field("id", subscription.id)
      json.field("language", subscription.language)
      if let error = subscription.lastError {
        json.field("lastError") { json in
          json.object { json in
            json.field("at", error.at)
            json.field("message", error.message)
            json.field("status", error.status)
          }
        }
      }
      json.field("lastSuccess", subscription.lastSuccess)
      if let losses = subscription.losses {
        json.field("losses") { json in
          json.object { json in
            json.field("at", losses.at)
            json.field("count", losses.count)
            json.field("messages", losses.messages)
          }
        }
      }
      json.field("nextPoll", subscription.nextPoll)
      json.field("paused", subscription.paused)
      json.field("revision", subscription.revision)
      json.field("state", subscription.state.rawValue)
      json.field("title", subscription.title)
      json.field("topics", subscription.topics)
      json.field("url", subscription.url)
      json.field("user", subscription.user)
      if let websub = subscription.websub {
        json.field("websub") { json in
          json.object { json in
            json.field("error", websub.error)
            json.field("hub", websub.hub)
            json.field("lastNotice", websub.lastNotice)
            json.field("leaseEnds", websub.leaseEnds)
            json.field("state", websub.state.rawValue)
          }
        }
      }
    }
  }

  /// Writes the attachments of an item.
  package mutating func write(_ attachments: [Attachment]) {
    array(attachments) { $0.write($1) }
  }

  /// Writes an attachment.
  package mutating func write(_ attachment: Attachment) {
    object { json in
      json.field("alt", attachment.alt)
      json.field("bytes", attachment.bytes)
      json.field("caption", attachment.caption)
      json.field("credit", attachment.credit)
      json.field("height", attachment.height)
      json.field("sha256", attachment.sha256)
      json.field("type", attachment.type)
      json.field("url", attachment.url)
      json.field("width", attachment.width)
    }
  }

  /// Writes the body of `GET /v1/state`.
  package mutating func write(_ state: FeedState) {
    object { json in
      json.field("feed", state.feed.description)
      json.field("topics") { $0.dictionary(state.topics) { $0.write($1.description) } }
      json.field("union", state.union?.description)
    }
  }

  /// Writes the body of `GET /v1/topics`.
  package mutating func write(_ list: TopicList) {
    object { json in
      json.field("topics") { $0.array(list.topics) { $0.write($1) } }
    }
  }

  /// Writes a topic.
  package mutating func write(_ topic: Topic) {
    object { json in
      json.field("changed", topic.changed)
      json.field("items", topic.items)
      json.field("position", topic.position)
      json.field("revision", topic.revision)
      json.field("slug", topic.slug)
      json.field("titles") { $0.dictionary(topic.titles) { $0.write($1) } }
    }
  }

  /// Writes the data of an event.
  package mutating func write(_ event: ChangeEvent) {
    object { json in
      json.field("ids") { $0.array(event.ids) { $0.write($1) } }
      json.field("token", event.token.description)
      json.field("topics", event.topics)
    }
  }
}
