public import Foundation
public import News

/// A line of JSON Lines: the fields of a news item, the guid and source of an imported one, and the fields of exports.
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
  /// The mark of an export: the digest of the source's entry in hexadecimal, empty for an item that an editor created.
  var sourceDigest: String?
  /// In an export, the `topics` that no previous line has.
  var newTopics: [ExportedTopic]?

  /// Creates the line of an export.
  ///
  /// - Parameters:
  ///   - item: The item to export.
  ///   - source: The name of the feed that the item was imported from. It is nil for an editor's item, as are `guid`
  ///     and `digest`.
  ///   - guid: The name of the item at its source.
  ///   - digest: The digest of the source's entry at the last import.
  ///   - newTopics: The item's topics that no previous line has.
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
    sourceDigest = (digest ?? Data()).hexadecimal
    self.newTopics = newTopics.isEmpty ? nil : newTopics
  }
}

/// A topic in an export, on the first line that uses it.
public struct ExportedTopic: Sendable, Equatable, Codable {
  /// The slug, `[a-z0-9-]{1,64}`.
  public var slug: String
  /// The titles by BCP 47 language tag.
  public var titles: [String: String]
  /// The position in lists, which are ordered by position and then by slug.
  public var position: Int32

  /// Creates a topic without validation.
  public init(slug: String, titles: [String: String], position: Int32) {
    self.slug = slug
    self.titles = titles
    self.position = position
  }
}
