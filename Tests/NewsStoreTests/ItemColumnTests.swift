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
}
