public import Foundation
internal import SafeHTML

extension OPML {
  /// Writes the list as OPML 2.0 in UTF-8.
  ///
  /// Each feed is in the folder of its first topic, which all readers understand. The `category` attributes have the
  /// slugs of all its topics, so that reading the list gives the same topics. Characters that XML forbids are removed.
  ///
  /// - Parameter date: The time of creation; nil to omit it.
  public func data(createdAt date: Date? = nil) -> Data {
    var output = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head>\n".utf8)
    if let title { Self.append(element: "title", title, to: &output) }
    if let date { Self.append(element: "dateCreated", RSSWriter.date(date), to: &output) }
    output += "  </head>\n  <body>\n".utf8
    for (folder, feeds) in folders {
      guard let folder else {
        for feed in feeds { Self.append(feed, indented: "    ", to: &output) }
        continue
      }
      let attributes = [("text", folder.label), ("title", folder.label), ("category", "/" + folder.slug)]
      Self.append(outline: attributes, isEmpty: false, indented: "    ", to: &output)
      for feed in feeds { Self.append(feed, indented: "      ", to: &output) }
      output += "    </outline>\n".utf8
    }
    output += "  </body>\n</opml>\n".utf8
    return Data(output)
  }

  /// The feeds by their first topic, in the order in which the topics first occur.
  private var folders: [(FeedCategory?, [Feed])] {
    var order: [FeedCategory?] = []
    var members: [String?: [Feed]] = [:]
    for feed in feeds {
      let topic = feed.topics.first
      if members[topic?.slug] == nil { order.append(topic) }
      members[topic?.slug, default: []].append(feed)
    }
    return order.map { ($0, members[$0?.slug] ?? []) }
  }

  private static func append(_ feed: Feed, indented indentation: String, to output: inout [UInt8]) {
    let name = feed.title ?? feed.address
    var attributes = [("type", "rss"), ("text", name), ("title", name), ("xmlUrl", feed.address)]
    if let homePage = feed.homePage { attributes.append(("htmlUrl", homePage)) }
    if let language = feed.language { attributes.append(("language", language)) }
    if !feed.topics.isEmpty {
      attributes.append(("category", feed.topics.map { "/" + $0.slug }.joined(separator: ",")))
    }
    append(outline: attributes, isEmpty: true, indented: indentation, to: &output)
  }

  private static func append(
    outline attributes: [(String, String)], isEmpty: Bool, indented indentation: String, to output: inout [UInt8]
  ) {
    output += "\(indentation)<outline".utf8
    for (name, value) in attributes {
      output += " \(name)=\"".utf8
      appendText(value, to: &output)
      output.append(UInt8(ascii: "\""))
    }
    output += (isEmpty ? "/>\n" : ">\n").utf8
  }

  private static func append(element name: String, _ text: String, to output: inout [UInt8]) {
    output += "    <\(name)>".utf8
    appendText(text, to: &output)
    output += "</\(name)>\n".utf8
  }

  private static func appendText(_ text: String, to output: inout [UInt8]) {
    Markup.appendEscaped(Array(PlainText.line(text).utf8), to: &output)
  }
}
