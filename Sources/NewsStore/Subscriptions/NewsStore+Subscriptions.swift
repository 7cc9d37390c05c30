public import Foundation
public import News
import PostgresClient

/// The editable content of a subscription. The caller has validated each field.
public struct SubscriptionContent: Sendable, Equatable {
  /// The address in its normal form.
  public var url: String
  /// The name for editors.
  public var title: String?
  /// Sorted slugs without duplicates.
  public var topics: [String]
  /// The state of new items.
  public var state: Subscription.State
  /// A BCP 47 tag.
  public var language: String?
  /// Whether the feed is not polled.
  public var paused: Bool
  /// The user for HTTP Basic; nil for a feed without a password.
  public var user: String?
  /// The new password; nil to keep the stored one.
  public var password: String?

  /// Creates content.
  public init(
    url: String, title: String? = nil, topics: [String] = [], state: Subscription.State = .published,
    language: String? = nil, paused: Bool = false, user: String? = nil, password: String? = nil
  ) {
    self.url = url
    self.title = title
    self.topics = topics
    self.state = state
    self.language = language
    self.paused = paused
    self.user = user
    self.password = password
  }

  /// The current content of a subscription, which keeps its password.
  public init(_ subscription: Subscription) {
    self.init(
      url: subscription.url, title: subscription.title, topics: subscription.topics, state: subscription.state,
      language: subscription.language, paused: subscription.paused, user: subscription.user)
  }

  /// The maximum length of a password, in bytes.
  package static let maximumPasswordBytes = 1024

  /// Returns the rules that a user and a password of HTTP Basic (RFC 7617 section 2) break, with the names of their fields.
  package static func brokenRules(user: String?, password: String?) -> [(field: String, rule: FieldRule)] {
    var broken: [(field: String, rule: FieldRule)] = []
    if let user, user.isEmpty || user.contains(":") || user.utf8.count > 256 || user.hasControlCharacters {
      broken.append(("user", "must have 1 to 256 bytes, without colons and control characters"))
    }
    if let password, password.utf8.count > maximumPasswordBytes || password.hasControlCharacters {
      broken.append(("password", "must have at most \(maximumPasswordBytes) bytes and no control characters"))
    } else if password != nil, user == nil {
      broken.append(("user", .required))
    }
    return broken
  }
}

extension NewsStore {
  /// Reads all subscriptions, ordered by address.
  public func subscriptions() async throws -> [Subscription] {
    try await database.query("\(query: Subscription.selection) ORDER BY s.url").map(Subscription.init(row:))
  }

  /// Reads a subscription.
  ///
  /// - Throws: `StoreError.notFound`.
  public func subscription(_ id: UUID) async throws -> Subscription {
    try Subscription(row: await database.query("\(query: Subscription.selection) WHERE s.id = \(id)").found())
  }

  /// Creates a subscription, which is polled at once.
  ///
  /// - Parameter once: The request, if it may be repeated.
  /// - Throws: `StoreError.unknownTopics`; `alreadyFollowed` if another subscription has the address; `invalidFields` if the
  ///   password cannot be stored; `outcomeUnknown`; with `once` also `AnsweredBefore`, `requestInProgress`,
  ///   `idempotencyKeyReused`, `answerErased`.
  public func createSubscription(
    _ id: UUID, _ content: SubscriptionContent, once: RepeatableWrite<Subscription>? = nil
  ) async throws -> Subscription {
    let password = try sealedPassword(content, of: id)
    return try await transaction(once) { transaction in
      try await Self.requireTopics(content.topics, in: transaction)
      let inserted = try await transaction.query(
        """
        INSERT INTO subscriptions (id, url, title, topics, state, language, paused, user_name, sealed_password)
        VALUES (\(id), \(content.url), \(content.title), \(content.topics), \(content.state.rawValue),
          \(content.language), \(content.paused), \(content.user), \(password))
        ON CONFLICT (url) DO NOTHING RETURNING id
        """)
      if inserted.isEmpty { throw try await Self.conflict(content.url, in: transaction) }
      return try await Self.lockedSubscription(id, in: transaction)
    }
  }

  /// Changes a subscription. Equal content is not written. A feed with a new address is polled at once. A feed that was
  /// paused is polled as soon as its server allows it.
  ///
  /// - Parameter change: Returns the new content. It runs again after a deadlock.
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`, `unknownTopics`, `alreadyFollowed`,
  ///   `invalidFields` if the password cannot be stored, or is missing; `outcomeUnknown`; the error of `change`.
  public func modifySubscription(
    _ id: UUID, if precondition: WritePrecondition, _ change: @Sendable (Subscription) throws -> SubscriptionContent
  ) async throws -> Subscription {
    // A paused feed needs no lease at a hub.
    defer { hubActivity.signal() }
    return try await database.transaction { transaction in
      let subscription = try await Self.lockedSubscription(id, in: transaction)
      try precondition.check(revision: subscription.revision)
      let content = try change(subscription)
      if content == SubscriptionContent(subscription) { return subscription }
      try await Self.requireTopics(content.topics, in: transaction)
      let password = try self.sealedPassword(content, of: id, before: subscription)
      if content.url != subscription.url {
        let other = try await transaction.query("SELECT 1 FROM subscriptions WHERE url = \(content.url)")
        if !other.isEmpty { throw try await Self.conflict(content.url, in: transaction) }
      }
      _ = try await transaction.query(
        """
        UPDATE subscriptions SET url = \(content.url), title = \(content.title), topics = \(content.topics),
          state = \(content.state.rawValue), language = \(content.language), paused = \(content.paused),
          user_name = \(content.user), revision = revision + 1,
          sealed_password = CASE WHEN \(content.user == nil) THEN NULL ELSE coalesce(\(password), sealed_password) END
        WHERE id = \(id)
        """)
      if content.url != subscription.url {
        _ = try await transaction.query(
          // The facts about the last feed do not apply to the new one. A poll under way loses its lease.
          """
          UPDATE subscriptions SET next_poll = clock_timestamp(), not_before = NULL, poll_wanted = false, failures = 0,
            etag = NULL, last_modified = NULL, pacing = NULL, last_success = NULL, error_at = NULL, error_status = NULL,
            error_message = NULL, losses = NULL, new_items_since = NULL, lease = NULL, leased_until = NULL
          WHERE id = \(id)
          """)
      } else if subscription.paused, !content.paused {
        _ = try await transaction.query(
          """
          UPDATE subscriptions AS s
          SET next_poll = greatest(clock_timestamp(), not_before), poll_wanted = true, failures = 0,
            new_items_since = NULL
          WHERE id = \(id)
          """)
      }
      return try await Self.lockedSubscription(id, in: transaction)
    }
  }

  /// Deletes a subscription. Its items stay.
  ///
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`, `outcomeUnknown`.
  public func removeSubscription(_ id: UUID, if precondition: WritePrecondition) async throws {
    defer { hubActivity.signal() }
    try await database.transaction { transaction in
      try precondition.check(revision: try await Self.lockedSubscription(id, in: transaction).revision)
      _ = try await transaction.query("DELETE FROM subscriptions WHERE id = \(id)")
    }
  }

  /// Encrypts the new password of a subscription. One that is stored is for its user and origin only.
  ///
  /// - Returns: nil for none, and to keep the stored one.
  private func sealedPassword(
    _ content: SubscriptionContent, of id: UUID, before: Subscription? = nil
  ) throws -> Data? {
    guard let user = content.user else { return nil }
    let origin = FeedCredentials.origin(of: content.url)
    guard let password = content.password else {
      if before?.user == user, before.map({ FeedCredentials.origin(of: $0.url) }) == origin { return nil }
      throw StoreError.invalidFields([FieldError(field: "password", breaks: .passwordAgain)])
    }
    guard let passwordKey else { throw StoreError.invalidFields([FieldError(field: "password", breaks: .passwordKey)]) }
    return try passwordKey.seal(password, origin: origin, subscription: id)
  }

  static func lockedSubscription(_ id: UUID, in transaction: PostgresTransaction) async throws -> Subscription {
    let rows = try await transaction.query("\(query: Subscription.selection) WHERE s.id = \(id) FOR UPDATE OF s")
    return try Subscription(row: rows.found())
  }

  private static func conflict(_ url: String, in transaction: PostgresTransaction) async throws -> StoreError {
    let rows = try await transaction.query("SELECT id FROM subscriptions WHERE url = \(url)")
    // It may have been deleted meanwhile, so that a repeat succeeds.
    return try rows.first.map { .alreadyFollowed(try $0.decode("id")) } ?? .unavailable
  }
}

extension Subscription {
  /// The columns and the table that `init(row:)` reads. A WHERE clause may follow.
  static let selection: PostgresQuery = "SELECT \(query: columns) FROM subscriptions AS s"

  static let columns: PostgresQuery = """
    s.id, s.url, s.title, s.topics, s.state, s.language, s.paused, s.revision, s.user_name,
    CASE WHEN NOT s.paused THEN date_trunc('milliseconds', s.next_poll) END AS next_poll,
    date_trunc('milliseconds', s.last_success) AS last_success,
    date_trunc('milliseconds', s.error_at) AS error_at, s.error_status, s.error_message, s.losses,
    (SELECT jsonb_strip_nulls(jsonb_build_object('hub', l.hub, 'state', l.state, 'leaseEnds', json_date(l.expires_at),
      'lastNotice', json_date(s.pushed_at), 'error', l.error))
    FROM hub_leases AS l WHERE l.subscription = s.id AND l.state <> 'ending') AS websub
    """

  init(row: PostgresRow) throws {
    let at: Date? = try row.decode("error_at")
    let message: String? = try row.decode("error_message")
    let status: Int? = try row.decode("error_status")
    self.init(
      id: try row.decode("id"), url: try row.decode("url"), title: try row.decode("title"),
      topics: try row.decode("topics"), state: State(rawValue: try row.decode("state")) ?? .draft,
      language: try row.decode("language"), paused: try row.decode("paused"), nextPoll: try row.decode("next_poll"),
      lastSuccess: try row.decode("last_success"),
      lastError: at.flatMap { at in message.map { Failure(at: at, status: status, message: $0) } },
      losses: try row.decode("losses", as: PostgresJSON?.self).map {
        try NewsJSON.decode(Losses.self, from: $0.data)
      },
      websub: try row.decode("websub", as: PostgresJSON?.self).map { try NewsJSON.decode(WebSub.self, from: $0.data) },
      user: try row.decode("user_name"), revision: try row.decode("revision"))
  }
}
