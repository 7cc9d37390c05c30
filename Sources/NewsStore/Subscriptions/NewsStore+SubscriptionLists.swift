public import Foundation
public import News
import PostgresClient

/// A page of subscriptions, for editors.
public struct SubscriptionQuery: Sendable, Equatable {
  /// The restriction of a list of subscriptions.
  public enum Health: String, Sendable, CaseIterable {
    /// The last poll has failed, and the feed is not paused.
    case failing
    /// The feed is not polled.
    case paused
  }

  /// The health of the subscriptions; nil for all.
  public var health: Health?
  /// A text that the title or the address contains, in upper or lower case; nil for all.
  public var search: String?
  /// The maximum number of subscriptions, 1 or more.
  public var limit: Int
  /// The number of subscriptions on the pages before, 0 or more.
  public var offset: Int

  /// Creates a query. The default is the first page of all subscriptions.
  public init(health: Health? = nil, search: String? = nil, limit: Int = 50, offset: Int = 0) {
    self.health = health
    self.search = search
    self.limit = limit
    self.offset = offset
  }
}

/// A subscription in a list of editors.
public struct ListedSubscription: Sendable, Equatable {
  /// The subscription.
  public var subscription: Subscription
  /// The number of polls that have failed since the last success.
  public var failures: Int
}

/// A page of subscriptions.
public struct SubscriptionListPage: Sendable, Equatable {
  /// The subscriptions: those that fail first, each group ordered by address.
  public var subscriptions: [ListedSubscription]
  /// Whether further ones follow.
  public var hasMore: Bool
  /// The number of all subscriptions, whatever the query selects.
  public var total: Int
  /// The number of subscriptions of each health, whatever the query selects.
  public var counts: [SubscriptionQuery.Health: Int]
}

extension NewsStore {
  private static let isFailing: PostgresQuery = "(NOT s.paused AND s.error_at IS NOT NULL)"

  /// Reads a page of subscriptions.
  ///
  /// - Throws: `StoreError.unavailable`.
  public func subscriptions(_ query: SubscriptionQuery) async throws -> SubscriptionListPage {
    var conditions: PostgresQuery = "true"
    switch query.health {
    case .failing?: conditions = Self.isFailing
    case .paused?: conditions = "s.paused"
    case nil: break
    }
    if let search = query.search {
      // LIKE would give some characters a meaning.
      conditions =
        "\(query: conditions) AND strpos(lower(concat_ws(' ', s.title, s.url)), lower(\(search)::text)) > 0"
    }
    let answers = try await database.snapshot([
      """
      SELECT count(*) AS total, count(*) FILTER (WHERE \(query: Self.isFailing)) AS failing,
        count(*) FILTER (WHERE s.paused) AS paused
      FROM subscriptions AS s
      """,
      """
      SELECT \(query: Subscription.columns), s.failures FROM subscriptions AS s WHERE \(query: conditions)
      ORDER BY \(query: Self.isFailing) DESC, s.url LIMIT \(query.limit + 1) OFFSET \(query.offset)
      """,
    ])
    guard let counts = answers[0].first else { throw StoreFault("a count returned no row") }
    let subscriptions = try answers[1].prefix(query.limit).map { row in
      ListedSubscription(subscription: try Subscription(row: row), failures: try row.decode("failures"))
    }
    return SubscriptionListPage(
      subscriptions: subscriptions, hasMore: answers[1].count > query.limit, total: try counts.decode("total"),
      counts: [.failing: try counts.decode("failing"), .paused: try counts.decode("paused")])
  }

  /// Returns the number of polls of a subscription that have failed since the last success; 0 if there is none.
  public func failedPolls(of id: UUID) async throws -> Int {
    let rows = try await database.query("SELECT s.failures FROM subscriptions AS s WHERE s.id = \(id)")
    return try rows.first?.decode("failures") ?? 0
  }

  /// Finds the subscription with an address; nil if there is none.
  ///
  /// - Parameter url: The address in its normal form.
  public func subscription(withURL url: String) async throws -> Subscription? {
    try await database.query("\(query: Subscription.selection) WHERE s.url = \(url)").first
      .map(Subscription.init(row:))
  }
}
