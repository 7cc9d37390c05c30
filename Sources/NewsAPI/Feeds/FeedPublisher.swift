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

  /// Reads the document of a request.
  ///
  /// Changes that a document cannot say, because they are too many or because its format has no removals, are answered with
  /// the current document.
  ///
  /// - Throws: The errors of the store.
  func view(of request: FeedRequest, from store: NewsStore) async throws -> View {
    let page = try await store.feedPage(request.query(count: count))
    if request.since != nil, !page.isComplete || !(page.removals.isEmpty || request.format.canRemove) {
      var whole = request
      whole.part = .current
      return try await view(of: whole, from: store)
    }
    var fields: HTTPFields = [:]
    fields[.link] = link(of: request)
    if request.since != nil { fields[.instanceManipulation] = FeedTag.manipulation }
    let tag: EntityTag? =
      switch request.part {
      case .archive: nil
      case .current, .changes: FeedTag(token: page.token, fingerprint: fingerprint(of: request.format)).entityTag
      }
    return View(
      representation: Representation(
        PageBody(page, body(of: page, request)), tag: tag, lastModified: LastModified(page.modified, page.read),
        fields: fields),
      feedVersion: page.feedVersion)
  }

  private func body(of page: FeedPage, _ request: FeedRequest) -> FeedBody {
    let writer = writer(request.format)
    var number: Int?
    if case .archive(let archive) = request.part { number = archive }
    return FeedBody(
      writer: writer, form: FragmentForm(name: writer.fingerprint) { writer.entry($0) },
      head: FeedHead(
        topic: request.topic, updated: page.modified, archives: .init(number: number, count: page.archives),
        removals: page.removals.map { ($0.id, $0.date) }))
  }

  /// The hubs and the topic for subscribers (WebSub section 4); nil without hubs, and for archives.
  private func link(of request: FeedRequest) -> String? {
    if case .archive = request.part { return nil }
    guard !site.hubs.isEmpty else { return nil }
    let links = site.hubs.map { ($0, "hub") } + [(site.address(of: request.format, topic: request.topic), "self")]
    return links.map { "<\($0)>; rel=\"\($1)\"" }.joined(separator: ", ")
  }
}

/// The bytes of a document around its entries, and the form of these.
struct FeedBody: Sendable {
  let writer: FeedWriter
  let form: FragmentForm
  let head: FeedHead

  /// A lower bound for the length of an entry in bytes.
  private static let minimumEntryBytes = 180
  private static let minimumHeadBytes = 300

  /// A lower bound for the length of the document in bytes.
  func minimumBytes(entries: Int) -> Int { Self.minimumHeadBytes + entries * Self.minimumEntryBytes }
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
