public import Foundation
public import News
import PostgresClient

/// The request of an editor for an alert, of which an item has one at most.
public struct AlertRequest: Sendable, Equatable {
  /// The progress of a request.
  public enum State: String, Sendable, CaseIterable {
    /// The item is not published yet, or was a moment ago.
    case waiting
    /// The alert was made.
    case released
    /// The item was taken down.
    case cancelled
  }

  /// Whether the request was made by this call; false in a request that is read.
  public var isNew: Bool
  /// The progress.
  public var state: State
  /// The alert; nil unless it was made.
  public var push: UUID?
  /// Whether no device got the alert, so that the item can have another one.
  public var isUnused = false
}

extension NewsStore {
  /// The maximum numbers of characters of the visible part of an alert.
  private static let (alertTitleLength, alertBodyLength): (Int32, Int32) = (200, 500)

  /// Requests an alert for an item. It is made once the item is published. An item with a request gets no second one, unless
  /// no device got the alert and there is one that would get it now.
  ///
  /// - Parameters:
  ///   - access: The rights of the author.
  ///   - editor: The author.
  ///   - once: The request, if it may be repeated.
  /// - Throws: `StoreError.notFound`, `topicsNotAllowed`, `publishingNotAllowed`, `retracted`, `outcomeUnknown`; with
  ///   `once` also `AnsweredBefore`, `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func requestAlert(
    item id: UUID, access: ItemAccess = .full, by editor: Editor? = nil, once: RepeatableWrite<AlertRequest>? = nil
  ) async throws -> AlertRequest {
    try await transaction(once) { transaction in
      let rows = try await transaction.query(
        "SELECT topics, state, retraction_reason FROM items WHERE id = \(id) FOR NO KEY UPDATE")
      let row = try rows.found()
      try access.check(try row.decode("topics"))
      guard access.mayPublish else { throw StoreError.publishingNotAllowed }
      let state: EditorialItem.State = try row.value("state")
      if state == .retracted || state == .expired {
        throw StoreError.retracted(
          reason: state == .retracted ? .retracted : .expired, detail: try row.decode("retraction_reason"))
      }
      let answers = try await transaction.pipeline([
        Self.alertRequests([(item: id, editor: editor, isUnchanged: true)]), Self.alert(of: id),
      ])
      guard var request = try answers[1].first.map(AlertRequest.init(row:)) else {
        throw StoreFault("a request for an alert left no row")
      }
      request.isNew = try answers[0].first?.decode("requests", as: Int.self) ?? 0 > 0
      return request
    }
  }

  /// Returns the request for an alert for an item; nil if there is none.
  public func alert(of item: UUID) async throws -> AlertRequest? {
    try await database.query(Self.alert(of: item)).first.map(AlertRequest.init(row:))
  }

  /// Returns the visible part of an alert for an item, as it would be made now; nil if there is no such item.
  package func alertContent(of item: UUID) async throws -> PushAlert? {
    try await database.query(
      """
      SELECT t.title, t.body, i.url, i.breaking
      FROM items AS i CROSS JOIN LATERAL (\(query: Self.alertTexts)) AS t WHERE i.id = \(item)
      """
    ).first.map { row in
      PushAlert(
        title: try row.decode("title"), body: try row.decode("body"), url: try row.decode("url"),
        breaking: try row.decode("breaking"))
    }
  }

  /// Selects the texts of an item `i` that an alert shows, each on one line: the columns `title` and `body`.
  static let alertTexts: PostgresQuery = """
    SELECT coalesce(nullif(x.title, ''), left(x.body, \(alertTitleLength))) AS title,
      CASE WHEN x.title <> '' THEN x.body ELSE '' END AS body
    FROM (
      SELECT left(btrim(regexp_replace(i.title, '\\s+', ' ', 'g')), \(alertTitleLength)) AS title,
        left(btrim(regexp_replace(left(coalesce(i.summary, i.text), 4096), '\\s+', ' ', 'g')), \(alertBodyLength))
          AS body
    ) AS x
    """

  private static func alert(of item: UUID) -> PostgresQuery {
    "SELECT a.state, a.push, \(query: isUnused) AS is_unused FROM item_alerts AS a WHERE a.item = \(item)"
  }

  /// The condition that no device got the alert of a request `a`.
  private static let isUnused: PostgresQuery = """
    (a.state = 'released' AND EXISTS (
      SELECT FROM pushes AS u
      WHERE u.id = a.push AND u.fanned_out_at IS NOT NULL AND u.audience <= coalesce(
        (SELECT r.dropped FROM push_results AS r WHERE r.push = u.id), 0)))
    """

  /// The condition that a device would get an alert for the item of a request `a` now.
  private static let hasListener: PostgresQuery = """
    EXISTS (
      SELECT FROM (SELECT clock_timestamp() AS now) AS c CROSS JOIN (
          SELECT i.topics AS scopes, i.language, i.breaking FROM items AS i WHERE i.id = a.item
        ) AS p JOIN devices AS d ON \(query: wantsAlert)
      WHERE p.breaking OR quiet_until(c.now, d.time_zone, d.quiet_from, d.quiet_to) IS NULL)
    """

  /// Notes requests for alerts, in the transaction of the writes that make them and before `publish()`. Items that are
  /// published already get a row in the outbox, because they may not change. It returns the number of new requests.
  ///
  /// - Parameter requests: Different items, with the authors. An item that is not unchanged counts only if the transaction
  ///   has written it.
  static func alertRequests(_ requests: [(item: UUID, editor: Editor?, isUnchanged: Bool)]) -> PostgresQuery {
    """
    WITH asked AS (
      INSERT INTO item_alerts AS a (item, editor)
        SELECT n.item, n.editor
        FROM unnest(\(requests.map(\.item)), \(requests.map { $0.editor?.text }), \(requests.map(\.isUnchanged)))
          AS n (item, editor, is_unchanged)
        WHERE EXISTS (
          SELECT FROM items AS i WHERE i.id = n.item AND (n.is_unchanged OR i.xmin = pg_current_xact_id()::xid)
        )
        ORDER BY n.item
      ON CONFLICT (item) DO UPDATE SET state = 'waiting', push = NULL, editor = excluded.editor
        WHERE \(query: isUnused) AND \(query: hasListener)
      RETURNING a.item
    ), present AS (
      SELECT array_agg(l.item ORDER BY l.version) AS items, array_agg(l.version ORDER BY l.version) AS versions,
        max(l.version) AS version
      FROM asked AS a JOIN change_log AS l ON l.item = a.item AND l.scope = '' WHERE l.present
    ), noted AS (
      INSERT INTO outbox (version, at, items, versions, kinds)
        SELECT p.version, clock_timestamp(), p.items, p.versions,
          array_fill(\(OutboxEvent.Kind.alert.rawValue)::text, ARRAY[cardinality(p.items)])
        FROM present AS p WHERE p.items IS NOT NULL
    )
    SELECT count(*) AS requests FROM asked
    """
  }

  /// Counts the devices that an alert for an item would reach now.
  ///
  /// - Parameters:
  ///   - access: The rights of the reader.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.notFound`, `topicsNotAllowed`.
  public func alertAudience(
    of item: UUID, access: ItemAccess = .full, at now: Date? = nil
  ) async throws -> PushAudience {
    let items = try await database.query("SELECT topics FROM items WHERE id = \(item)")
    let row = try items.found()
    try access.check(try row.decode("topics"))
    // All devices are read: an index on topics would cost each registration more than this rare question.
    let counts = try await database.query(
      """
      WITH \(query: Self.clock(now)), p AS (
        SELECT i.topics AS scopes, i.language, i.breaking FROM items AS i WHERE i.id = \(item)
      )
      SELECT d.provider, count(*) AS devices, count(*) FILTER (
          WHERE NOT p.breaking AND quiet_until(c.now, d.time_zone, d.quiet_from, d.quiet_to) IS NOT NULL) AS quiet
      FROM clock AS c CROSS JOIN p JOIN devices AS d ON \(query: Self.wantsAlert)
      GROUP BY d.provider
      """)
    var audience = PushAudience(devices: 0, quiet: 0, providers: [:])
    for row in counts {
      let (all, quiet) = (try row.decode("devices", as: Int.self), try row.decode("quiet", as: Int.self))
      audience.quiet += quiet
      if all > quiet { audience.providers[try row.value("provider")] = all - quiet }
      audience.devices += all - quiet
    }
    return audience
  }

  /// The condition that a device `d` receives pushes with the topics of `p` at the time of `c`.
  static let isReached: PostgresQuery = """
    d.state = 'active' AND d.expires_at > c.now AND (d.topics IS NULL OR d.topics && p.scopes)
      AND (d.token_error_at IS NULL OR d.token_error_at <= c.now - interval '1 day')
    """

  /// The condition that a device `d` wants an alert in the language of `p`, which is known to all if it is NULL (basic
  /// filtering, RFC 4647 section 3.3.1).
  static let wantsAlert: PostgresQuery = """
    (\(query: isReached) AND d.alerts AND (d.languages IS NULL OR p.language IS NULL OR EXISTS (
      SELECT FROM unnest(d.languages) AS l (tag) WHERE starts_with(lower(p.language) || '-', l.tag || '-'))))
    """
}

extension AlertRequest {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      isNew: false, state: try row.value("state"), push: try row.decode("push"), isUnused: try row.decode("is_unused"))
  }
}
