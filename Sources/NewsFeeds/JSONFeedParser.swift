internal import Foundation
internal import News
internal import SafeHTML

/// Parses JSON Feed 1.1 (jsonfeed.org/version/1.1) and 1 as one document.
enum JSONFeedParser {
  /// The common prefix of the format's version URLs.
  static let versionPrefix = "https://jsonfeed.org/version/"

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

  /// Whether the whole text is the object of a JSON Feed.
  static func isJSONFeed(_ text: [UInt8]) -> Bool {
    guard !JSONKeys.areTooLong(in: text), let head = try? JSONDecoder().decode(JSONFeedHead.self, from: Data(text))
    else { return false }
    return head.version.utf8.starts(with: versionPrefix.utf8) && head.hasItems
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
  var authors: [JSONFeedAuthor] = []
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
    authors = list(.authors, of: JSONFeedAuthor.self)
    if authors.isEmpty, let author = try? fields.decode(JSONFeedAuthor.self, forKey: .author) { authors = [author] }
    items = try fields.decodeIfPresent([DecodingResult<JSONFeedItem>].self, forKey: .items)
    hubs = list(.hubs, of: JSONFeedHub.self)
    hasEnded = (try? fields.decode(Bool.self, forKey: .expired)) == true
  }

  var isJSONFeed: Bool { version?.utf8.starts(with: JSONFeedParser.versionPrefix.utf8) == true }
}

private struct JSONFeedHub: Decodable {
  var type: String
  var url: String
}

private struct JSONFeedAuthor: Decodable {
  var name: String?

  private enum CodingKeys: CodingKey {
    case name
  }

  /// Some publishers write a name in place of the object.
  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      name = text
    } else {
      name = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .name)
    }
  }
}

private struct JSONFeedItem: Decodable {
  var id: String?
  var url: String?
  var externalURL: String?
  var title: String?
  var html: String?
  var text: String?
  var summary: String?
  var image: String?
  var banner: String?
  var published: String?
  var modified: String?
  var authors: [JSONFeedAuthor] = []
  var tags: [String] = []
  var language: String?
  var attachments: [JSONFeedAttachment] = []
  /// The names of the fields whose values have the wrong type.
  private(set) var lost: [String] = []
  let exclusion: Exclusion?

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
    exclusion = try RecordState(from: decoder).exclusion
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = value(.id, in: fields)
    url = value(.url, in: fields)
    externalURL = value(.externalURL, in: fields)
    title = value(.title, in: fields)
    html = value(.html, in: fields)
    text = value(.text, in: fields)
    summary = value(.summary, in: fields)
    image = value(.image, in: fields)
    banner = value(.banner, in: fields)
    published = value(.published, in: fields)
    modified = value(.modified, in: fields)
    // `author` is the member of version 1.
    authors = list(fields.contains(.authors) ? .authors : .author, in: fields)
    tags = list(.tags, of: JSONText.self, in: fields).map(\.text)
    language = value(.language, in: fields)
    attachments = list(.attachments, in: fields)
  }

  private mutating func value(_ key: CodingKeys, in fields: KeyedDecodingContainer<CodingKeys>) -> String? {
    do {
      return try fields.decodeIfPresent(JSONText.self, forKey: key)?.text
    } catch {
      lost.append(key.rawValue)
      return nil
    }
  }

  /// Reads a list, or a single value in place of one.
  private mutating func list<Value: Decodable>(
    _ key: CodingKeys, of type: Value.Type = Value.self, in fields: KeyedDecodingContainer<CodingKeys>
  ) -> [Value] {
    guard fields.contains(key), (try? fields.decodeNil(forKey: key)) != true else { return [] }
    if let values = try? fields.decode([DecodingResult<Value>].self, forKey: key) {
      let read = values.compactMap(\.value)
      if read.count < values.count { lost.append(key.rawValue) }
      return read
    }
    if let value = try? fields.decode(Value.self, forKey: key) { return [value] }
    lost.append(key.rawValue)
    return []
  }
}

/// A text, or a number in place of one: "If an id is presented as a number or other type, a JSON Feed reader should coerce
/// it to a string."
private struct JSONText: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = String(try container.decode(Double.self))
    }
  }
}

private struct JSONFeedAttachment: Decodable {
  var url: String
  var type: String?
  var title: String?
  var bytes: Double?

  private enum CodingKeys: String, CodingKey {
    case url, title
    case type = "mime_type"
    case bytes = "size_in_bytes"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    url = try fields.decode(String.self, forKey: .url)
    type = try? fields.decode(String.self, forKey: .type)
    title = try? fields.decode(String.self, forKey: .title)
    let size = try? fields.decode(JSONText.self, forKey: .bytes)
    bytes = size.flatMap { Double($0.text) }
  }
}

/// A value, or the reason why decoding failed, so that one malformed item leaves the others readable.
private struct DecodingResult<Value: Decodable>: Decodable {
  struct Failure: Error {
    let message: String
  }

  let result: Result<Value, Failure>

  var value: Value? { try? result.get() }

  init(from decoder: any Decoder) throws {
    do {
      result = .success(try Value(from: decoder))
    } catch {
      result = .failure(Failure(message: JSONProblem.message(for: error, below: decoder.codingPath.count)))
    }
  }
}

extension FeedProperties {
  fileprivate init(_ feed: JSONFeedDocument, readFrom address: String?) {
    self.init()
    setTexts(title: RawText(feed.title, .plain), language: feed.language)
    homePage = feed.homePage.flatMap { SafeLink.web($0, base: address) }
    ownAddress = feed.feedURL.flatMap { SafeLink.web($0, base: address) }
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
    self.init(position: position, source: "json-feed:" + (source ?? "urn:tidings:feed"))
    let feedBase = feed.homePage ?? feed.feedURL ?? address
    guid = item.id?.trimmed.nonEmpty
    home = feed.homePage.flatMap { SafeLink.web($0) }
    let written = item.url ?? item.externalURL
    link = written.flatMap { SafeLink.web($0, base: feedBase) }
    base = link ?? feedBase
    dates = [item.published, item.modified].compactMap { $0 }
    title = RawText(item.title, .plain)
    summary = RawText(item.summary, .plain)
    content = RawText(item.html, .html)
    text = item.text
    categories = item.tags
    language = item.language ?? feed.language.flatMap(FeedMetadata.bounded)
    authors = Self.names(item.authors)
    if authors.isEmpty { authors = Self.names(feed.authors) }
    exclusion = item.exclusion
    losses = item.lost.map { "the field \"\($0)\" has the wrong type and is omitted" }
    noteLoss(of: written, used: link)
    attachments = item.attachments.map { file in
      let bytes = file.bytes.flatMap { Int(exactly: $0.rounded()) }.flatMap { $0 > 0 ? $0 : nil }
      return Attachment(url: file.url, type: file.type ?? "", bytes: bytes, alt: file.title)
    }
    attachments += [item.image, item.banner].compactMap { $0.map { Attachment(url: $0, type: "") } }
  }

  private static func names(_ authors: [JSONFeedAuthor]) -> [String] {
    authors.prefix(FeedMetadata.maximumAuthors).compactMap { $0.name.flatMap(FeedMetadata.bounded) }
  }
}
