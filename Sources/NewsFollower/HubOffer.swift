import Foundation
import HTTPConditions
import HTTPTypes
import NewsFeeds
import NewsStore
import OutgoingHTTP

/// The WebSub hubs that a feed names, and the address under which they know it (WebSub section 4).
struct HubOffer: Equatable {
  /// The maximum number of hubs.
  private static let maximumHubs = 8

  /// The addresses in the order of the feed; empty if it has no hub.
  private(set) var hubs: [String] = []
  /// The address of the feed.
  private(set) var topic: String?

  /// Reads the `Link` fields of a response, and the properties of the feed where the fields name nothing.
  init(_ response: OutgoingResponse, _ properties: FeedProperties) {
    let links = LinkField.links(HTTPField.Name("Link").map { response.fields[values: $0] } ?? [])
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
}
