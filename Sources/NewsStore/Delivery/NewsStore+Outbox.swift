public import Foundation
import PostgresClient

extension NewsStore {
  /// The maximum number of rows, and about that of items, which a transaction takes from the outbox.
  private static let outboxRows: Int32 = 500
  private static let outboxItems: Int32 = 5000
  /// The key of the lock for the collection. It is arbitrary, and only has to be the same in all processes.
  private static let outboxLock = 7_161_720_914_262

  /// Turns changes from the outbox into pushes and into deliveries to webhooks, in one transaction.
  ///
  /// Changes join one silent push until it starts. Requested alerts are made once their items are published. An alert for an
  /// item that was taken down is cancelled; devices that may have shown it are woken at once.
  ///
  /// Publishers never wait for it: it locks no item, no scope and no row that they write.
  ///
  /// - Parameters:
  ///   - window: The time from the first change to the start of its silent push.
  ///   - publicURL: The address of the installation without a trailing slash, for webhooks; nil for bodies without
  ///     addresses.
  ///   - now: The current time; nil for that of the database.
  /// - Returns: Whether there are more changes. It is false if another process collects them now.
  public func collectOutbox(
    window: Duration, publicURL: String? = nil, at now: Date? = nil
  ) async throws -> Bool {
    let waiting = try await deliveryDatabase.query("SELECT FROM outbox ORDER BY number LIMIT 1")
    if waiting.isEmpty { return false }
    return try await deliveryDatabase.transaction { transaction in
      let answers = try await transaction.query("SELECT pg_try_advisory_xact_lock(\(Self.outboxLock)) AS is_free")
      guard let row = answers.first, try row.decode("is_free") else { return false }
      let (items, changes) = try await Self.takeChanges(in: transaction)
      guard !items.isEmpty else { return false }
      let alerts = try await transaction.pipeline([
        Self.cancellation(of: items, at: now), Self.release(of: items, at: now),
      ])
      var announced: [UUID: UUID] = [:]
      for row in alerts[0] { announced[try row.decode("item")] = try row.decode("push") }
      var statements = Self.pushes(of: changes, withAlerts: announced, window: window, at: now)
      if !changes.isEmpty {
        statements.append(Self.webhookInsertion(of: changes, publicURL: publicURL, at: now))
      }
      statements.append("SELECT FROM outbox ORDER BY number LIMIT 1")
      let results = try await transaction.commit(after: statements)
      return results.last?.isEmpty == false
    }
  }

  /// Takes the oldest rows.
  ///
  /// - Returns: All items of the rows, and the changes in version order.
  private static func takeChanges(
    in transaction: PostgresTransaction
  ) async throws -> (items: [UUID], changes: [OutboxEvent]) {
    let rows = try await transaction.query(
      """
      WITH oldest AS (
        SELECT o.number, sum(cardinality(o.items)) OVER (ORDER BY o.number) - cardinality(o.items) AS before
        FROM (SELECT number, items FROM outbox ORDER BY number LIMIT \(outboxRows)) AS o
      ), taken AS (
        DELETE FROM outbox AS o USING oldest AS n WHERE o.number = n.number AND n.before < \(outboxItems)
        RETURNING o.*
      )
      SELECT c.item, c.version, c.kind, t.at, ARRAY(
        SELECT l.scope FROM change_log AS l
        WHERE l.item = c.item AND l.scope <> '' AND l.version >= c.version ORDER BY l.scope) AS topics
      FROM taken AS t CROSS JOIN LATERAL unnest(t.items, t.versions, t.kinds) AS c (item, version, kind)
      ORDER BY c.version, t.number
      """)
    let events = try rows.map { row in
      OutboxEvent(
        item: try row.decode("item"), version: try row.decode("version"), kind: try row.value("kind"),
        at: try row.decode("at"), topics: try row.decode("topics"))
    }
    return (Set(events.map(\.item)).sorted { $0.uuidString < $1.uuidString }, events.filter { $0.kind != .alert })
  }

  /// Cancels the alerts for items that are no longer published. It returns those that were made before. A request for an
  /// item that was withdrawn before its alert was made still waits.
  private static func cancellation(of items: [UUID], at now: Date?) -> PostgresQuery {
    """
    WITH \(query: clock(now)), ended AS (
      SELECT a.item, a.push FROM item_alerts AS a JOIN items AS i ON i.id = a.item
      WHERE a.item = ANY (\(items)) AND (
        a.state = 'waiting' AND i.state IN ('retracted', 'expired') OR a.state = 'released' AND i.state <> 'published')
      ORDER BY a.item FOR UPDATE OF a
    ), cancelled AS (
      UPDATE item_alerts AS a SET state = 'cancelled' FROM ended AS e WHERE a.item = e.item
    ), stopped AS (
      UPDATE pushes AS p SET cancelled_at = c.now, fanned_out_at = coalesce(p.fanned_out_at, c.now)
      FROM ended AS e, clock AS c WHERE p.id = e.push
    )
    SELECT e.item, e.push FROM ended AS e WHERE e.push IS NOT NULL
    """
  }

  /// Makes the alerts for items that are published.
  private static func release(of items: [UUID], at now: Date?) -> PostgresQuery {
    """
    WITH \(query: clock(now)), due AS (
      SELECT a.item, gen_random_uuid() AS push, l.version, i.topics, i.language, i.breaking, i.url, t.title, t.body
      FROM item_alerts AS a JOIN items AS i ON i.id = a.item JOIN change_log AS l ON l.item = i.id AND l.scope = ''
        CROSS JOIN LATERAL (\(query: alertTexts)) AS t
      WHERE a.item = ANY (\(items)) AND a.state = 'waiting' AND i.state = 'published' AND l.present
      ORDER BY a.item FOR UPDATE OF a
    ), made AS (
      INSERT INTO pushes (id, kind, item, epoch, version, scopes, content, created_at, starts_at)
        SELECT d.push, 'alert', d.item, \(query: Database.currentEpoch), d.version, d.topics,
          jsonb_build_object('title', d.title, 'body', d.body, 'url', d.url, 'language', d.language,
            'breaking', d.breaking),
          c.now, c.now
        FROM due AS d, clock AS c
    )
    UPDATE item_alerts AS a SET state = 'released', push = d.push FROM due AS d WHERE a.item = d.item
    """
  }

  /// The statements that wake devices: a push of its own for each retraction of an item for which there was an alert, and
  /// one for all other changes.
  private static func pushes(
    of changes: [OutboxEvent], withAlerts announced: [UUID: UUID], window: Duration, at now: Date?
  ) -> [PostgresQuery] {
    let isUrgent = { (event: OutboxEvent) in event.kind == .retracted && announced[event.item] != nil }
    var statements: [PostgresQuery] = changes.filter(isUrgent).map { event in
      """
      WITH \(query: clock(now))
      INSERT INTO pushes (id, kind, item, epoch, version, scopes, created_at, starts_at)
      SELECT gen_random_uuid(), 'retraction', \(event.item), \(query: Database.currentEpoch), \(event.version),
        \(event.topics), c.now, c.now
      FROM clock AS c
      """
    }
    let others = changes.filter { !isUrgent($0) }
    guard let newest = others.last else { return statements }
    let topics = Set(others.flatMap(\.topics)).sorted()
    // The push may start at the same time. The conflict is then none any more, and the row is inserted.
    statements.append(
      """
      WITH \(query: clock(now))
      INSERT INTO pushes AS p (id, kind, item, epoch, version, scopes, created_at, starts_at)
      SELECT gen_random_uuid(), 'silent', \(newest.item), \(query: Database.currentEpoch), \(newest.version), \(topics),
        c.now, c.now + make_interval(secs => \(window / .seconds(1)))
      FROM clock AS c
      ON CONFLICT (kind) WHERE kind = 'silent' AND fan_out_started_at IS NULL DO UPDATE SET item = excluded.item,
        version = greatest(p.version, excluded.version), epoch = excluded.epoch,
        scopes = ARRAY(SELECT s.scope FROM unnest(p.scopes || excluded.scopes) AS s (scope) GROUP BY s.scope
          ORDER BY s.scope)
      """)
    return statements
  }
}
