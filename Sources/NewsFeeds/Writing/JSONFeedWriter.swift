internal import News

/// Writes JSON Feed 1.1 (jsonfeed.org/version/1.1).
enum JSONFeedWriter {
  static func document(_ feed: PublishedFeed, _ entries: [[UInt8]]) -> [UInt8] {
    var json = JSONWriter(capacity: entries.reduce(1024) { $0 + $1.count + 1 })
    json.object { json in
      json.field("feed_url", feed.address)
      json.field("home_page_url", feed.site.url)
      if !feed.isArchive, !feed.site.hubs.isEmpty {
        json.field("hubs") {
          $0.array(feed.site.hubs) { json, hub in
            json.object {
              $0.field("type", "WebSub")
              $0.field("url", hub)
            }
          }
        }
      }
      json.field("items") { $0.array(entries) { $0.write(json: $1) } }
      json.field("next_url", feed.previousArchive)
      json.field("title", feed.title)
      json.field("version", "https://jsonfeed.org/version/1.1")
    }
    return json.bytes
  }

  static func entry(_ entry: PublishedEntry) -> [UInt8] {
    let item = entry.item
    var json = JSONWriter(capacity: 1024 + item.text.utf8.count)
    json.object { json in
      if !item.attachments.isEmpty { json.field("attachments") { $0.array(item.attachments) { $0.write(file: $1) } } }
      if let author = item.author {
        json.field("authors") { $0.array([author]) { json, name in json.object { $0.field("name", name) } } }
      }
      if let text = entry.text {
        json.field("content_text", text)
      } else if let html = entry.html {
        json.field("content_html", html)
      } else {
        json.field("content_text", entry.summary)
      }
      json.field("date_modified", item.updated)
      json.field("date_published", item.date)
      json.field("id", entry.id)
      json.field("language", item.language)
      if entry.html != nil { json.field("summary", entry.summary) }
      if !item.topics.isEmpty { json.field("tags", item.topics) }
      json.field("title", item.title)
      json.field("url", item.url)
    }
    return json.bytes
  }
}

extension JSONWriter {
  /// Writes a file. Files with equal titles would be alternatives to each other, so there are no titles.
  fileprivate mutating func write(file: Attachment) {
    object { json in
      json.field("mime_type", file.type)
      json.field("size_in_bytes", file.bytes)
      json.field("url", file.url)
    }
  }
}
