public import Foundation
public import News
import PostgresClient

/// The editable content of a topic.
public struct TopicContent: Sendable, Equatable {
  /// The titles, by BCP 47 language tag.
  public var titles: [String: String]
  /// The sort position. Topics are listed by position, then by slug.
  public var position: Int32

  /// Creates content. A write replaces the existing content in full.
  public init(titles: [String: String], position: Int32) {
    self.titles = titles
    self.position = position
  }

  init(_ topic: Topic) {
    self.init(titles: topic.titles, position: Int32(clamping: topic.position))
  }

  var titlesJSON: PostgresJSON {
    get throws { PostgresJSON(data: try NewsJSON.encode(titles)) }
  }
}

/// The titles of all topics.
public struct TopicTitles: Sendable {
  /// A topic without the facts about its items.
  public struct Topic: Sendable {
    /// The slug, `[a-z0-9-]{1,64}`.
    public let slug: String
    /// The titles by BCP 47 language tag.
    public let titles: [String: String]
  }

  /// The topics, ordered by position and slug.
  public let topics: [Topic]
  /// The time of the last change of a title or position, of the last creation or deletion.
  public let changed: Date
  /// The version of the snapshot, with the revision of the topics.
  public let feedVersion: FeedVersion

  /// The titles in all languages, by slug.
  public var bySlug: [String: [String]] {
    Dictionary(topics.map { ($0.slug, Array($0.titles.values)) }, uniquingKeysWith: +)
  }

  /// Whether the titles are those of a state.
  public func areCurrent(in snapshot: FeedSnapshot) -> Bool {
    snapshot.feedVersion.epoch == feedVersion.epoch && snapshot.feedVersion.topicsRevision == feedVersion.topicsRevision
  }
}

extension NewsStore {
  /// Reads all topics with their revisions, ordered by position and slug.
  ///
  /// - Returns: The topics and the version of the snapshot.
  public func topics() async throws -> (topics: [Topic], feedVersion: FeedVersion) {
    let (rows, feedVersion) = try await rows("\(query: Topic.selection) ORDER BY t.position, t.slug")
    return (try rows.map(Topic.init(row:)), feedVersion)
  }

  /// Reads one topic.
  ///
  /// - Returns: The topic and the version of the snapshot.
  /// - Throws: `StoreError.notFound`.
  public func topic(_ slug: String) async throws -> (topic: Topic, feedVersion: FeedVersion) {
    let (rows, feedVersion) = try await rows("\(query: Topic.selection) WHERE t.slug = \(slug)")
    return (try Topic(row: rows.found()), feedVersion)
  }

  private func rows(_ query: PostgresQuery) async throws -> (rows: PostgresRows, feedVersion: FeedVersion) {
    let queries = [FeedVersion.query, query]
    let found = await fromReplica(queries) { answers in
      // A topic that is missing here may have just been created on the primary.
      if answers[1].isEmpty { throw StoreError.notFound }
      let feedVersion = try FeedVersion(rows: answers[0])
      return ((rows: answers[1], feedVersion: feedVersion), feedVersion)
    }
    if let found { return found }
    let answers = try await database.snapshot(queries)
    return (answers[1], try FeedVersion(rows: answers[0]))
  }

  /// Reads the titles of all topics from the primary.
  public func topicTitles() async throws -> TopicTitles {
    // The scope of a deleted topic remains, and its time is that of the deletion.
    let changed: PostgresQuery = """
      SELECT greatest(
        (SELECT max(t.updated) FROM topics AS t),
        (SELECT max(s.changed_at) FROM scopes AS s
          WHERE s.scope <> '' AND NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = s.scope))) AS changed
      """
    let answers = try await database.snapshot([
      FeedVersion.query, "SELECT t.slug, t.titles FROM topics AS t ORDER BY t.position, t.slug", changed,
    ])
    let topics = try answers[1].map { row in
      TopicTitles.Topic(slug: try row.decode("slug"), titles: try row.json("titles"))
    }
    return TopicTitles(
      topics: topics, changed: try answers[2].first?.decode("changed", as: Date?.self) ?? .distantPast,
      feedVersion: try FeedVersion(rows: answers[0]))
  }

  /// Creates a topic. The call is idempotent: a repeat with the same content has no effect.
  ///
  /// - Parameter once: The request, if it may be repeated.
  /// - Throws: `StoreError.alreadyExists` if the slug is taken by other content; `outcomeUnknown`; with `once` also
  ///   `AnsweredBefore`, `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func createTopic(
    _ slug: String, _ content: TopicContent, once: RepeatableWrite<(topic: Topic, created: Bool)>? = nil
  ) async throws -> (topic: Topic, created: Bool) {
    let titles = try content.titlesJSON
    let made = try await transaction(once) { transaction in
      let inserted = try await transaction.pipeline([
        "INSERT INTO scopes (scope) VALUES (\(slug)) ON CONFLICT DO NOTHING",
        """
        INSERT INTO topics (slug, titles, position) VALUES (\(slug), \(titles), \(content.position))
        ON CONFLICT DO NOTHING RETURNING slug
        """,
      ])
      let topic = try await Self.lockedTopic(slug, in: transaction)
      let created = !inserted[1].isEmpty
      guard created || TopicContent(topic) == content else { throw StoreError.alreadyExists }
      return (topic: topic, created: created)
    }
    try await waitForTopics()
    return made
  }

  /// Replaces the content of a topic. Equal content is not written.
  ///
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`, `outcomeUnknown`.
  public func replaceTopic(
    _ slug: String, _ content: TopicContent, if precondition: WritePrecondition
  ) async throws -> Topic {
    let titles = try content.titlesJSON
    let written = try await database.transaction { transaction in
      let topic = try await Self.lockedTopic(slug, in: transaction)
      try precondition.check(revision: topic.revision)
      if TopicContent(topic) == content { return topic }
      _ = try await transaction.query(
        """
        UPDATE topics SET titles = \(titles), position = \(content.position), revision = revision + 1,
          updated = greatest(date_trunc('milliseconds', clock_timestamp()), updated + interval '1 millisecond')
        WHERE slug = \(slug)
        """)
      return try await Self.lockedTopic(slug, in: transaction)
    }
    try await waitForTopics()
    return written
  }

  /// Selects those of the slugs that no topic has, as `slug`.
  static func unknownTopics(_ slugs: [String]) -> PostgresQuery {
    """
    SELECT w.slug FROM unnest(\(slugs)) AS w (slug)
    WHERE NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = w.slug)
    """
  }

  /// - Throws: `StoreError.unknownTopics` if one of the slugs has no topic.
  static func requireTopics(_ slugs: [String], in transaction: PostgresTransaction) async throws {
    let unknown = try await transaction.query(unknownTopics(slugs)).map { try $0.decode("slug", as: String.self) }
    if !unknown.isEmpty { throw StoreError.unknownTopics(unknown) }
  }

  static func lockedTopic(_ slug: String, in transaction: PostgresTransaction) async throws -> Topic {
    let rows = try await transaction.query("\(query: Topic.selection) WHERE t.slug = \(slug) FOR UPDATE OF t")
    return try Topic(row: rows.found())
  }
}

extension FeedVersion {
  /// Selects the version as one row, with the revision of the topics.
  fileprivate static let query: PostgresQuery = """
    SELECT \(query: Database.currentEpoch) AS epoch, s.version,
      topics_revision() AS topics
    FROM scopes AS s WHERE s.scope = ''
    """

  fileprivate init(rows: PostgresRows) throws {
    guard let row = rows.first else { throw StoreFault("the row of the feed is missing") }
    self.init(
      epoch: try row.decode("epoch"), version: try row.decode("version"), topicsRevision: try row.decode("topics"))
  }
}
