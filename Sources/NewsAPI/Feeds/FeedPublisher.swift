import HTTPConditions
import HTTPTypes
import News
import NewsFeeds
import NewsStore

/// Makes the documents of feeds.
struct FeedPublisher: Sendable {
  let site: FeedSite
  /// The minimum number of items in the current document of a feed, if there are as many.
  let count: Int

  private let writers: [PublishedFormat: FeedWriter]

  init(site: FeedSite, count: Int) {
    self.site = site
    self.count = count
    writers = Dictionary(uniqueKeysWithValues: PublishedFormat.allCases.map { ($0, FeedWriter($0, of: site)) })
  }

  /// The last part of the entity tags of a feed's current documents. It is equal for equal settings, and the token in front
  /// of it for equal items.
  func fingerprint(of format: PublishedFormat) -> String { writer(format).fingerprint }

  private func writer(_ format: PublishedFormat) -> FeedWriter { writers[format] ?? FeedWriter(format, of: site) }

  /// Reads a document.
  ///
  /// Changes that a document cannot say, because they are too many or because its format has no removals, are answered with
  /// the current document.
  ///
  /// - Throws: The errors of the store.
  func view(of feed: FeedView, from store: NewsStore) async throws -> View {
    let page = try await store.feedPage(feed.query(count: count))
    if feed.since != nil, !page.isComplete || !(page.removals.isEmpty || feed.format.canRemove) {
      var whole = feed
      whole.part = .current
      return try await view(of: whole, from: store)
    }
    var fields: HTTPFields = [:]
    fields[.link] = link(of: feed)
    if feed.since != nil { fields[.instanceManipulation] = FeedTag.manipulation }
    let tag = FeedTag(token: page.token, fingerprint: fingerprint(of: feed.format)).entityTag
    return View(
      representation: Representation(
        PageBody(page.items, in: frame(of: page, feed), epoch: page.feedVersion.epoch),
        tag: feed.archive == nil ? tag : nil, lastModified: LastModified(page.modified, page.read), fields: fields),
      feedVersion: page.feedVersion)
  }

  private func frame(of page: FeedPage, _ feed: FeedView) -> FeedFrame {
    FeedFrame(
      writer: writer(feed.format),
      head: FeedHead(
        topic: feed.topic, updated: page.modified, archives: .init(number: feed.archive, count: page.archives),
        removals: page.removals.map { ($0.id, $0.date) }))
  }

  /// The hubs and the topic for subscribers (WebSub section 4); nil without hubs, and for archives.
  private func link(of feed: FeedView) -> String? {
    guard feed.archive == nil, !site.hubs.isEmpty else { return nil }
    let links = site.hubs.map { ($0, "hub") } + [(site.address(of: feed.format, topic: feed.topic), "self")]
    return links.map { "<\($0)>; rel=\"\($1)\"" }.joined(separator: ", ")
  }
}

/// The bytes of a document around its entries.
private struct FeedFrame: BodyFrame {
  /// A lower bound for the length of an entry in bytes.
  private static let minimumEntryBytes = 180
  private static let minimumHeadBytes = 300

  let writer: FeedWriter
  let head: FeedHead

  var forms: FragmentForms {
    FragmentForms(FragmentForm(name: writer.fingerprint, html: true) { [writer] in writer.entry($0) })
  }

  var contentType: String { writer.format.mediaType }

  func minimumBytes(_ items: [ItemVersion]) -> Int { Self.minimumHeadBytes + items.count * Self.minimumEntryBytes }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "f"))
    bytes.append(identitiesOf: items)
    // The document without entries has its links and its settings.
    bytes += body([])
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] { Array(writer.document(head, entries: fragments)) }
}

/// The entity tag of the current document of a feed: the token of its items, a point, and the fingerprint of all else. A
/// client that sends it with `A-IM: feed` names the start of its changes by it (RFC 3229).
struct FeedTag: Equatable {
  /// The name of the instance manipulation in `A-IM` and `IM`.
  static let manipulation = "feed"

  let token: SyncToken
  let fingerprint: String

  init(token: SyncToken, fingerprint: String) {
    self.token = token
    self.fingerprint = fingerprint
  }

  /// Reads a tag, also that of a compressed document.
  ///
  /// - Returns: nil for another tag.
  init?(_ tag: EntityTag) {
    let opaque = tag.identity.opaque
    guard opaque.utf8.count <= 60, let point = opaque.lastIndex(of: "."), let token = SyncToken(opaque[..<point]),
      !token.isPartial
    else { return nil }
    self.init(token: token, fingerprint: String(opaque[opaque.index(after: point)...]))
  }

  var entityTag: EntityTag { EntityTag(strong: "\(token).\(fingerprint)") }
}
