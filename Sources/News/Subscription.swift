public import Foundation

/// An external feed that the server follows, as editors see it.
///
///     func needsAttention(_ subscription: Subscription) -> Bool {
///       subscription.paused || subscription.lastError != nil
///     }
public struct Subscription: Sendable, Equatable, Codable {
  /// The state of new items.
  public enum State: String, Sendable, Codable, CaseIterable {
    case draft, published
  }

  /// The failure of a poll.
  public struct Failure: Sendable, Equatable, Codable {
    /// The time of the failure, by the database's clock.
    public var at: Date
    /// The status of the response; nil if there was none.
    public var status: Int?
    /// The reason, in words.
    public var message: String

    /// Creates a description without validation.
    public init(at: Date, status: Int?, message: String) {
      self.at = at
      self.status = status
      self.message = message
    }
  }

  /// The losses of the last poll that has read the feed: entries that were skipped or shortened, and dates that cannot be read.
  public struct Losses: Sendable, Equatable, Codable {
    /// The time of the poll, by the database's clock.
    public var at: Date
    /// The number of losses.
    public var count: Int
    /// The first losses, in words.
    public var messages: [String]

    /// Creates a report without validation.
    public init(at: Date, count: Int, messages: [String]) {
      self.at = at
      self.count = count
      self.messages = messages
    }
  }

  /// The lease at a WebSub hub, which notifies of changes of the feed.
  public struct WebSub: Sendable, Equatable, Codable {
    /// The state of the lease.
    public enum State: String, Sendable, Codable {
      /// The hub has not confirmed the lease.
      case pending
      /// The hub notifies, and polls are rare.
      case active
    }

    /// The address of the hub.
    public var hub: String
    /// The state of the lease.
    public var state: State
    /// The end of the lease, before which it is renewed; nil before the first confirmation.
    public var leaseEnds: Date?
    /// The time of the last notice of a hub.
    public var lastNotice: Date?
    /// The failure since the last confirmation, in words.
    public var error: String?

    /// Creates a description without validation.
    public init(
      hub: String, state: State, leaseEnds: Date? = nil, lastNotice: Date? = nil, error: String? = nil
    ) {
      self.hub = hub
      self.state = state
      self.leaseEnds = leaseEnds
      self.lastNotice = lastNotice
      self.error = error
    }

    /// The path of the callbacks of hubs, up to their tokens.
    public static let callbackPath = "/v1/websub/"
  }

  /// The id.
  public var id: UUID
  /// The address of the feed in its normal form. The first poll replaces that of a page by that of its feed.
  public var url: String
  /// The name of the feed for editors, by default its own title.
  public var title: String?
  /// The topics of new items. If there are none, the categories of the feed become topics.
  public var topics: [String]
  /// The state of new items.
  public var state: State
  /// The language of entries that name none, by default that of the feed.
  public var language: String?
  /// Whether the feed is not polled.
  public var paused: Bool
  /// The time of the next poll; nil while the feed is paused.
  public var nextPoll: Date?
  /// The time of the last successful poll.
  public var lastSuccess: Date?
  /// The failure since the last success.
  public var lastError: Failure?
  /// The losses of the last poll that has read the feed; nil if nothing was lost.
  public var losses: Losses?
  /// The lease at a hub; nil if the feed has no hub, or the server no public address.
  public var websub: WebSub?
  /// The user for HTTP Basic (RFC 7617); nil for a feed without a password. The password is never returned.
  public var user: String?
  /// The number of writes by editors and of new addresses, 1 or more.
  public var revision: Int

  /// Creates a subscription without validation.
  public init(
    id: UUID, url: String, title: String? = nil, topics: [String] = [], state: State = .published,
    language: String? = nil, paused: Bool = false, nextPoll: Date? = nil, lastSuccess: Date? = nil,
    lastError: Failure? = nil, losses: Losses? = nil, websub: WebSub? = nil, user: String? = nil, revision: Int
  ) {
    self.id = id
    self.url = url
    self.title = title
    self.topics = topics
    self.state = state
    self.language = language
    self.paused = paused
    self.nextPoll = nextPoll
    self.lastSuccess = lastSuccess
    self.lastError = lastError
    self.losses = losses
    self.websub = websub
    self.user = user
    self.revision = revision
  }
}

/// The body of `GET /v1/editorial/subscriptions`.
///
///     let list = try NewsJSON.decode(SubscriptionList.self, from: Data(#"{"subscriptions":[]}"#.utf8))
///     print(list.subscriptions.count { $0.paused })  // 0
public struct SubscriptionList: Sendable, Equatable, Codable {
  /// The subscriptions, ordered by address.
  public var subscriptions: [Subscription]

  /// Creates a list.
  public init(subscriptions: [Subscription]) {
    self.subscriptions = subscriptions
  }
}
