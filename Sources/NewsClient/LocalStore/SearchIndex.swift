import GRDB

/// The full-text index of the stored items. Triggers keep it in the transactions of the items.
enum SearchIndex {
  /// The name of the table.
  static let table = "items_text"

  /// Adds the index, and fills it with the stored items.
  static func addTables(_ db: Database) throws {
    // Stored JSON may be damaged, which must not prevent that the store is opened.
    func values(_ row: String) -> String {
      let json = "CASE WHEN json_valid(CAST(\(row)json AS TEXT)) THEN CAST(\(row)json AS TEXT) ELSE '{}' END"
      return columns.map { "json_extract(\(json), '$.\($0)')" }.joined(separator: ", ")
    }
    let names = columns.joined(separator: ", ")
    try db.execute(
      sql: """
        CREATE VIRTUAL TABLE \(table) USING fts5(\(names), tokenize = 'unicode61 remove_diacritics 2');
        INSERT INTO \(table) (rowid, \(names)) SELECT rowid, \(values("")) FROM items;
        -- A store that an older version has written may have a row for a number that is used again.
        CREATE TRIGGER items_indexed AFTER INSERT ON items BEGIN
          DELETE FROM \(table) WHERE rowid = NEW.rowid;
          INSERT INTO \(table) (rowid, \(names)) VALUES (NEW.rowid, \(values("NEW.")));
        END;
        CREATE TRIGGER items_indexed_again AFTER UPDATE ON items BEGIN
          DELETE FROM \(table) WHERE rowid = OLD.rowid;
          INSERT INTO \(table) (rowid, \(names)) VALUES (NEW.rowid, \(values("NEW.")));
        END;
        CREATE TRIGGER items_not_indexed AFTER DELETE ON items BEGIN
          DELETE FROM \(table) WHERE rowid = OLD.rowid;
        END;
        """)
  }

  private static let columns = ["title", "summary", "text", "author"]
}
