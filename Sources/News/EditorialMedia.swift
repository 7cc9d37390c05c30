public import Foundation

/// A file as editors see it.
///
///     func isUnused(_ file: EditorialMedia) -> Bool { file.uses.isEmpty }
public struct EditorialMedia: Sendable, Equatable {
  /// The id of the file.
  public var id: UUID
  /// The file as an attachment for items.
  public var attachment: Attachment
  /// The suggested file name for downloads.
  public var name: String?
  /// The time of the first upload, by the database's clock.
  public var created: Date
  /// The items that use the file, in any state: the ten newest.
  public var uses: [UUID]
  /// Whether readers can get the file, because a published item uses it.
  public var isPublic: Bool

  /// Creates a description without validation.
  public init(id: UUID, attachment: Attachment, name: String?, created: Date, uses: [UUID], isPublic: Bool) {
    self.id = id
    self.attachment = attachment
    self.name = name
    self.created = created
    self.uses = uses
    self.isPublic = isPublic
  }
}

extension EditorialMedia: Codable {
  private enum CodingKeys: String, CodingKey {
    case created, id, name, uses
    case isPublic = "public"
  }

  /// Decodes the flat object that ``encode(to:)`` writes.
  ///
  /// - Throws: `DecodingError` if a required field is missing or malformed.
  public init(from decoder: any Decoder) throws {
    attachment = try Attachment(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    name = try container.decodeIfPresent(String.self, forKey: .name)
    created = try container.decode(Date.self, forKey: .created)
    uses = try container.decode([UUID].self, forKey: .uses)
    isPublic = try container.decode(Bool.self, forKey: .isPublic)
  }

  /// Encodes the fields of the attachment and those for editors as one flat object.
  public func encode(to encoder: any Encoder) throws {
    try attachment.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(created, forKey: .created)
    try container.encode(uses, forKey: .uses)
    try container.encode(isPublic, forKey: .isPublic)
  }
}

/// The body of `GET /v1/editorial/media`.
///
///     let list = try NewsJSON.decode(EditorialMediaList.self, from: Data(#"{"items":[]}"#.utf8))
///     print(list.items.count { $0.uses.isEmpty })  // 0
public struct EditorialMediaList: Sendable, Equatable, Codable {
  /// The files, newest first.
  public var items: [EditorialMedia]

  /// Creates a page. It is empty if there are no files.
  public init(items: [EditorialMedia]) {
    self.items = items
  }
}
