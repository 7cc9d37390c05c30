public import Foundation

/// A published news item as readers see it.
///
/// In JSON the keys are sorted, absent optionals are omitted and arrays are always present. A client ignores unknown
/// fields, because `/v1` grows by addition.
///
///     let now = RFC3339.truncated(Date())
///     let item = NewsItem(id: UUID(), version: 1, date: now, text: "The night ferry is back.", updated: now)
///     print(String(decoding: try NewsJSON.encode(item), as: UTF8.self))
public struct NewsItem: Sendable, Hashable, Identifiable {
  /// The permanent id: a UUIDv7 from the server, or a UUIDv5 of source and guid for an imported item.
  public var id: UUID
  /// The feed's version at the item's last change, 1 or more.
  public var version: Int
  /// The date of the news in whole milliseconds, never in the future.
  public var date: Date
  /// Plain text, at most 256 KiB of UTF-8.
  public var text: String
  /// The title, at most 1 KiB of UTF-8.
  public var title: String?
  /// A plain-text summary for lists.
  public var summary: String?
  /// Sanitised HTML; only in responses to requests that ask for it.
  public var html: String?
  /// The slugs of at most 16 topics, sorted.
  public var topics: [String]
  /// A BCP 47 language tag.
  public var language: String?
  /// The address of the item on the web: an absolute http or https URL.
  public var url: String?
  /// The author's name as shown to readers.
  public var author: String?
  /// Whether the item is breaking news, which may interrupt a reader.
  public var breaking: Bool
  /// The item's files, in display order.
  public var attachments: [Attachment]
  /// The time of the last change visible to readers, by the database's clock. It never decreases.
  public var updated: Date

  /// Creates an item without validation.
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
///
///     let picture = Attachment(url: "https://news.example/ferry.jpg", type: "image/jpeg", width: 1200, height: 800)
///     print(picture.type)  // image/jpeg
public struct Attachment: Sendable, Hashable, Codable {
  /// An absolute http or https URL, or `/v1/media/{id}` for a file on the server that sent the item.
  public var url: String
  /// The media type, such as `image/jpeg`.
  public var type: String
  /// The length of the file in bytes.
  public var bytes: Int?
  /// The width in pixels.
  public var width: Int?
  /// The height in pixels.
  public var height: Int?
  /// Alternative text that describes the picture for those who cannot see it.
  public var alt: String?
  /// The text to show with the file.
  public var caption: String?
  /// The author or the owner of the file, to be named with it.
  public var credit: String?
  /// The SHA-256 digest of the file in lower-case hexadecimal.
  public var sha256: String?

  /// Creates an attachment without validation.
  public init(
    url: String, type: String, bytes: Int? = nil, width: Int? = nil, height: Int? = nil, alt: String? = nil,
    caption: String? = nil, credit: String? = nil, sha256: String? = nil
  ) {
    self.url = url
    self.type = type
    self.bytes = bytes
    self.width = width
    self.height = height
    self.alt = alt
    self.caption = caption
    self.credit = credit
    self.sha256 = sha256
  }
}

/// The addresses of files on the server itself.
extension Attachment {
  /// The path of a file on its server.
  package static func path(of id: UUID) -> String { "/v1/media/\(id.uuidString.lowercased())" }

  /// The id of the attached file; nil unless `url` is the path of a file on the item's own server.
  package var mediaID: UUID? {
    let prefix = "/v1/media/"
    guard url.utf8.count == prefix.utf8.count + 36, let id = UUID(uuidString: String(url.suffix(36))),
      url == Self.path(of: id)
    else { return nil }
    return id
  }

  /// Validates the address of an attachment.
  ///
  /// - Returns: The address in the form in which it is stored; nil unless it is a web link or the path of a file on the
  ///   server.
  package static func address(_ text: String) -> String? {
    WebLink.normalised(text) ?? (Attachment(url: text, type: "").mediaID == nil ? nil : text)
  }
}

/// The limits of an attachment's fields.
extension Attachment {
  package static let byteRange = 0...1 << 53
  package static let pixelRange = 1...1 << 20

  /// Whether the text has the form of a `sha256`.
  package static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { $0.isASCIIDigit || 97...102 ~= $0 }
  }
}

extension NewsItem: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, version, date, text, title, summary, html, topics, language, url, author, breaking, attachments, updated
  }

  /// Decodes an item. `topics`, `breaking` and `attachments` may be missing, and unknown fields are ignored.
  ///
  /// - Throws: `DecodingError` if another required field is missing or a field is malformed.
  public init(from decoder: any Decoder) throws { try self.init(from: decoder, datedIfMissing: nil) }

  /// Decodes an item whose date may be missing.
  ///
  /// - Parameter placeholder: The date of an item without one; nil to require a date.
  init(from decoder: any Decoder, datedIfMissing placeholder: Date?) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    version = try container.decode(Int.self, forKey: .version)
    if let placeholder, !container.contains(.date) {
      date = placeholder
    } else {
      date = try container.decode(Date.self, forKey: .date)
    }
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

  /// Encodes the fields. Absent optionals are omitted, arrays are always present.
  public func encode(to encoder: any Encoder) throws { try encode(to: encoder, withDate: true) }

  /// Encodes the fields, with or without the date.
  func encode(to encoder: any Encoder, withDate hasDate: Bool) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(version, forKey: .version)
    if hasDate { try container.encode(date, forKey: .date) }
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
