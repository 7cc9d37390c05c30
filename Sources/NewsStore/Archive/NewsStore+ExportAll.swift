import Foundation
import PostgresClient

/// The numbers of records in the export of a newsroom.
public struct NewsroomCounts: Sendable, Equatable {
  /// The records by their kind: `item`, `topic`, `media`, `withdrawnMedia`, `subscription`, `history`.
  public var records: [String: Int] = [:]
}

extension NewsStore {
  /// The number of rows that are read at a time.
  private static let recordPage = 50

  /// Reads the whole newsroom from one snapshot, as lines of JSON. Each line is an object with one member, whose name is the
  /// kind of the record.
  ///
  /// The texts of erased items are not among them; the items are, so that an import does not bring them back from their
  /// source. API keys are left out, because their secrets are not known.
  ///
  /// - Parameters:
  ///   - history: Whether the history of the items is included.
  ///   - take: Receives the lines without line breaks. More are read after it has returned.
  public func exportNewsroom(
    history: Bool, _ take: @Sendable (_ lines: [String]) async throws -> Void
  ) async throws -> NewsroomCounts {
    try await database.withConnection { connection in
      _ = try await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      // The transaction holds no locks that others wait for, and writing the output may take long.
      _ = try await connection.query("SET LOCAL idle_in_transaction_session_timeout = 0")
      try await take([#"{"newsroom":{"history":\#(history)}}"#])
      var counts = NewsroomCounts()
      for (kind, records) in Self.records where history || kind != "history" {
        _ = try await connection.query(
          """
          DECLARE records CURSOR FOR
            SELECT jsonb_strip_nulls(jsonb_build_object('\(unsafeSQL: kind)', r.record))::text AS line
            FROM (\(query: records)) AS r
          """)
        while true {
          let rows = try await connection.query("FETCH \(unsafeSQL: String(Self.recordPage)) FROM records")
          if rows.isEmpty { break }
          try await take(try rows.map { try $0.decode("line") })
          counts.records[kind, default: 0] += rows.count
        }
        _ = try await connection.query("CLOSE records")
      }
      _ = try await connection.query("COMMIT")
      return counts
    }
  }

  /// The statements that select records in the order in which an import needs them.
  private static let records: [(kind: String, query: PostgresQuery)] = [
    (
      "topic",
      """
      SELECT jsonb_build_object('slug', t.slug, 'titles', t.titles, 'position', t.position, 'revision', t.revision) AS record
      FROM topics AS t ORDER BY t.slug
      """
    ),
    (
      "media",
      """
      SELECT jsonb_build_object('id', m.id, 'sha256', encode(m.sha256, 'hex'), 'type', m.type, 'bytes', m.bytes,
        'width', m.width, 'height', m.height, 'name', m.name, 'created', json_date(m.created_at)) AS record
      FROM media AS m ORDER BY m.id
      """
    ),
    ("item", itemRecords),
    (
      "withdrawnMedia",
      """
      SELECT jsonb_build_object('id', w.media, 'reason', w.reason) AS record FROM withdrawn_media AS w ORDER BY w.media
      """
    ),
    (
      "subscription",
      """
      SELECT jsonb_build_object('id', s.id, 'url', s.url, 'title', s.title, 'topics', s.topics, 'state', s.state,
        'language', s.language, 'paused', s.paused, 'revision', s.revision) AS record
      FROM subscriptions AS s ORDER BY s.url
      """
    ),
    (
      "history",
      """
      SELECT jsonb_build_object('item', h.item, 'revision', h.revision, 'at', json_date(h.at), 'editor', h.editor,
        'state', h.state, 'fields', h.fields, 'replaced', h.replaced) AS record
      FROM item_history AS h ORDER BY h.number
      """
    ),
  ]

  private static let itemRecords: PostgresQuery = """
    SELECT jsonb_build_object('id', i.id, 'state', i.state, 'revision', i.revision, 'created', json_date(i.created_at),
        'edited', json_date(coalesce(i.written_at, i.created_at)), 'date', json_date(i.date),
        'dated', CASE WHEN NOT i.has_date THEN false END, 'publishAt', json_date(i.publish_at),
        'expireAt', json_date(i.expire_at), 'title', i.title, 'summary', i.summary, 'text', nullif(i.text, ''),
        'html', i.html, 'topics', i.topics, 'language', i.language, 'url', i.url, 'author', i.author,
        'breaking', i.breaking, 'attachments', i.attachments, 'source', i.source, 'guid', i.source_guid,
        'sourceDigest', encode(i.source_digest, 'hex'), 'retractionReason', i.retraction_reason,
        'erased', json_date(i.erased_at),
        'gone', CASE WHEN i.state <> 'published' THEN coalesce(c.reason, g.reason) END) AS record
    FROM items AS i LEFT JOIN change_log AS c ON c.item = i.id AND c.scope = ''
      LEFT JOIN gone_items AS g ON g.item = i.id
    ORDER BY i.date, i.id
    """
}
