public import Foundation

/// A published news item as every reader sees it.
///
/// In JSON the keys are sorted, absent optionals are omitted and arrays are always present. A reader ignores fields
/// it does not know, because `/v1` grows by addition.
public struct NewsItem: Sendable, Hashable, Identifiable {
  /// Stable for ever: UUIDv7 from the server, UUIDv5 of source and guid from an import.
  public var id: UUID
  /// The feed's version of the item's last change, 1 or more.
  public var version: Int
  /// The date of the news in whole milliseconds, never in the future.
  public var date: Date
  /// Plain text, at most 256 KiB of UTF-8.
  public var text: String
  /// At most 1 KiB of UTF-8.
  public var title: String?
  /// Plain text that stands for the item in lists.
  public var summary: String?
  /// Sanitised HTML; only where the request asked for it.
  public var html: String?
  /// Slugs of at most 16 topics, sorted.
  public var topics: [String]
  /// A BCP 47 language tag.
  public var language: String?
  /// Where the item is to be read on the web; absolute, http or https.
  public var url: String?
  /// Who wrote it, as readers are to see it.
  public var author: String?
  /// Whether it is news to interrupt a reader for.
  public var breaking: Bool
  /// Files that belong to it, in the order in which they are to be shown.
  public var attachments: [Attachment]
  /// When the item last changed for readers, by the database's clock; only grows.
  public var updated: Date

  /// An item as it is sent; nothing is checked.
  public init(
    id: UUID, version: Int, date: Date, text: String, title: String? = nil, summary: String? = nil,
    html: String? = nil, topics: [String] = [], language: String? = nil, url: String? = nil, author: String? = nil,
    breaking: Bool = false, attachments: [Attachment] = [], updated: Date
  ) {
    self.id = id
    self.version = version
    self.date = date
    self.text = text
    self.title = title
    self.summary = summary
    self.html = html
    self.topics = topics
    self.language = language
    self.url = url
    self.author = author
    self.breaking = breaking
    self.attachments = attachments
    self.updated = updated
  }
}

/// A file that belongs to an item.
public struct Attachment: Sendable, Hashable, Codable {
  /// Absolute, http or https; or `/v1/media/{id}` for a file of the server that the item is from.
  public var url: String
  /// A media type such as `image/jpeg`.
  public var type: String
  /// Length of the file in bytes.
  public var bytes: Int?
  /// Width in pixels.
  public var width: Int?
  /// Height in pixels.
  public var height: Int?
  /// What the picture shows, for those who cannot see it.
  public var alt: String?
  /// SHA-256 of the file in lower-case hexadecimal.
  public var sha256: String?

  /// A file as it is described to readers; nothing is checked.
  public init(
    url: String, type: String, bytes: Int? = nil, width: Int? = nil, height: Int? = nil, alt: String? = nil,
    sha256: String? = nil
  ) {
    self.url = url
    self.type = type
    self.bytes = bytes
    self.width = width
    self.height = height
    self.alt = alt
    self.sha256 = sha256
  }
}

/// The addresses of files that a server keeps itself.
extension Attachment {
  /// The path of a file on its server.
  package static func path(of id: UUID) -> String { "/v1/media/\(id.uuidString.lowercased())" }

  /// The file that the attachment is, if it names one of its own server by a path.
  package var mediaID: UUID? {
    let prefix = "/v1/media/"
    guard url.utf8.count == prefix.utf8.count + 36, let id = UUID(uuidString: String(url.suffix(36))),
      url == Self.path(of: id)
    else { return nil }
    return id
  }

  /// Checks the address of an attachment.
  ///
  /// - Returns: As it is to be stored, nil for anything but a link or a path of a file of the server.
  package static func address(_ text: String) -> String? {
    WebLink.normalised(text) ?? (Attachment(url: text, type: "").mediaID == nil ? nil : text)
  }
}

/// The rules for what is known of a file.
extension Attachment {
  package static let byteRange = 0...1 << 53
  package static let pixelRange = 1...1 << 20

  /// Whether the text can be a `sha256`.
  package static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
  }
}

extension NewsItem: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, version, date, text, title, summary, html, topics, language, url, author, breaking, attachments, updated
  }

  /// Reads an item; `topics`, `breaking` and `attachments` may be missing, other fields are ignored.
  ///
  /// - Throws: `DecodingError` where another required field is missing, or one malformed.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    version = try container.decode(Int.self, forKey: .version)
    date = try container.decode(Date.self, forKey: .date)
    text = try container.decode(String.self, forKey: .text)
    title = try container.decodeIfPresent(String.self, forKey: .title)
    summary = try container.decodeIfPresent(String.self, forKey: .summary)
    html = try container.decodeIfPresent(String.self, forKey: .html)
    topics = try container.decodeIfPresent([String].self, forKey: .topics) ?? []
    language = try container.decodeIfPresent(String.self, forKey: .language)
    url = try container.decodeIfPresent(String.self, forKey: .url)
    author = try container.decodeIfPresent(String.self, forKey: .author)
    breaking = try container.decodeIfPresent(Bool.self, forKey: .breaking) ?? false
    attachments = try container.decodeIfPresent([Attachment].self, forKey: .attachments) ?? []
    updated = try container.decode(Date.self, forKey: .updated)
  }

  /// Writes the fields; absent optionals are left out, arrays never.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    // Foundation writes UUIDs in upper case, RFC 9562 section 4 asks for lower case.
    try container.encode(id.uuidString.lowercased(), forKey: .id)
    try container.encode(version, forKey: .version)
    try container.encode(date, forKey: .date)
    try container.encode(text, forKey: .text)
    try container.encodeIfPresent(title, forKey: .title)
    try container.encodeIfPresent(summary, forKey: .summary)
    try container.encodeIfPresent(html, forKey: .html)
    try container.encode(topics, forKey: .topics)
    try container.encodeIfPresent(language, forKey: .language)
    try container.encodeIfPresent(url, forKey: .url)
    try container.encodeIfPresent(author, forKey: .author)
    try container.encode(breaking, forKey: .breaking)
    try container.encode(attachments, forKey: .attachments)
    try container.encode(updated, forKey: .updated)
  }
}
