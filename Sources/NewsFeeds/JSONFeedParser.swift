internal import Foundation
internal import News
internal import SafeHTML

/// Parses JSON Feed 1.1 (jsonfeed.org/version/1.1) and 1 as one document.
enum JSONFeedParser {
  /// The common part of the format's version URLs.
  private static let versionPrefix = "jsonfeed.org/version/"

  /// That part as it is in JSON, where a slash may be escaped.
  private static let writtenPrefixes = [versionPrefix, versionPrefix.replacing("/", with: "\\/")].map { Array($0.utf8) }

  /// Whether a text is the URL of a version. Publishers also write `http`.
  fileprivate static func isVersion(_ text: String) -> Bool {
    ["https://", "http://"].contains { text.utf8.starts(with: ($0 + versionPrefix).utf8) }
  }

  /// Finds the object of a JSON Feed behind other text, such as the warnings of a program.
  ///
  /// - Returns: The index of its brace: the first one that a name in quotation marks and a colon follow; nil if the text
  ///   names no version of the format behind it.
  static func start(in text: ArraySlice<UInt8>) -> Int? {
    guard let version = writtenPrefixes.compactMap({ text.firstRange(of: $0)?.lowerBound }).min() else { return nil }
    var rest = text[..<version]
    while let brace = rest.firstIndex(of: UInt8(ascii: "{")) {
      rest = rest[(brace + 1)...]
      let name = text[(brace + 1)...].prefix(maximumNameBytes).drop { $0 <= 0x20 }
      guard name.first == UInt8(ascii: "\"") else { continue }
      let behind = name.dropFirst().drop { $0 != UInt8(ascii: "\"") }.dropFirst().drop { $0 <= 0x20 }
      if behind.first == UInt8(ascii: ":") { return brace }
    }
    return nil
  }

  /// The maximum number of bytes from a brace to the end of the first name behind it.
  private static let maximumNameBytes = 128

  /// Parses a document.
  ///
  /// - Returns: The events, and the properties of the feed; nil if the document is not a feed.
  static func read(
    _ document: [UInt8], options: FeedReader.Options
  ) -> (events: [FeedEvent], properties: FeedProperties?) {
    func failure(_ message: String) -> ([FeedEvent], FeedProperties?) {
      ([.failed(FeedProblem(position: .line(1), message: message))], nil)
    }
    if JSONKeys.areTooLong(in: document) {
      return failure("has a key of more than \(JSONKeys.maximumBytes) bytes")
    }
    let feed: JSONFeedDocument
    do {
      feed = try JSONDecoder().decode(JSONFeedDocument.self, from: Data(document))
    } catch {
      let object = JSONKeys.firstObject(of: document)
      guard object.count < document.count,
        let found = try? JSONDecoder().decode(JSONFeedDocument.self, from: Data(object))
      else { return failure(JSONProblem.message(for: error)) }
      feed = found
    }
    guard feed.isJSONFeed, let items = feed.items else {
      return failure("is JSON, but neither a JSON Feed nor one object per line")
    }
    var queue = EntryQueue(missingDate: options.missingDate, skipsRepetitions: true)
    let address = options.address
    let events = items.enumerated().flatMap { index, item -> [FeedEvent] in
      let position = FeedPosition.entry(index + 1)
      switch item.result {
      case .success(let item):
        return queue.add(RawEntry(item, of: feed, readFrom: address, at: position))
      case .failure(let failure):
        return queue.add(.skipped(FeedProblem(position: position, message: failure.message)))
      }
    }
    return (events + queue.finish(), FeedProperties(feed, readFrom: address))
  }

  /// Whether a text is the object of a JSON Feed, with or without other text behind it.
  static func isJSONFeed(_ text: [UInt8]) -> Bool {
    guard !JSONKeys.areTooLong(in: text) else { return false }
    func head(_ text: some Collection<UInt8>) -> JSONFeedHead? {
      try? JSONDecoder().decode(JSONFeedHead.self, from: Data(text))
    }
    guard let head = head(text) ?? head(JSONKeys.firstObject(of: text)) else { return false }
    return isVersion(head.version) && head.hasItems
  }
}

private struct JSONFeedHead: Decodable {
  let version: String
  let hasItems: Bool

  private enum CodingKeys: CodingKey {
    case version, items
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    version = try container.decode(String.self, forKey: .version)
    hasItems = container.contains(.items)
  }
}

/// The top-level object of a JSON Feed. A member of the wrong type is missing.
private struct JSONFeedDocument: Decodable {
  var version: String?
  var title: String?
  var homePage: String?
  var feedURL: String?
  var language: String?
  var authors: [JSONName] = []
  var items: [DecodingResult<JSONFeedItem>]?
  var hubs: [JSONFeedHub] = []
  var hasEnded = false

  private enum CodingKeys: String, CodingKey {
    case version, title, language, authors, author, items, hubs, expired
    case homePage = "home_page_url"
    case feedURL = "feed_url"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) -> String? { try? fields.decode(String.self, forKey: key) }
    func list<Value: Decodable>(_ key: CodingKeys, of type: Value.Type) -> [Value] {
      ((try? fields.decode([DecodingResult<Value>].self, forKey: key)) ?? []).compactMap(\.value)
    }
    version = text(.version)
    title = text(.title)
    homePage = text(.homePage)
    feedURL = text(.feedURL)
    language = text(.language)
    authors = list(.authors, of: JSONName.self)
    if authors.isEmpty, let author = try? fields.decode(JSONName.self, forKey: .author) { authors = [author] }
    items = try fields.decodeIfPresent([DecodingResult<JSONFeedItem>].self, forKey: .items)
    hubs = list(.hubs, of: JSONFeedHub.self)
    hasEnded = (try? fields.decode(Bool.self, forKey: .expired)) == true
  }

  var isJSONFeed: Bool { version.map(JSONFeedParser.isVersion) == true }

  /// Returns the address of the feed and that of its page as absolute addresses; nil for one that is missing or unusable.
  func addresses(readFrom address: String?) -> (feed: String?, page: String?) {
    let feed = feedURL.flatMap { SafeLink.web($0, base: address) }
    return (feed, homePage.flatMap { SafeLink.web($0, base: feed ?? address) })
  }
}

private struct JSONFeedHub: Decodable {
  var type: String
  var url: String
}

private struct JSONFeedItem: Decodable {
  /// The entry, without the parts that depend on the feed.
  var entry = RawEntry(position: .entry(0), source: "")
  /// The address of the page, as it is written.
  let address: String?
  let authors: [JSONName]

  private enum CodingKeys: String, CodingKey {
    case id, url, title, summary, image, authors, author, tags, language, attachments
    case externalURL = "external_url"
    case html = "content_html"
    case text = "content_text"
    case banner = "banner_image"
    case published = "date_published"
    case modified = "date_modified"
  }

  init(from decoder: any Decoder) throws {
    entry.exclusion = try RecordState(from: decoder).exclusion
    var fields = try JSONFields<CodingKeys>(decoder)
    entry.guid = fields.text(.id)?.trimmed.nonEmpty
    let (url, externalURL) = (fields.text(.url), fields.text(.externalURL))
    address = url ?? externalURL
    entry.title = RawText(fields.text(.title), .plain)
    entry.content = RawText(fields.text(.html), .html)
    entry.text = fields.text(.text)
    entry.summary = RawText(fields.text(.summary), .plain)
    let pictures = [fields.text(.image), fields.text(.banner)].compactMap { $0 }
    entry.dates = fields.dates(.published, .modified)
    // `author` is the member of version 1.
    authors = fields.list(fields.contains(.authors) ? .authors : .author)
    entry.categories = fields.list(.tags, of: JSONText.self).map(\.text)
    entry.language = fields.text(.language)
    entry.attachments = fields.list(.attachments, of: JSONFeedAttachment.self).map(\.file)
    entry.attachments += pictures.map { Attachment(url: $0, type: "") }
    entry.losses = fields.losses
  }
}

private struct JSONFeedAttachment: Decodable {
  let file: Attachment

  private enum CodingKeys: String, CodingKey {
    case url, title
    case type = "mime_type"
    case size = "size_in_bytes"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let title = try? fields.decode(String.self, forKey: .title)
    let size = (try? fields.decode(JSONText.self, forKey: .size)).flatMap { Double($0.text) }
    file = Attachment(
      url: try fields.decode(String.self, forKey: .url), type: (try? fields.decode(String.self, forKey: .type)) ?? "",
      bytes: size.flatMap { Int(exactly: $0.rounded()) }.flatMap { $0 > 0 ? $0 : nil },
      alt: title)
  }
}

extension FeedProperties {
  fileprivate init(_ feed: JSONFeedDocument, readFrom address: String?) {
    self.init()
    setTexts(title: RawText(feed.title, .plain), language: feed.language)
    (ownAddress, homePage) = feed.addresses(readFrom: address)
    hasEnded = feed.hasEnded
    for hub in feed.hubs.prefix(64) where hub.type.utf8.count <= 32 {
      // `PubSubHubbub` is the older name of WebSub, `rssCloud` another protocol.
      guard ["websub", "pubsubhubbub"].contains(hub.type.lowercased()) else { continue }
      addHub(SafeLink.web(hub.url, base: address))
    }
  }
}

extension RawEntry {
  fileprivate init(
    _ item: JSONFeedItem, of feed: JSONFeedDocument, readFrom address: String?, at position: FeedPosition
  ) {
    let source = [feed.feedURL, feed.homePage, feed.title].lazy.compactMap { $0.flatMap(FeedMetadata.bounded) }.first
    self = item.entry
    self.position = position
    self.source = "json-feed:" + (source ?? "urn:tidings:feed")
    let addresses = feed.addresses(readFrom: address)
    let feedBase = addresses.page ?? addresses.feed ?? address
    home = addresses.page
    link = item.address.flatMap { SafeLink.web($0, base: feedBase) }
    base = link ?? feedBase
    language = language ?? feed.language.flatMap(FeedMetadata.bounded)
    authors = Self.names(item.authors)
    lateAuthors = Self.longNames(item.authors)
    if authors.isEmpty, lateAuthors.isEmpty {
      authors = Self.names(feed.authors)
      let long = Self.longNames(feed.authors).prefix(1)
      lateAuthors = long.map { PlainText.shortened($0, to: FeedMetadata.maximumLongBytes) }
    }
    noteLoss(of: item.address, used: link)
  }

  /// Returns the names that are too long for older versions.
  private static func longNames(_ authors: [JSONName]) -> [String] {
    authors.prefix(FeedMetadata.maximumAuthors).compactMap { author in
      author.name.flatMap { FeedMetadata.bounded($0) == nil ? $0.trimmed.nonEmpty : nil }
    }
  }

  private static func names(_ authors: [JSONName]) -> [String] {
    authors.prefix(FeedMetadata.maximumAuthors).compactMap { $0.name.flatMap(FeedMetadata.bounded) }
  }
}
