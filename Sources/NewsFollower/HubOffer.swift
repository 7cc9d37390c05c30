import Foundation
import HTTPTypes
import NewsFeeds
import NewsStore
import OutgoingHTTP

/// The WebSub hubs that a feed names, and the address under which they know it (WebSub section 4).
struct HubOffer: Equatable {
  /// The maximum number of hubs.
  private static let maximumHubs = 8
  /// The maximum size of all `Link` fields that is read, in bytes.
  private static let maximumLinkBytes = 16_384

  /// The addresses in the order of the feed; empty if it has no hub.
  private(set) var hubs: [String] = []
  /// The address of the feed.
  private(set) var topic: String?

  /// Reads the `Link` fields of a response, and the properties of the feed where the fields name nothing.
  init(_ response: OutgoingResponse, _ properties: FeedProperties) {
    let links = Self.links(response.fields)
    func addresses(_ relation: String) -> [String] {
      links.filter { $0.relations.contains(relation) }
        .compactMap { try? OutgoingURL($0.target, relativeTo: response.url).text }
    }
    var named = addresses("hub")
    if named.isEmpty { named = properties.hubs.compactMap { try? OutgoingURL($0).text } }
    for hub in named where !hubs.contains(hub) && hubs.count < Self.maximumHubs { hubs.append(hub) }
    guard !hubs.isEmpty else { return }
    // A hub compares the address with its own list, so the spelling of the feed is kept.
    topic = addresses("self").first ?? properties.ownAddress ?? response.url.text
  }

  /// Stores the hubs of a feed. The lease at a hub follows from them.
  ///
  /// - Throws: The errors of the store.
  func store(in store: NewsStore, _ lease: SubscriptionLease) async throws {
    try await store.noteHubs(hubs, topic: topic, of: lease)
  }

  /// A link of a field (RFC 8288 section 3).
  private struct Link {
    var target: String
    var relations: [String]
  }

  private static func links(_ fields: HTTPFields) -> [Link] {
    guard let name = HTTPField.Name("Link") else { return [] }
    var links: [Link] = []
    var budget = maximumLinkBytes
    for value in fields[values: name] where value.utf8.count <= budget {
      budget -= value.utf8.count
      var rest = Array(value.utf8)[...]
      while let link = next(&rest) { if !link.relations.isEmpty { links.append(link) } }
    }
    return links
  }

  /// Reads the next link of a field. A link with another context (`anchor`) has no relations here.
  ///
  /// - Returns: nil at the end, and at a syntax error.
  private static func next(_ rest: inout ArraySlice<UInt8>) -> Link? {
    guard let start = rest.firstIndex(of: UInt8(ascii: "<")),
      let end = rest[start...].firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    let target = String(decoding: rest[(start + 1)..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
    rest = rest[(end + 1)...]
    var link = Link(target: target, relations: [])
    var hasAnchor = false
    var hasRelation = false
    while let (name, value) = parameter(&rest) {
      if name == "anchor" { hasAnchor = true }
      // Later ones are ignored (section 3.3).
      guard name == "rel", !hasRelation else { continue }
      hasRelation = true
      link.relations = value.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    }
    if hasAnchor { link.relations = [] }
    return link
  }

  /// Reads a parameter of a link: `; name`, `; name=token` or `; name="text"`.
  ///
  /// - Returns: nil at the end of the link.
  private static func parameter(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: String)? {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == 9 }
    guard rest.first == UInt8(ascii: ";") else { return nil }
    rest = rest.dropFirst()
    let ends = ArraySlice(",;".utf8)
    let name = rest.prefix { $0 != UInt8(ascii: "=") && !ends.contains($0) }
    rest = rest.dropFirst(name.count)
    let text = String(decoding: name, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
    guard rest.first == UInt8(ascii: "=") else { return (text, "") }
    rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == 9 }
    guard rest.first == UInt8(ascii: "\"") else {
      let value = rest.prefix { !ends.contains($0) }
      rest = rest.dropFirst(value.count)
      return (text, String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespaces))
    }
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte != UInt8(ascii: "\\") {
        value.append(byte)
      } else if let escaped = rest.popFirst() {
        value.append(escaped)
      }
    }
    return (text, String(decoding: value, as: UTF8.self))
  }
}
