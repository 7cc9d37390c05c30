public import Foundation
import MediaFiles
import News
public import NewsStore
import OutgoingHTTP

/// A record in the export of a newsroom.
///
///     let line = Data(#"{"newsroom":{"history":true}}"#.utf8)
///     if case .header(let history) = try NewsroomRecord(line: line) { print(history) }  // true
public enum NewsroomRecord: Sendable {
  /// The first line, which says whether the history follows.
  case header(history: Bool)
  case topic(slug: String, content: TopicContent, revision: Int)
  case media(Media)
  case withdrawnMedia(UUID, MediaWithdrawal)
  case item(RestoredItem)
  case subscription(RestoredSubscription)
  case history(RestoredWrite)

  /// Reads a line. The rules are those of written texts: a record that breaks one is refused, and none is changed.
  ///
  /// - Throws: `InvalidRecord`.
  public init(line: Data) throws {
    let decoded: Line
    do {
      decoded = try NewsJSON.decode(Line.self, from: line)
    } catch let error as DecodingError {
      throw InvalidRecord(error)
    }
    self = try decoded.record
  }
}

/// The reason why a record is not read.
public struct InvalidRecord: Error, CustomStringConvertible {
  /// The field and the rule.
  public let description: String

  init(_ field: String, _ rule: String) { description = "the field \"\(field)\" \(rule)" }

  fileprivate init(_ error: DecodingError) {
    let path: [any CodingKey]
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      path = context.codingPath
    case .keyNotFound(let key, let context): path = context.codingPath + [key]
    @unknown default: path = []
    }
    let name = path.map(\.stringValue).joined(separator: ".")
    description =
      name.isEmpty ? "is not valid JSON" : "the field \"\(name)\" is missing or cannot be read"
  }
}

/// A line as it is written.
private struct Line: Decodable {
  struct Header: Decodable { var history: Bool }

  struct Topic: Decodable {
    var slug: String
    var titles: [String: String]
    var position: Int32
    var revision: Int
  }

  struct File: Decodable {
    var id: UUID
    var sha256: String
    var type: String
    var bytes: Int
    var width, height: Int?
    var name: String?
    var created: Date
  }

  struct Withdrawal: Decodable {
    var id: UUID
    var reason: String
  }

  struct Feed: Decodable {
    var id: UUID
    var url: String
    var title: String?
    var topics: [String]
    var state: Subscription.State
    var language: String?
    var paused: Bool
    var revision: Int
  }

  var newsroom: Header?
  var topic: Topic?
  var media: File?
  var withdrawnMedia: Withdrawal?
  var item: NewsroomItemLine?
  var subscription: Feed?
  var history: RestoredWrite?

  var record: NewsroomRecord {
    get throws {
      if let newsroom { return .header(history: newsroom.history) }
      if let topic { return try Self.record(topic) }
      if let media { return try Self.record(media) }
      if let withdrawnMedia {
        let rule = NewsroomRule(prefix: "withdrawnMedia")
        let reason = try rule.required(MediaWithdrawal(rawValue: withdrawnMedia.reason), "reason")
        return .withdrawnMedia(withdrawnMedia.id, reason)
      }
      if let item { return .item(try item.restored) }
      if let subscription { return try Self.record(subscription) }
      if let history { return try Self.record(history) }
      throw InvalidRecord("newsroom", "is missing, as is every other record")
    }
  }

  private static func record(_ topic: Topic) throws -> NewsroomRecord {
    let rule = NewsroomRule(prefix: "topic")
    try rule.require(TopicSlug.isValid(topic.slug), "slug", "must match [a-z0-9-]{1,64}")
    for (language, title) in topic.titles {
      try rule.require(LanguageTag.isValid(language), "titles", "must have BCP 47 language tags")
      _ = try rule.text(title, "titles", maximumBytes: 256)
    }
    return .topic(
      slug: topic.slug, content: TopicContent(titles: topic.titles, position: topic.position),
      revision: try rule.revision(topic.revision))
  }

  private static func record(_ file: File) throws -> NewsroomRecord {
    let rule = NewsroomRule(prefix: "media")
    // A browser would run a restored page or drawing as one of this site.
    try rule.require(
      MediaFormat.types.contains(file.type), "type", "must be the media type of a file that the server accepts")
    try rule.require(file.bytes > 0, "bytes", "must be 1 or more")
    for (name, size) in [("width", file.width), ("height", file.height)] {
      try rule.require(size.map { 1...Int(Int32.max) ~= $0 } ?? true, name, "must be from 1 to \(Int32.max)")
    }
    return .media(
      Media(
        id: file.id, digest: try rule.required(MediaDigest(hexadecimal: file.sha256)?.bytes, "sha256"), type: file.type,
        bytes: file.bytes, width: file.width, height: file.height,
        name: try rule.text(file.name, "name", maximumBytes: 255), created: file.created))
  }

  private static func record(_ feed: Feed) throws -> NewsroomRecord {
    let rule = NewsroomRule(prefix: "subscription")
    let url: String
    do throws(OutgoingError) {
      url = try OutgoingURL(feed.url).text
    } catch {
      throw InvalidRecord("subscription.url", "must be an address that can be requested: \(error)")
    }
    return .subscription(
      RestoredSubscription(
        id: feed.id,
        content: SubscriptionContent(
          url: url, title: try rule.text(feed.title, "title", maximumBytes: 1024), topics: try rule.topics(feed.topics),
          state: feed.state, language: try rule.language(feed.language), paused: feed.paused),
        revision: try rule.revision(feed.revision)))
  }

  private static func record(_ write: RestoredWrite) throws -> NewsroomRecord {
    let rule = NewsroomRule(prefix: "history")
    try rule.require(
      write.fields.allSatisfy { $0.utf8.allSatisfy { 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 } }, "fields",
      "must have the names of fields")
    for case .text(let text) in write.replaced.values {
      try rule.require(!text.utf8.contains(0), "replaced", "must not contain NUL characters")
    }
    _ = try rule.revision(write.revision)
    _ = try rule.text(write.editor, "editor", maximumBytes: 1024)
    return .history(write)
  }
}
