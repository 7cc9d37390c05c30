public import Foundation

/// An item as editors see it. Drafts are included, and `revision` guards against lost updates.
///
///     func isEditable(_ item: EditorialItem) -> Bool {
///       item.erased == nil && item.state != .retracted
///     }
public struct EditorialItem: Sendable, Equatable, Codable {
  /// The state of an item in its life cycle.
  ///
  ///     let state = EditorialItem.State(rawValue: "draft")
  ///     print(state == .draft)  // true
  public enum State: String, Sendable, Codable, CaseIterable {
    case draft, scheduled, published, retracted, expired
  }

  /// The public fields. Until the first publication `version` is 0 and `updated` is the creation date.
  public var item: NewsItem
  /// The state of the item in its life cycle.
  public var state: State
  /// The number of writes to the item, 1 or more.
  public var revision: Int
  /// The reason for the retraction, as given by the editor.
  public var retractionReason: String?
  /// The time at which the item's texts were erased; nil if they were not.
  public var erased: Date?

  private enum CodingKeys: String, CodingKey {
    case state, revision, retractionReason, erased
  }

  /// Creates an editorial item without validation.
  public init(
    item: NewsItem, state: State, revision: Int, retractionReason: String? = nil, erased: Date? = nil
  ) {
    self.item = item
    self.state = state
    self.revision = revision
    self.retractionReason = retractionReason
    self.erased = erased
  }

  /// Decodes the flat object that ``encode(to:)`` writes.
  ///
  /// - Throws: `DecodingError` if a required field is missing or malformed, or the state is unknown.
  public init(from decoder: any Decoder) throws {
    item = try NewsItem(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    state = try container.decode(State.self, forKey: .state)
    revision = try container.decode(Int.self, forKey: .revision)
    retractionReason = try container.decodeIfPresent(String.self, forKey: .retractionReason)
    erased = try container.decodeIfPresent(Date.self, forKey: .erased)
  }

  /// Encodes the fields of the item and the editorial fields as one flat object.
  public func encode(to encoder: any Encoder) throws {
    try item.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state, forKey: .state)
    try container.encode(revision, forKey: .revision)
    try container.encodeIfPresent(retractionReason, forKey: .retractionReason)
    try container.encodeIfPresent(erased, forKey: .erased)
  }
}

/// The body of `GET /v1/editorial/items`.
///
///     let list = try NewsJSON.decode(EditorialItemList.self, from: Data(#"{"items":[]}"#.utf8))
///     print(list.items.count { $0.state == .draft })  // 0
public struct EditorialItemList: Sendable, Equatable, Codable {
  /// The items, ordered by date and then by id, both descending.
  public var items: [EditorialItem]

  /// Creates a page. It is empty if no item matches the filters.
  public init(items: [EditorialItem]) {
    self.items = items
  }
}
