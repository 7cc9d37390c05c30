import Foundation
import News
import PostgresClient

extension NewsItem {
  /// The columns that `init(row:)` reads from `items` as `i`. The caller selects `version` and `updated`, which are
  /// stored in the log.
  static func columns(html: Bool) -> PostgresQuery {
    html ? columnsWithHTML : columnsWithoutHTML
  }

  private static let columnsWithHTML = PostgresQuery(unsafeSQL: "i.id, " + ItemColumn.publicList { "i.\($0.name)" })
  private static let columnsWithoutHTML = PostgresQuery(
    unsafeSQL: "i.id, " + ItemColumn.publicList { $0.name == "html" ? "NULL::text AS html" : "i.\($0.name)" })

  /// Decodes an item. This is the only mapping from columns to properties.
  init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"),
      version: try row.decode("version"),
      date: try row.decode("date"),
      text: try row.decode("text"),
      title: try row.decode("title"),
      summary: try row.decode("summary"),
      html: try row.decode("html"),
      topics: try row.decode("topics"),
      language: try row.decode("language"),
      url: try row.decode("url"),
      author: try row.decode("author"),
      breaking: try row.decode("breaking"),
      attachments: try Attachment.list(from: row.decode("attachments")),
      updated: try row.decode("updated"))
  }
}

extension Attachment {
  static func list(from json: PostgresJSON) throws -> [Attachment] {
    // Most items have no attachments, and a JSON decoder costs more than the rest of the row.
    json.data == Data("[]".utf8) ? [] : try NewsJSON.decode([Attachment].self, from: json.data)
  }

  static func json(of list: [Attachment]) throws -> PostgresJSON {
    PostgresJSON(data: try NewsJSON.encode(list))
  }
}
