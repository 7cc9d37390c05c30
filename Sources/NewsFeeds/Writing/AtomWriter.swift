internal import Foundation
internal import News

/// Writes Atom (RFC 4287) with archives (RFC 5005) and deleted entries (RFC 6721).
enum AtomWriter {
  static func document(_ feed: PublishedFeed, _ entries: [[UInt8]]) -> [UInt8] {
    var xml = XMLWriter()
    xml.declaration()
    let spaces: XMLWriter.Attributes = [
      "xmlns": "http://www.w3.org/2005/Atom", "xmlns:at": "http://purl.org/atompub/tombstones/1.0",
      "xmlns:fh": "http://purl.org/syndication/history/1.0",
    ]
    xml.element("feed", spaces) { xml in
      xml.element("id", feed.address)
      xml.element("title", feed.title)
      xml.element("updated", RFC3339.string(from: feed.head.updated))
      // The author of all entries that have none, which RFC 4287 section 4.1.1 requires.
      xml.element("author") { $0.element("name", feed.site.title) }
      xml.element("generator", ["version": TidingsVersion.current], "Tidings")
      xml.emptyElement("link", ["href": feed.site.url])
      for (relation, address) in feed.links { xml.emptyElement("link", ["rel": relation, "href": address]) }
      if feed.isArchive { xml.emptyElement("fh:archive") }
      // The grammar of RFC 4287 has extensions in front of entries.
      for (id, date) in feed.head.removals {
        xml.emptyElement(
          "at:deleted-entry",
          ["ref": "urn:uuid:" + id.uuidString.lowercased(), "when": RFC3339.string(from: date)])
      }
      for entry in entries { xml.write(xml: entry) }
    }
    return xml.bytes
  }

  static func entry(_ entry: PublishedEntry) -> [UInt8] {
    let item = entry.item
    var xml = XMLWriter()
    xml.element("entry", ["xml:lang": item.language]) { xml in
      xml.element("id", entry.id)
      xml.element("title", item.title ?? "")
      xml.element("published", RFC3339.string(from: item.date))
      xml.element("updated", RFC3339.string(from: item.updated))
      if let author = item.author { xml.element("author") { $0.element("name", author) } }
      if let url = item.url { xml.emptyElement("link", ["href": url]) }
      for file in item.attachments {
        xml.emptyElement(
          "link",
          ["rel": "enclosure", "href": file.url, "type": file.type, "length": file.bytes.map { "\($0)" }])
      }
      for topic in item.topics { xml.emptyElement("category", ["term": topic]) }
      if let html = entry.html {
        xml.element("summary", entry.summary)
        xml.element("content", ["type": "html"], html)
      } else if item.url == nil {
        // An entry without content needs a link (RFC 4287 section 4.1.2).
        xml.element("content", entry.summary)
      } else {
        xml.element("summary", entry.summary)
      }
    }
    return xml.bytes
  }
}
