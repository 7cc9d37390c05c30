public import Foundation
import News
import PostgresClient
import Synchronization

/// An item for an import.
public struct ImportedItem: Sendable, Equatable {
  /// The id, the same in every import of the same entry.
  public var id: UUID
  /// The identifier of the source. It is nil, as are `guid` and `digest`, in the copy of an item that an editor
  /// created.
  public var source: String?
  /// The identifier of the item at its source.
  public var guid: String?
  /// The digest of the source's entry. An entry with the same digest is not applied again.
  public var digest: Data?
  /// The content. Its state, `published` or `draft`, is that of a new item; an existing item keeps its own.
  public var content: ItemContent
  /// Whether the item comes from an export. Such a copy never overwrites an existing item.
  public var isCopy: Bool
  /// Whether the source gives no date, so that the content's date is the time at which the entry was seen. Only a new
  /// item receives it, at most the time of the database. An existing item keeps its date.
  public var isDateFirstSeen: Bool
  /// The id that the item has on the server that created it; nil if it is unknown. A new item receives it in place of
  /// `id`. If an item has it already, that item was created here, or has come from another source, and stays as it is.
  public var origin: UUID?
  /// The id in place of `id` if the entry shares its name with others: that of its name and its link, file or text.
  /// nil if the source gives the id.
  public var linkID: UUID?
  /// Whether the link says nothing beside the name, because it is the name or the page of the whole feed.
  public var isNamedByLink: Bool
  /// The id that the entry may have been imported with under an earlier name; nil for none.
  public var earlierID: UUID?
  /// Whether the name does not identify the entry, because the document has another entry with it.
  public var sharesName: Bool

  /// Creates an item for an import.
  public init(
    id: UUID, source: String?, guid: String?, digest: Data?, content: ItemContent, isCopy: Bool = false,
    isDateFirstSeen: Bool = false, origin: UUID? = nil, linkID: UUID? = nil, isNamedByLink: Bool = false,
    earlierID: UUID? = nil, sharesName: Bool = false
  ) {
    self.id = id
    self.source = source
    self.guid = guid
    self.digest = digest
    self.content = content
    self.isCopy = isCopy
    self.isDateFirstSeen = isDateFirstSeen
    self.origin = origin
    self.linkID = linkID
    self.isNamedByLink = isNamedByLink
    self.earlierID = earlierID
    self.sharesName = sharesName
  }
}

/// The outcomes of an import, as numbers of items.
public struct ImportCounts: Sendable, Equatable, Codable {
  /// The items that were new.
  public var inserted = 0
  /// The items whose source entry had changed.
  public var updated = 0
  /// The items whose source entry had not changed, and the copies of existing items.
  public var unchanged = 0
  /// The items that are retracted, expired or created here, and repeated ids within one call.
  public var skipped = 0
  /// The new items that were left out because of a limit. They are not stored.
  public var deferred = 0
  /// The items whose change was left out because of a limit. They stay as they were.
  public var postponed = 0

  /// Creates counts of zero.
  public init() {}

  /// Adds the counts of another import.
  public static func += (sum: inout ImportCounts, part: ImportCounts) {
    sum.inserted += part.inserted
    sum.updated += part.updated
    sum.unchanged += part.unchanged
    sum.skipped += part.skipped
    sum.deferred += part.deferred
    sum.postponed += part.postponed
  }
}

/// The maximum numbers of items that an import writes.
public struct ImportLimits: Sendable {
  /// The maximum number of new items. Further ones are counted as deferred; nil for no limit.
  public var new: Int?
  /// The maximum number of changed items. Further ones are counted as postponed; nil for no limit.
  public var changed: Int?

  /// Creates limits, by default without bounds.
  public init(new: Int? = nil, changed: Int? = nil) {
    self.new = new
    self.changed = changed
  }
}

extension NewsStore {
  /// The maximum number of items for one call of `importItems`, which publishes them together.
  public static let largestImport = 1000

  /// Creates the topics that do not exist. Existing topics are left unchanged.
  ///
  /// - Parameter topics: The content of the topics, by slug.
  public func ensureTopics(_ topics: [String: TopicContent]) async throws {
    guard !topics.isEmpty else { return }
    let slugs = topics.keys.sorted()
    let titles = try slugs.map { String(decoding: try NewsJSON.encode(topics[$0]?.titles), as: UTF8.self) }
    let positions = slugs.map { topics[$0]?.position ?? 0 }
    try await database.transaction { transaction in
      _ = try await transaction.pipeline([
        "INSERT INTO scopes (scope) SELECT unnest(\(slugs)) ON CONFLICT DO NOTHING",
        """
        INSERT INTO topics (slug, titles, position)
          SELECT n.slug, n.titles::jsonb, n.position
          FROM unnest(\(slugs), \(titles), \(positions)) AS n (slug, titles, position)
        ON CONFLICT DO NOTHING
        """,
      ])
    }
  }

  /// Imports items in one transaction.
  ///
  /// An existing item is overwritten only if its source's entry has changed since the last import, which preserves the
  /// edits made here. Retracted and expired items, and items created here, are left unchanged. A copy is written only
  /// if its item does not exist.
  ///
  /// - Parameters:
  ///   - items: At most `largestImport` items, whose topics exist. The last of several items with the same id is used.
  ///   - limits: The maximum numbers of items. Those that come first in the list are written.
  public func importItems(_ items: [ImportedItem], limits: ImportLimits = ImportLimits()) async throws -> ImportCounts {
    let counts = try await importTogether(items, limits)
    let (before, after) = importedEntries.add(counts.inserted + counts.updated, ordering: .relaxed)
    // If it fails, the next chunk or an insertion will merge.
    if before / Self.entriesPerMerge != after / Self.entriesPerMerge { try? await mergeSearchIndex() }
    return counts
  }

  /// The number of imported items after which the search index is merged.
  private static let entriesPerMerge = 2000

  /// Returns the positions of the items that an import would write. Nothing is stored.
  ///
  /// - Parameters:
  ///   - items: At most `largestImport` items, whose topics need not exist.
  ///   - limits: The maximum numbers of items.
  package func itemsToImport(_ items: [ImportedItem], limits: ImportLimits) async throws -> Set<Int> {
    let rows = try await Self.copyRows(items)
    do {
      return try await database.transaction { transaction in
        _ = try await Self.stage(items, rows, limits, in: transaction)
        throw Preview(written: Set(try await transaction.query(Self.written).map { try $0.decode("ordinal") }))
      }
    } catch let end as Preview {
      return end.written
    }
  }

  /// The end of a transaction that writes nothing.
  private struct Preview: Error {
    let written: Set<Int>
  }

  /// Copies items into a temporary table, finds their ids, and removes those beyond the limits.
  ///
  /// - Returns: The numbers of deferred and postponed items.
  private static func stage(
    _ items: [ImportedItem], _ rows: [[UInt8]], _ limits: ImportLimits, in transaction: PostgresTransaction
  ) async throws -> ImportCounts {
    _ = try await transaction.pipeline([staging, replanning])
    _ = try await transaction.copyIn("COPY imported_entries FROM STDIN", rows: rows)
    if items.contains(where: { $0.linkID != nil || $0.earlierID != nil }) {
      _ = try await transaction.pipeline(entryResolution)
    }
    if items.contains(where: { $0.origin != nil }) { _ = try await transaction.query(adoption) }
    var counts = ImportCounts()
    if let maximum = limits.new { counts.deferred = try await transaction.query(deferral(beyond: maximum)).count }
    if let maximum = limits.changed, maximum < items.count {
      counts.postponed = try await transaction.query(postponement(beyond: maximum)).count
    }
    return counts
  }

  private func importTogether(_ items: [ImportedItem], _ limits: ImportLimits) async throws -> ImportCounts {
    let rows = try await Self.copyRows(items)
    return try await database.transaction { transaction in
      var counts = try await Self.stage(items, rows, limits, in: transaction)
      let written = try await transaction.query(Self.merge)
      var changed: [UUID] = []
      for row in written {
        switch try row.decode("outcome", as: String.self) {
        case "inserted": counts.inserted += 1
        case "updated": counts.updated += 1
        case "unchanged": counts.unchanged += 1
        default: counts.skipped += 1
        }
        if try row.decode("written") { changed.append(try row.decode("id")) }
      }
      // A repeated id within the chunk counts as skipped.
      counts.skipped += items.count - counts.deferred - counts.postponed - written.count
      if !changed.isEmpty {
        _ = try await transaction.commit(after: "SELECT count(*) FROM publish(\(changed))")
      }
      return counts
    }
  }

  /// A pooler may keep the sessions of other versions, so that the name changes with the columns.
  private static let staging: PostgresQuery = """
    CREATE TEMPORARY TABLE IF NOT EXISTS imported_entries (
      ordinal bigint, id uuid, state text, source text, source_guid text, source_digest bytea,
      \(unsafeSQL: ItemColumn.publicList { "\($0.name) \($0.type)" }), is_copy boolean, is_first_seen boolean, origin uuid,
      link_id uuid, is_named_by_link boolean, earlier_id uuid, shares_name boolean)
      ON COMMIT DELETE ROWS
    """

  /// The tables grow during the session. A plan made for small tables would read them in full for each chunk.
  private static let replanning: PostgresQuery = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"

  /// Gives items the ids of their origin. Entries that were imported before origins were known keep theirs.
  private static let adoption: PostgresQuery = """
    UPDATE imported_entries AS s SET id = s.origin
    WHERE s.origin IS NOT NULL AND NOT EXISTS (SELECT FROM items AS i WHERE i.id = s.id)
    """

  /// `b` is the item before the statement, from its snapshot. The row at the time of writing decides whether it is
  /// written.
  private static let merge: PostgresQuery = """
    WITH staged AS (
      SELECT DISTINCT ON (id) * FROM imported_entries ORDER BY id, ordinal DESC
    ), written AS (
      INSERT INTO items AS i (
          id, state, editor, editor_revision, source, source_guid, source_digest, \(unsafeSQL: ItemColumn.publicNames))
        SELECT id, state, 'import', 1, source, source_guid, source_digest,
          \(unsafeSQL: ItemColumn.publicList { newValue(of: $0) })
          FROM staged ORDER BY id
        ON CONFLICT (id) DO UPDATE SET source = excluded.source, source_guid = excluded.source_guid,
          source_digest = excluded.source_digest, editor = excluded.editor, editor_revision = i.revision + 1,
          \(unsafeSQL: ItemColumn.publicList { "\($0.name) = \(updatedValue(of: $0))" })
        WHERE i.source_digest <> excluded.source_digest AND i.state NOT IN ('retracted', 'expired')
          AND i.id <> ALL (ARRAY(SELECT id FROM staged WHERE is_copy))
          AND (i.source = excluded.source OR i.id <> ALL (ARRAY(SELECT id FROM staged WHERE id = origin)))
        RETURNING i.id
    )
    SELECT s.id, w.id IS NOT NULL AS written,
      CASE WHEN w.id IS NOT NULL THEN CASE WHEN b.id IS NULL THEN 'inserted' ELSE 'updated' END
        WHEN (s.is_copy OR b.source_digest = s.source_digest) AND b.state NOT IN ('retracted', 'expired') THEN 'unchanged'
        ELSE 'skipped' END AS outcome
    FROM staged AS s LEFT JOIN written AS w ON w.id = s.id LEFT JOIN items AS b ON b.id = s.id
    """

  /// The staged items that `merge` would write, as far as the present rows show.
  private static let written: PostgresQuery = """
    SELECT s.ordinal FROM imported_entries AS s LEFT JOIN items AS i ON i.id = s.id
    WHERE i.id IS NULL OR \(query: isChange)
    """

  /// The value of a column of a new item. The clock of the process that read the entry may be wrong.
  private static func newValue(of column: ItemColumn) -> String {
    column.name != "date"
      ? column.name
      : "CASE WHEN is_first_seen THEN least(date, date_trunc('milliseconds', clock_timestamp())) ELSE date END"
  }

  /// The value of a column of an existing item that is overwritten.
  private static func updatedValue(of column: ItemColumn) -> String {
    column.name != "date"
      ? "excluded.\(column.name)"
      : "CASE WHEN i.id = ANY (ARRAY(SELECT id FROM staged WHERE is_first_seen)) THEN i.date ELSE excluded.date END"
  }

  private static func copyRows(_ items: [ImportedItem]) async throws -> [[UInt8]] {
    let bytes = items.reduce(0) { $0 + $1.content.text.utf8.count + ($1.content.html?.utf8.count ?? 0) }
    return try await ComputePool.shared.slices(
      .feed, for: QueueParty.current ?? "", bytes: bytes, Array(items.enumerated())
    ) { ordinal, item in
      var writer = PostgresCopyWriter()
      writer.append(ordinal)
      writer.append(item.id)
      writer.append(item.content.state.rawValue)
      writer.append(item.source)
      writer.append(item.guid)
      writer.append(item.digest)
      for column in ItemColumn.allPublic { column.append(item.content, to: &writer) }
      writer.append(item.isCopy)
      writer.append(item.isDateFirstSeen)
      writer.append(item.origin)
      writer.append(item.linkID)
      writer.append(item.isNamedByLink)
      writer.append(item.earlierID)
      writer.append(item.sharesName)
      writer.endRow()
      return writer.take()
    }
  }
}
