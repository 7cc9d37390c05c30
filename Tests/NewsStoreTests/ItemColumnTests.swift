import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct ItemColumnTests {
  @Test("The digest of an item covers the columns that readers see, in the order of their declaration")
  func digest() async throws {
    try await NewsDatabase.withStore { _, sql in
      let expression: String = try await sql.value(
        """
        SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d
        JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE d.adrelid = 'items'::regclass AND a.attname = 'digest'
        """)
      let arguments = ItemColumn.allPublic.map { $0.name == "date" ? "milliseconds(date)" : $0.name }
      #expect(expression == "item_digest(\(arguments.joined(separator: ", ")))")
    }
  }

  @Test("The columns have the types of the schema")
  func types() async throws {
    try await NewsDatabase.withStore { _, sql in
      for column in ItemColumn.all {
        let type: String = try await sql.value(
          """
          SELECT format_type(atttypid, atttypmod) FROM pg_attribute
          WHERE attrelid = 'items'::regclass AND attname = \(column.name)
          """)
        #expect(type == (column.type == "timestamptz" ? "timestamp with time zone" : column.type), "\(column.name)")
      }
    }
  }

  @Test("The history notes a change of each column, and of the reason of a retraction")
  func history() async throws {
    try await NewsDatabase.withStore { _, sql in
      let values = [
        "state": "'review'", "publish_at": "'2026-01-02'", "expire_at": "'2026-01-03'", "has_date": "true",
        "date": "'2026-01-04'", "topics": "'{a}'", "breaking": "true",
        "attachments": #"'[{"url": "https://a.example/"}]'"#,
      ]
      let columns = ItemColumn.all.map(\.name) + ["retraction_reason"]
      for column in columns {
        let id = UUID()
        let hasDate = column == "date"
        _ = try await sql.query(
          "INSERT INTO items (id, state, date, text, has_date) VALUES (\(id), 'draft', '2026-01-01', 'x', \(hasDate))")
        _ = try await sql.query(
          "UPDATE items SET \(unsafeSQL: column) = \(unsafeSQL: values[column] ?? "'new'") WHERE id = \(id)")
        let rows = try await sql.query(
          "SELECT fields[1] AS field FROM item_history WHERE item = \(id) AND revision = 2")
        let words = column.split(separator: "_").map { $0.capitalized }.joined()
        let name = column == "has_date" ? "date" : words.prefix(1).lowercased() + words.dropFirst()
        #expect(try rows.map { try $0.decode("field", as: String.self) } == [name], "\(column)")
        let value = try await sql.query(
          "SELECT item_field(i, \(name)) IS NOT NULL AS has_value FROM items AS i WHERE i.id = \(id)")
        #expect(try value.first?.decode("has_value") == true, "\(column)")
      }
    }
  }
}
