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
    /// Work in progress, or withdrawn from readers.
    case draft
    /// Waiting for the decision of an editor who may publish.
    case review
    /// To be published at ``EditorialItem/publishAt``.
    case scheduled
    case published
    /// Removed for good.
    case retracted
    /// Removed at ``EditorialItem/expireAt``, until an editor moves that time.
    case expired
  }

  /// The public fields. Until the first publication `version` is 0 and `updated` is the creation date.
  public var item: NewsItem
  /// Whether the date of the item is set. Otherwise it is that of the last write, which the moment of publication
  /// replaces, and JSON omits it.
  public var hasDate: Bool
  /// The state of the item in its life cycle.
  public var state: State
  /// The time at which the item is or was to be published; nil if none was given.
  public var publishAt: Date?
  /// The time at which the item expires; nil if it does not.
  public var expireAt: Date?
  /// The number of writes to the item, 1 or more.
  public var revision: Int
  /// The reason for the retraction, as given by the editor.
  public var retractionReason: String?
  /// The time at which the item's texts were erased; nil if they were not.
  public var erased: Date?
  /// The time of the last write, by the database's clock.
  public var edited: Date

  private enum CodingKeys: String, CodingKey {
    case date, updated, state, publishAt, expireAt, revision, retractionReason, erased, edited
  }

  /// Creates an editorial item without validation.
  public init(
    item: NewsItem, hasDate: Bool = true, state: State, publishAt: Date? = nil, expireAt: Date? = nil, revision: Int,
    retractionReason: String? = nil, erased: Date? = nil, edited: Date
  ) {
    self.item = item
    self.hasDate = hasDate
    self.state = state
    self.publishAt = publishAt
    self.expireAt = expireAt
    self.revision = revision
    self.retractionReason = retractionReason
    self.erased = erased
    self.edited = edited
  }

  /// Decodes the flat object that ``encode(to:)`` writes.
  ///
  /// - Throws: `DecodingError` if a required field is missing or malformed, or the state is unknown.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // Earlier servers send neither this field nor items without a date.
    edited = try container.decodeIfPresent(Date.self, forKey: .edited) ?? container.decode(Date.self, forKey: .updated)
    hasDate = container.contains(.date)
    item = try NewsItem(from: decoder, datedIfMissing: edited)
    state = try container.decode(State.self, forKey: .state)
    publishAt = try container.decodeIfPresent(Date.self, forKey: .publishAt)
    expireAt = try container.decodeIfPresent(Date.self, forKey: .expireAt)
    revision = try container.decode(Int.self, forKey: .revision)
    retractionReason = try container.decodeIfPresent(String.self, forKey: .retractionReason)
    erased = try container.decodeIfPresent(Date.self, forKey: .erased)
  }

  /// Encodes the fields of the item and the editorial fields as one flat object.
  public func encode(to encoder: any Encoder) throws {
    try item.encode(to: encoder, withDate: hasDate)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(state, forKey: .state)
    try container.encodeIfPresent(publishAt, forKey: .publishAt)
    try container.encodeIfPresent(expireAt, forKey: .expireAt)
    try container.encode(revision, forKey: .revision)
    try container.encodeIfPresent(retractionReason, forKey: .retractionReason)
    try container.encodeIfPresent(erased, forKey: .erased)
    try container.encode(edited, forKey: .edited)
  }
}

/// The body of `GET /v1/editorial/items`.
///
///     let list = try NewsJSON.decode(EditorialItemList.self, from: Data(#"{"counts":{"draft":2},"items":[]}"#.utf8))
///     print(list.counts[.draft] ?? 0)  // 2
public struct EditorialItemList: Sendable, Equatable {
  /// The items, most recently written first.
  public var items: [EditorialItem]
  /// The number of all items in each state, whatever the filters select. A state without items has none.
  public var counts: [EditorialItem.State: Int]

  /// Creates a page. It is empty if no item matches the filters.
  public init(items: [EditorialItem], counts: [EditorialItem.State: Int]) {
    self.items = items
    self.counts = counts
  }
}

extension EditorialItemList: Codable {
  private enum CodingKeys: String, CodingKey {
    case items, counts
  }

  /// Decodes a list. States that are unknown to this version are left out of the counts.
  ///
  /// - Throws: `DecodingError` if a field is missing or malformed.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    items = try container.decode([EditorialItem].self, forKey: .items)
    counts = [:]
    for (name, count) in try container.decodeIfPresent([String: Int].self, forKey: .counts) ?? [:] {
      if let state = EditorialItem.State(rawValue: name) { counts[state] = count }
    }
  }

  /// Encodes the items, and the counts as an object by state.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(items, forKey: .items)
    try container.encode(namedCounts, forKey: .counts)
  }

  var namedCounts: [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }
}
