public import Foundation

/// An item as its editors see it: drafts too, and with the revision that locks it.
public struct EditorialItem: Sendable, Equatable, Codable {
  /// Where an item is in its life.
  public enum State: String, Sendable, Codable, CaseIterable {
    case draft, scheduled, published, retracted, expired
  }

  /// The public fields. `version` is 0 and `updated` the creation date while it was never published.
  public var item: NewsItem
  /// Where the item is in its life.
  public var state: State
  /// Counts the writes, from 1.
  public var revision: Int
  /// Why it was retracted, as the editor said.
  public var retractionReason: String?
  /// When its texts were erased; nil while it has them.
  public var erased: Date?

  private enum CodingKeys: String, CodingKey {
    case state, revision, retractionReason, erased
  }

  /// An item as its editors see it; nothing is checked.
  public init(
    item: NewsItem, state: State, revision: Int, retractionReason: String? = nil, erased: Date? = nil
  ) {
    self.item = item
    self.state = state
    self.revision = revision
    self.retractionReason = retractionReason
    self.erased = erased
  }

  /// Reads the flat object that ``encode(to:)`` writes.
  ///
  /// - Throws: `DecodingError` where a required field is missing or malformed, or the state unknown.
  public init(from decoder: any Decoder) throws {
    item = try NewsItem(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    state = try container.decode(State.self, forKey: .state)
    revision = try container.decode(Int.self, forKey: .revision)
    retractionReason = try container.decodeIfPresent(String.self, forKey: .retractionReason)
    erased = try container.decodeIfPresent(Date.self, forKey: .erased)
  }

  /// Writes one flat object: the fields of the item and the editorial ones.
  public func encode(to encoder: any Encoder) throws {
    try item.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state, forKey: .state)
    try container.encode(revision, forKey: .revision)
    try container.encodeIfPresent(retractionReason, forKey: .retractionReason)
    try container.encodeIfPresent(erased, forKey: .erased)
  }
}

/// `GET /v1/editorial/items`.
public struct EditorialItemList: Sendable, Equatable, Codable {
  /// By date and then id, both descending.
  public var items: [EditorialItem]

  /// A page; empty where nothing fits the filters.
  public init(items: [EditorialItem]) {
    self.items = items
  }
}
