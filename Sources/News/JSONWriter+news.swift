import Foundation

/// Items, states and events, which are written often. Their fields are those of `Codable`, sorted by name. Everything else is
/// encoded.
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

  /// Writes the data of an event.
  package mutating func write(_ event: ChangeEvent) {
    object { json in
      json.field("ids") { $0.array(event.ids) { $0.write($1) } }
      json.field("token", event.token.description)
      json.field("topics", event.topics)
    }
  }
}
