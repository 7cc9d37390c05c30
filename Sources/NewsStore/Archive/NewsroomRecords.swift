public import Foundation
public import News

/// An item in any state, from the export of a newsroom.
public struct RestoredItem: Sendable {
  /// The id.
  public var id: UUID
  /// The content with its state. The date is always set.
  public var content: ItemContent
  /// Whether an editor or the publication has set the date.
  public var isDated: Bool
  /// The number of writes, 1 or more.
  public var revision: Int
  /// The time of the creation.
  public var created: Date
  /// The time of the last write.
  public var edited: Date
  /// The reason for the retraction, as given by the editor.
  public var retractionReason: String?
  /// The time at which the texts were erased; nil if they were not.
  public var erased: Date?
  /// The reason that readers receive at the item's address; nil if they never saw the item, or see it.
  public var goneReason: RemovalReason?
  /// The source from which the item was imported, its name there, and the digest of its entry in hexadecimal; nil for an
  /// item of this newsroom.
  public var source, guid, digest: String?

  /// Creates an item without validation.
  public init(
    id: UUID, content: ItemContent, isDated: Bool, revision: Int, created: Date, edited: Date,
    retractionReason: String? = nil, erased: Date? = nil, goneReason: RemovalReason? = nil, source: String? = nil,
    guid: String? = nil, digest: String? = nil
  ) {
    self.id = id
    self.content = content
    self.isDated = isDated
    self.revision = revision
    self.created = created
    self.edited = edited
    self.retractionReason = retractionReason
    self.erased = erased
    self.goneReason = goneReason
    (self.source, self.guid, self.digest) = (source, guid, digest)
  }
}

/// A write in the history, from the export of a newsroom.
public struct RestoredWrite: Sendable, Decodable {
  /// The id of the item.
  public var item: UUID
  /// The revision that the write made.
  public var revision: Int
  /// The time of the write.
  public var at: Date
  /// The author as `KIND` or `KIND:NAME`; nil if unknown.
  public var editor: String?
  /// The state after the write.
  public var state: EditorialItem.State
  /// The changed fields.
  public var fields: [String]
  /// The former values of the fields that had one.
  public var replaced: [String: FieldValue]
}

/// A subscription from the export of a newsroom.
public struct RestoredSubscription: Sendable {
  /// The id.
  public var id: UUID
  /// The content.
  public var content: SubscriptionContent
  /// The number of writes, 1 or more.
  public var revision: Int

  /// Creates a subscription without validation.
  public init(id: UUID, content: SubscriptionContent, revision: Int) {
    self.id = id
    self.content = content
    self.revision = revision
  }
}
