public import Foundation
public import News

/// A line of JSON Lines: the fields of a news item, the guid and source of one that came from elsewhere, and what only
/// exports have.
public struct JSONLine: Sendable, Codable {
  var id: String?
  var guid: String?
  var source: String?
  var date: String?
  var text: String?
  var title: String?
  var summary: String?
  var html: String?
  var topics: [String]?
  var language: String?
  var url: String?
  var author: String?
  var breaking: Bool?
  var attachments: [Attachment]?
  /// Marks the line of an export: the digest of the source's entry in hexadecimal, empty for an item that an editor made.
  var sourceDigest: String?
  /// In an export, those of `topics` that no line before has.
  var newTopics: [ExportedTopic]?

  /// The line of an export.
  ///
  /// - Parameters:
  ///   - source: What names the feed it was imported from; nil, as `guid` and `digest`, for an item of an editor.
  ///   - guid: What the source calls it.
  ///   - digest: That of the source's own entry at the last import.
  ///   - newTopics: Those of its topics that no line before has.
  public init(_ item: NewsItem, source: String?, guid: String?, digest: Data?, newTopics: [ExportedTopic]) {
    id = item.id.uuidString.lowercased()
    self.guid = guid
    self.source = source
    date = RFC3339.string(from: item.date)
    text = item.text
    title = item.title
    summary = item.summary
    html = item.html
    topics = item.topics
    language = item.language
    url = item.url
    author = item.author
    breaking = item.breaking
    attachments = item.attachments
    sourceDigest = (digest ?? Data()).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    self.newTopics = newTopics.isEmpty ? nil : newTopics
  }
}

/// What an export tells of a topic, in the first line that has it.
public struct ExportedTopic: Sendable, Equatable, Codable {
  /// `[a-z0-9-]{1,64}`.
  public var slug: String
  /// By BCP 47 language tag.
  public var titles: [String: String]
  /// Topics are listed by position, then slug.
  public var position: Int32

  /// A topic as it is stored.
  public init(slug: String, titles: [String: String], position: Int32) {
    self.slug = slug
    self.titles = titles
    self.position = position
  }
}
