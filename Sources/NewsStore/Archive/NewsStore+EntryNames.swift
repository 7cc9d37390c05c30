import PostgresClient

/// The items that the entries of an import name.
///
/// The name of an entry is its guid, or what it has in place of one, and its id is made from the source and the name. Some
/// feeds give one guid to several entries, and all entries of some feeds have the same. Such a name is distrusted from the
/// document on that has it twice with different links, and `entry_names` remembers it: from then on, the link and the name
/// together identify an entry (`ImportedItem.linkID`).
///
/// A feed with one guid may also list only one entry at a time. An entry of which neither the link nor the title, the text
/// or the date has stayed is therefore another one, and its name is distrusted too. If one of these has stayed, it is the
/// same entry, so that a changed link alone does not multiply it. Where entries have no links, or one link as their name,
/// the title, the text and the date decide. Without a date, an edited headline is all that an entry has, so that only
/// another link makes it another entry.
extension NewsStore {
  /// Replaces the ids of staged entries by those of the items that they name. The statements are run in this order.
  static let entryResolution: [PostgresQuery] = [distrust, aliases, resolution]

  /// Whether the entry `s` is that of the item `i`, whatever their names.
  private static let isSame: PostgresQuery = """
    (i.source_digest = s.source_digest OR i.url = s.url AND NOT s.is_named_by_link OR \(query: hasNoLink) AND
      CASE WHEN s.title IS NULL THEN i.title IS NULL AND i.text = s.text ELSE i.title = s.title AND i.date = s.date END)
    """

  /// Whether the entry has no link of its own, which would identify it.
  private static let hasNoLink: PostgresQuery = "(s.is_named_by_link OR i.url IS NULL AND s.url IS NULL)"

  /// Remembers names that have named different entries.
  private static let distrust: PostgresQuery = """
    INSERT INTO entry_names (name, item)
    SELECT DISTINCT s.id, NULL::uuid
    FROM imported_entries AS s
      LEFT JOIN entry_names AS n ON n.name = s.id
      LEFT JOIN items AS i ON i.id = coalesce(n.item, s.id)
    WHERE s.link_id IS NOT NULL AND (n.name IS NULL OR n.item IS NOT NULL) AND (
      s.shares_name
      OR s.origin IS NULL AND (i.url <> s.url OR \(query: hasNoLink)) AND i.source_digest <> s.source_digest
        AND (i.title IS NULL OR i.title IS DISTINCT FROM s.title) AND i.text <> s.text
        AND CASE WHEN s.is_first_seen THEN i.url <> s.url ELSE i.date <> s.date END)
    ORDER BY s.id
    ON CONFLICT (name) DO UPDATE SET item = NULL
    """

  /// Remembers the items that were imported under an earlier name of their entry.
  private static let aliases: PostgresQuery = """
    INSERT INTO entry_names (name, item)
    SELECT DISTINCT ON (s.id) s.id, s.earlier_id
    FROM imported_entries AS s JOIN items AS e ON e.id = s.earlier_id
    WHERE NOT EXISTS (SELECT FROM items AS i WHERE i.id = s.id)
    ORDER BY s.id, s.ordinal
    ON CONFLICT DO NOTHING
    """

  /// An entry with a distrusted name is that of the item with the name alone if that item has its link: it was imported
  /// before the name was distrusted. A name with a link that is known was distrusted before, also if that was forgotten.
  private static let resolution: PostgresQuery = """
    UPDATE imported_entries AS s SET id = r.id, origin = NULL
    FROM (
      SELECT s.ordinal, CASE
        WHEN EXISTS (SELECT FROM items AS i WHERE i.id = s.link_id) THEN s.link_id
        WHEN n.name IS NULL THEN s.id
        WHEN n.item IS NOT NULL THEN n.item
        WHEN EXISTS (
          SELECT FROM items AS i WHERE i.id IN (s.id, s.origin) AND i.source = s.source AND \(query: isSame)
        ) THEN s.id
        WHEN EXISTS (SELECT FROM items AS i WHERE i.id = s.earlier_id AND \(query: isSame)) THEN s.earlier_id
        ELSE coalesce(s.link_id, s.id) END AS id
      FROM imported_entries AS s LEFT JOIN entry_names AS n ON n.name = s.id
      WHERE s.link_id IS NOT NULL OR s.earlier_id IS NOT NULL
    ) AS r
    WHERE r.ordinal = s.ordinal AND r.id <> s.id
    """

  /// Whether the staged entry `s` changes the item `i`: the condition of `merge` for one entry.
  static let isChange: PostgresQuery = """
    (i.source_digest <> s.source_digest AND i.state NOT IN ('retracted', 'expired') AND NOT s.is_copy
      AND (i.source = s.source OR s.id IS DISTINCT FROM s.origin))
    """

  /// Removes the entries that change an item, beyond a number, from the staged ones.
  static func postponement(beyond maximum: Int) -> PostgresQuery {
    """
    DELETE FROM imported_entries AS e USING (
      SELECT s.ordinal, row_number() OVER (ORDER BY s.ordinal) AS number
      FROM imported_entries AS s JOIN items AS i ON i.id = s.id WHERE \(query: isChange)
    ) AS changed
    WHERE changed.ordinal = e.ordinal AND changed.number > \(maximum)
    RETURNING e.ordinal
    """
  }

  /// Removes the new entries beyond a number from the staged ones.
  static func deferral(beyond maximum: Int) -> PostgresQuery {
    """
    DELETE FROM imported_entries AS s USING (
      SELECT n.ordinal, row_number() OVER (ORDER BY n.ordinal) AS number
      FROM imported_entries AS n WHERE NOT EXISTS (SELECT FROM items AS i WHERE i.id = n.id)
    ) AS new
    WHERE new.ordinal = s.ordinal AND new.number > \(maximum)
    RETURNING s.ordinal
    """
  }
}
