import GRDB

/// The full-text indexes of the stored and the staged items. Triggers keep them in the transactions of the items.
enum SearchIndex {
  /// Adds the index of a table, and fills it with the items of the table.
  static func addTables(_ db: Database, for table: ItemTable.Name = .items) throws {
    let names = columns.joined(separator: ", ")
    try db.execute(
      sql: """
        CREATE VIRTUAL TABLE \(table.searchIndex) USING fts5(\(names), tokenize = 'unicode61 remove_diacritics 2');
        INSERT INTO \(table.searchIndex) (rowid, \(names)) SELECT rowid, \(values("")) FROM \(table.rawValue);
        """)
    try addTriggers(db, to: table)
  }

  /// Adds the triggers that keep the index of a table.
  static func addTriggers(_ db: Database, to table: ItemTable.Name) throws {
    let (items, index, names) = (table.rawValue, table.searchIndex, columns.joined(separator: ", "))
    try db.execute(
      sql: """
        -- A store that an older version has written may have a row for a number that is used again.
        CREATE TRIGGER \(items)_indexed AFTER INSERT ON \(items) BEGIN
          DELETE FROM \(index) WHERE rowid = NEW.rowid;
          INSERT INTO \(index) (rowid, \(names)) VALUES (NEW.rowid, \(values("NEW.")));
        END;
        CREATE TRIGGER \(items)_indexed_again AFTER UPDATE ON \(items) BEGIN
          DELETE FROM \(index) WHERE rowid = OLD.rowid;
          INSERT INTO \(index) (rowid, \(names)) VALUES (NEW.rowid, \(values("NEW.")));
        END;
        CREATE TRIGGER \(items)_not_indexed AFTER DELETE ON \(items) BEGIN
          DELETE FROM \(index) WHERE rowid = OLD.rowid;
        END;
        """)
  }

  /// Removes the triggers that keep the index of a table.
  static func removeTriggers(_ db: Database, of table: ItemTable.Name) throws {
    for suffix in ["indexed", "indexed_again", "not_indexed"] {
      try db.execute(sql: "DROP TRIGGER IF EXISTS \(table.rawValue)_\(suffix)")
    }
  }

  private static let columns = ["title", "summary", "text", "author"]

  /// Returns the indexed texts of a row. Stored JSON may be damaged, which must not prevent that the store is opened.
  private static func values(_ row: String) -> String {
    let json = "CASE WHEN json_valid(CAST(\(row)json AS TEXT)) THEN CAST(\(row)json AS TEXT) ELSE '{}' END"
    return columns.map { "json_extract(\(json), '$.\($0)')" }.joined(separator: ", ")
  }
}
