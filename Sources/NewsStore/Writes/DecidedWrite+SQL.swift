import Foundation
import News
import PostgresClient

extension DecidedWrite {
  /// The ids of the required files as one text, because an array of arrays would need them to be equally many.
  fileprivate var requiredFileList: String { requiredFiles.map(\.uuidString).joined(separator: ",") }
}

/// The statements that write the entries of a group.
extension [DecidedWrite] {
  /// Locks the files that the entries require, so that none of them is removed before the commit.
  var fileLock: PostgresQuery {
    "SELECT m.id FROM media AS m WHERE m.id = ANY (\(flatMap(\.requiredFiles))) ORDER BY m.id FOR SHARE"
  }

  /// The columns of a written item `i` from which `DecidedWrite.Row` is read.
  private static let resultColumns: PostgresQuery = """
    i.revision, i.date, date_trunc('milliseconds', i.created_at) AS created,
      date_trunc('milliseconds', i.written_at) AS written
    """

  /// Creates the items of entries with new ids whose topics and files exist. It returns a row for each created item. An id
  /// that exists after all is an error, because looking for each would take longer.
  var creation: PostgresQuery {
    """
    INSERT INTO items AS i (id, editor, editor_revision, \(unsafeSQL: ItemColumn.names))
      SELECT n.id, n.editor, 1, \(unsafeSQL: ItemColumn.elements(of: "n"))
      FROM unnest(\(map(\.id)), \(map { $0.editor?.text }), \(map(\.requiredFileList)),
          \(query: ItemColumn.arrays(of: map(\.content))))
        AS n (id, editor, files, \(unsafeSQL: ItemColumn.names))
      WHERE NOT EXISTS (
        SELECT 1 FROM unnest(string_to_array(n.topics, ',')) AS w (slug)
        WHERE NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = w.slug)
      ) AND NOT EXISTS (
        SELECT 1 FROM unnest(string_to_array(n.files, ',')::uuid[]) AS w (id)
        WHERE NOT EXISTS (SELECT 1 FROM media AS m WHERE m.id = w.id)
      )
      ORDER BY n.id
      RETURNING i.id, \(query: Self.resultColumns)
    """
  }

  /// Writes each entry whose topics and files exist. It returns a row for each entry, in order; without a revision, the
  /// entry was not written.
  var statement: PostgresQuery {
    """
    WITH given AS (
      SELECT * FROM unnest(\(map(\.id)), \(map { $0.existing?.revision }), \(map(\.isRetraction)),
        \(map(\.retractionReason)), \(map { $0.editor?.text }), \(map(\.requiredFileList)),
        \(query: ItemColumn.arrays(of: map(\.content))))
        WITH ORDINALITY AS g (
          id, revision, is_retraction, retraction_reason, editor, files, \(unsafeSQL: ItemColumn.names), number)
    ), checked AS (
      SELECT g.*,
        ARRAY(
          SELECT w.slug FROM unnest(string_to_array(g.topics, ',')) AS w (slug)
          WHERE NOT g.is_retraction AND NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = w.slug)
        ) AS unknown_topics,
        ARRAY(
          SELECT w.id FROM unnest(string_to_array(g.files, ',')::uuid[]) AS w (id)
          WHERE NOT EXISTS (SELECT 1 FROM media AS m WHERE m.id = w.id)
        ) AS unknown_files
      FROM given AS g
    ), valid AS (
      SELECT * FROM checked AS c WHERE cardinality(c.unknown_topics) = 0 AND cardinality(c.unknown_files) = 0
    ), inserted AS (
      INSERT INTO items AS i (id, editor, editor_revision, \(unsafeSQL: ItemColumn.names))
        SELECT v.id, v.editor, 1, \(unsafeSQL: ItemColumn.elements(of: "v"))
          FROM valid AS v WHERE v.revision IS NULL ORDER BY v.id
        ON CONFLICT (id) DO NOTHING RETURNING i.id, \(query: Self.resultColumns)
    ), updated AS (
      UPDATE items AS i
        SET \(unsafeSQL: ItemColumn.assignments(from: "v")), editor = v.editor, editor_revision = i.revision + 1
        FROM valid AS v WHERE i.id = v.id AND i.revision = v.revision AND NOT v.is_retraction
        RETURNING i.id, \(query: Self.resultColumns)
    ), retracted AS (
      UPDATE items AS i
        SET state = 'retracted', retraction_reason = v.retraction_reason, editor = v.editor,
          editor_revision = i.revision + 1
        FROM valid AS v WHERE i.id = v.id AND i.revision = v.revision AND v.is_retraction
        RETURNING i.id, \(query: Self.resultColumns)
    )
    SELECT c.unknown_topics, c.unknown_files, w.*
    FROM checked AS c LEFT JOIN (
      SELECT * FROM inserted UNION ALL SELECT * FROM updated UNION ALL SELECT * FROM retracted
    ) AS w ON w.id = c.id
    ORDER BY c.number
    """
  }

  /// Publishes the items that the transaction has written. Others may have become locked elsewhere.
  var publication: PostgresQuery {
    """
    SELECT p.item, p.version, p.updated
    FROM publish(ARRAY(
      SELECT i.id FROM items AS i WHERE i.id = ANY (\(map(\.id))) AND i.xmin = pg_current_xact_id()::xid
    )) AS p
    """
  }

  /// Publishes the items that `creation` has made. Nobody else can have written them.
  var firstPublication: PostgresQuery {
    "SELECT p.item, p.version, p.updated FROM publish(\(map(\.id))) AS p"
  }
}
