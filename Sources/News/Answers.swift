public import Foundation

/// The body of `GET /v1/items`: a page of items, the newest first.
///
///     let list = try NewsJSON.decode(ItemList.self, from: Data(#"{"items":[]}"#.utf8))
///     print(list.items.count)  // 0
public struct ItemList: Sendable, Equatable, Codable {
  /// The items, ordered by date and then by id, both descending.
  public var items: [NewsItem]

  /// Creates a page. It is empty if no item matches the filters.
  public init(items: [NewsItem]) {
    self.items = items
  }
}

/// The body of `GET /v1/changes`: the changes that bring a client's items to the state of `token`.
///
///     let json = #"{"changes":[],"more":false,"token":"1k3x9qam9pkx.10"}"#
///     let list = try NewsJSON.decode(ChangeList.self, from: Data(json.utf8))
///     print(list.token, list.more)  // 1k3x9qam9pkx.10 false
public struct ChangeList: Sendable, Equatable, Codable {
  /// The changes in version order.
  public var changes: [Change]
  /// Whether `token` already leads to a further page.
  public var more: Bool
  /// True in every page of a snapshot, and omitted in deltas. The client replaces its items once it has the page whose
  /// `more` is false.
  public var snapshot: Bool?
  /// The value of `since` in the next request.
  public var token: SyncToken

  /// Creates a page. `snapshot` is true in a snapshot and nil in a delta, never false.
  public init(changes: [Change], more: Bool, snapshot: Bool?, token: SyncToken) {
    self.changes = changes
    self.more = more
    self.snapshot = snapshot
    self.token = token
  }
}

/// One change of a delta.
///
///     func apply(_ change: Change, to items: inout [UUID: NewsItem]) {
///       switch change {
///       case .put(let item): items[item.id] = item
///       case .remove(let id, _): items[id] = nil
///       case .unknown: break
///       }
///     }
public enum Change: Sendable, Equatable {
  /// Adds the item, or replaces the one with the same id.
  case put(NewsItem)
  /// Removes an item that is no longer in the scope.
  case remove(id: UUID, reason: RemovalReason)
  /// An operation that this version of the library does not know. A client ignores it.
  case unknown(op: String)
}

/// The reason for the removal of an item from a scope.
///
///     let reason = RemovalReason(rawValue: "expired")
///     print(reason == .expired)  // true
public struct RemovalReason: RawRepresentable, Sendable, Hashable, Codable {
  /// The reason as it is sent.
  public var rawValue: String

  /// Creates a reason. Any text is accepted, because a newer server may send other reasons.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// An editor retracted the item.
  public static let retracted = RemovalReason(rawValue: "retracted")
  /// The item has expired.
  public static let expired = RemovalReason(rawValue: "expired")
  /// The item is still published, but no longer in a topic of the scope.
  public static let left = RemovalReason(rawValue: "left")
}

extension Change: Codable {
  private enum CodingKeys: String, CodingKey {
    case op, item, id, reason
  }

  /// Decodes a change. An unknown `op` is decoded as ``unknown(op:)``.
  ///
  /// - Throws: `DecodingError` if `op` or a field of a known `op` is missing or malformed.
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

  /// Encodes `op` and its fields.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .put(let item):
      try container.encode("put", forKey: .op)
      try container.encode(item, forKey: .item)
    case .remove(let id, let reason):
      try container.encode("remove", forKey: .op)
      try container.encode(id, forKey: .id)
      try container.encode(reason, forKey: .reason)
    case .unknown(let op):
      try container.encode(op, forKey: .op)
    }
  }
}

/// The body of `GET /v1/state`: the current tokens of the feed, of the requested topics and of their union.
///
///     let json = #"{"feed":"1k3x9qam9pkx.10","topics":{}}"#
///     let state = try NewsJSON.decode(FeedState.self, from: Data(json.utf8))
///     print(state.feed.version)  // 36
public struct FeedState: Sendable, Equatable, Codable {
  /// The token of all published items.
  public var feed: SyncToken
  /// The tokens by slug; empty if the request names no topics.
  public var topics: [String: SyncToken]
  /// The token that is comparable with the one of `changes?topics=a,b`; omitted if the request names no topics.
  public var union: SyncToken?

  /// Creates a state from the tokens of one database snapshot.
  public init(feed: SyncToken, topics: [String: SyncToken], union: SyncToken?) {
    self.feed = feed
    self.topics = topics
    self.union = union
  }
}

/// A section of the app, such as "sport".
///
///     let json = """
///       {"slug":"harbour","titles":{"en":"Harbour"},"position":1,"items":12,"changed":"2026-11-21T08:30:00.000Z"}
///       """
///     let topic = try NewsJSON.decode(Topic.self, from: Data(json.utf8))
///     print(topic.titles["en"] ?? topic.slug)  // Harbour
public struct Topic: Sendable, Equatable, Codable {
  /// The slug, `[a-z0-9-]{1,64}`.
  public var slug: String
  /// The titles by BCP 47 language tag.
  public var titles: [String: String]
  /// The position in lists, which are ordered by position and then by slug.
  public var position: Int
  /// The number of published items in the topic.
  public var items: Int
  /// The time of the last change to the topic or to an item in it.
  public var changed: Date
  /// The revision of the topic, for preconditions; only in editorial responses.
  public var revision: Int?

  /// Creates a topic without validation.
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

/// The body of `GET /v1/topics`.
///
///     let list = try NewsJSON.decode(TopicList.self, from: Data(#"{"topics":[]}"#.utf8))
///     print(list.topics.count)  // 0
public struct TopicList: Sendable, Equatable, Codable {
  /// All topics, ordered by position and then by slug.
  public var topics: [Topic]

  /// Creates a list.
  public init(topics: [Topic]) {
    self.topics = topics
  }
}

/// The body of every error response: RFC 9457 problem details with the members that this API adds.
///
///     let json = #"{"type":"/problems/token-expired","title":"The token has expired","status":410}"#
///     let problem = try NewsJSON.decode(Problem.self, from: Data(json.utf8))
///     print(problem.status, problem.detail ?? problem.title)  // 410 The token has expired
public struct Problem: Sendable, Equatable, Codable {
  /// The problem type: a stable relative reference, such as `/problems/token-expired`.
  public var type: String
  /// A short description of the problem type, the same for all its occurrences.
  public var title: String
  /// The status code of the response.
  public var status: Int
  /// The description of this occurrence, as a sentence.
  public var detail: String?
  /// The invalid parameters or fields.
  public var errors: [FieldError]?
  /// The reason why a token, an item or a file is no longer valid.
  public var reason: String?
  /// A current token from which the client can start again.
  public var token: SyncToken?
  /// The results of the entries of a refused batch.
  public var results: [BatchResult]?

  /// Creates a problem. Members that are nil are omitted from the JSON.
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

/// An invalid parameter or field of a request.
///
///     let error = FieldError(field: "limit", rule: "must be a number from 1 to 200")
///     print(error.field, error.rule)  // limit must be a number from 1 to 200
public struct FieldError: Sendable, Hashable, Codable {
  /// The name of the query parameter, or the path of the field, such as `attachments[0].url`.
  public var field: String
  /// The violated rule, as a sentence without its subject: `must be a number from 1 to 200`.
  public var rule: String
  /// The violated rule as the server knows it; nil for an error that was decoded. The JSON does not have it.
  package var brokenRule: FieldRule?

  private enum CodingKeys: String, CodingKey {
    case field, rule
  }

  /// Creates an error for one parameter or field.
  public init(field: String, rule: String) {
    self.field = field
    self.rule = rule
  }
}
