internal import Foundation
internal import News

/// Writes RSS 2.0 (rssboard.org/rss-specification), with elements of Atom, Dublin Core, Media RSS and RFC 5005 where it has
/// none of its own.
enum RSSWriter {
  static func document(_ feed: PublishedFeed, _ entries: [[UInt8]]) -> [UInt8] {
    var xml = XMLWriter()
    xml.declaration()
    let attributes: XMLWriter.Attributes = [
      "version": "2.0", "xmlns:atom": "http://www.w3.org/2005/Atom",
      "xmlns:content": "http://purl.org/rss/1.0/modules/content/", "xmlns:dc": "http://purl.org/dc/elements/1.1/",
      "xmlns:fh": "http://purl.org/syndication/history/1.0", "xmlns:media": "http://search.yahoo.com/mrss/",
    ]
    xml.element("rss", attributes) { xml in
      xml.element("channel") { xml in
        xml.element("title", feed.title)
        xml.element("link", feed.site.url)
        xml.element("description", feed.title)
        xml.element("lastBuildDate", date(feed.head.updated))
        xml.element("generator", "Tidings \(TidingsVersion.current)")
        xml.element("docs", "https://www.rssboard.org/rss-specification")
        for (relation, address) in feed.links {
          xml.emptyElement(
            "atom:link",
            [
              "rel": relation, "href": address,
              "type": relation == "hub" ? nil : PublishedFormat.rss.mediaType,
            ])
        }
        if feed.isArchive { xml.emptyElement("fh:archive") }
        for entry in entries { xml.write(xml: entry) }
      }
    }
    return xml.bytes
  }

  static func entry(_ entry: PublishedEntry) -> [UInt8] {
    let item = entry.item
    var xml = XMLWriter()
    xml.element("item") { xml in
      xml.element("guid", ["isPermaLink": "false"], entry.id)
      xml.element("title", item.title)
      xml.element("link", item.url)
      xml.element("pubDate", date(item.date))
      xml.element("atom:updated", RFC3339.string(from: item.updated))
      xml.element("dc:creator", item.author)
      xml.element("dc:language", item.language)
      for topic in item.topics { xml.element("category", topic) }
      // The description of an item without summary is its text: an item needs a title or a description.
      xml.element("description", entry.summary ?? entry.html)
      if entry.summary != nil { xml.element("content:encoded", entry.html) }
      // An item has at most one enclosure.
      if let file = item.attachments.first {
        xml.emptyElement("enclosure", ["url": file.url, "length": "\(file.bytes ?? 0)", "type": file.type])
      }
      for file in item.attachments.dropFirst() {
        xml.emptyElement(
          "media:content",
          [
            "url": file.url, "fileSize": file.bytes.map { "\($0)" }, "type": file.type,
            "height": file.height.map { "\($0)" }, "width": file.width.map { "\($0)" },
          ])
      }
    }
    return xml.bytes
  }

  /// A date in the format of RFC 822 with a year of four digits, such as `Sat, 14 Nov 2026 06:00:00 GMT`.
  static func date(_ date: Date) -> String {
    let text = RFC3339.string(from: date)
    let parts = text.prefix(10).split(separator: "-")
    let seconds = Int(date.timeIntervalSince1970.rounded(.down))
    let days = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
    // The first day of 1970 was a Thursday.
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7 + 7) % 7]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let month = months[(Int(parts[1]) ?? 1) - 1]
    return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(text.dropFirst(11).prefix(8)) GMT"
  }
}
