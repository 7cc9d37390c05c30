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

  private enum CodingKeys: String, CodingKey {
    case state, revision, retractionReason
  }

  /// An item as its editors see it; nothing is checked.
  public init(item: NewsItem, state: State, revision: Int, retractionReason: String? = nil) {
    self.item = item
    self.state = state
    self.revision = revision
    self.retractionReason = retractionReason
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
  }

  /// Writes one flat object: the fields of the item and the editorial ones.
  public func encode(to encoder: any Encoder) throws {
    try item.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state, forKey: .state)
    try container.encode(revision, forKey: .revision)
    try container.encodeIfPresent(retractionReason, forKey: .retractionReason)
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
