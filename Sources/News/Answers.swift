public import Foundation

/// `GET /v1/items`: the newest first.
public struct ItemList: Sendable, Equatable, Codable {
  /// By date and then id, both descending.
  public var items: [NewsItem]

  /// A page; empty where nothing fits the filters.
  public init(items: [NewsItem]) {
    self.items = items
  }
}

/// `GET /v1/changes`: what a client does to its items to be at `token`.
public struct ChangeList: Sendable, Equatable, Codable {
  /// In the order of versions.
  public var changes: [Change]
  /// Whether more is to be had at once with `token`.
  public var more: Bool
  /// True in every page of a snapshot; the client replaces what it has when the page without `more` has come. Omitted
  /// in deltas.
  public var snapshot: Bool?
  /// What to send as `since` next.
  public var token: SyncToken

  /// A page as it is sent; `snapshot` is nil in deltas and never false.
  public init(changes: [Change], more: Bool, snapshot: Bool?, token: SyncToken) {
    self.changes = changes
    self.more = more
    self.snapshot = snapshot
    self.token = token
  }
}

/// One step of a delta.
public enum Change: Sendable, Equatable {
  /// The item as it is now replaces the one with its id, or is new.
  case put(NewsItem)
  /// The item is no longer in the scope.
  case remove(id: UUID, reason: RemovalReason)
  /// An operation this build does not know, to be ignored.
  case unknown(op: String)
}

/// Why an item is no longer in a scope.
public struct RemovalReason: RawRepresentable, Sendable, Hashable, Codable {
  /// The word that is sent.
  public var rawValue: String

  /// Takes any word: a later server may know more reasons than this build.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// An editor took it back.
  public static let retracted = RemovalReason(rawValue: "retracted")
  /// Its time was over.
  public static let expired = RemovalReason(rawValue: "expired")
  /// It is published still, but in other topics.
  public static let left = RemovalReason(rawValue: "left")
}

extension Change: Codable {
  private enum CodingKeys: String, CodingKey {
    case op, item, id, reason
  }

  /// Reads a step. One whose `op` this build does not know is read as ``unknown(op:)`` instead of failing.
  ///
  /// - Throws: `DecodingError` where `op`, or what belongs to a known one, is missing or malformed.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .op) {
    case "put":
      self = .put(try container.decode(NewsItem.self, forKey: .item))
    case "remove":
      self = .remove(
        id: try container.decode(UUID.self, forKey: .id),
        reason: try container.decode(RemovalReason.self, forKey: .reason))
    case let op:
      self = .unknown(op: op)
    }
  }

  /// Writes `op` and what belongs to it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .put(let item):
      try container.encode("put", forKey: .op)
      try container.encode(item, forKey: .item)
    case .remove(let id, let reason):
      try container.encode("remove", forKey: .op)
      try container.encode(id.uuidString.lowercased(), forKey: .id)
      try container.encode(reason, forKey: .reason)
    case .unknown(let op):
      try container.encode(op, forKey: .op)
    }
  }
}

/// `GET /v1/state`: the current token of the feed, of each topic asked for and of their union.
public struct FeedState: Sendable, Equatable, Codable {
  /// The token of all published items.
  public var feed: SyncToken
  /// By slug; empty where no topics were asked for.
  public var topics: [String: SyncToken]
  /// The token to compare with the one of `changes?topics=a,b`; omitted where no topics were asked for.
  public var union: SyncToken?

  /// The tokens of one snapshot of the database.
  public init(feed: SyncToken, topics: [String: SyncToken], union: SyncToken?) {
    self.feed = feed
    self.topics = topics
    self.union = union
  }
}

/// A section of the app.
public struct Topic: Sendable, Equatable, Codable {
  /// `[a-z0-9-]{1,64}`.
  public var slug: String
  /// By BCP 47 language tag.
  public var titles: [String: String]
  /// Topics are listed by position, then slug.
  public var position: Int
  /// How many published items are in it.
  public var items: Int
  /// When an item of it, or the topic itself, last changed.
  public var changed: Date
  /// The editors' lock; only in editorial answers.
  public var revision: Int?

  /// A topic as it is sent; nothing is checked.
  public init(
    slug: String, titles: [String: String], position: Int, items: Int, changed: Date, revision: Int? = nil
  ) {
    self.slug = slug
    self.titles = titles
    self.position = position
    self.items = items
    self.changed = changed
    self.revision = revision
  }
}

/// `GET /v1/topics`.
public struct TopicList: Sendable, Equatable, Codable {
  /// All topics, by position and then slug.
  public var topics: [Topic]

  /// The list as it is sent.
  public init(topics: [Topic]) {
    self.topics = topics
  }
}

/// Any error: RFC 9457 problem details with the members this API adds.
public struct Problem: Sendable, Equatable, Codable {
  /// A stable relative reference, such as `/problems/token-expired`.
  public var type: String
  /// What is wrong with requests of this type, in a few words; the same for each.
  public var title: String
  /// The status code of the response.
  public var status: Int
  /// What is wrong with this request, as a sentence.
  public var detail: String?
  /// The parameters or fields at fault.
  public var errors: [FieldError]?
  /// Why a token, or an item, is no longer good.
  public var reason: String?
  /// A current token, where the way on is to start from it.
  public var token: SyncToken?

  /// An error as it is sent; members that are nil are left out.
  public init(
    type: String, title: String, status: Int, detail: String? = nil, errors: [FieldError]? = nil,
    reason: String? = nil, token: SyncToken? = nil
  ) {
    self.type = type
    self.title = title
    self.status = status
    self.detail = detail
    self.errors = errors
    self.reason = reason
    self.token = token
  }
}

/// What is wrong with one parameter or field.
public struct FieldError: Sendable, Hashable, Codable {
  /// The name of the query parameter, or the path of the field, such as `attachments[0].url`.
  public var field: String
  /// The rule it breaks, as a sentence without its subject: `must be a number from 1 to 200`.
  public var rule: String

  /// One fault; texts as described at the fields.
  public init(field: String, rule: String) {
    self.field = field
    self.rule = rule
  }
}
