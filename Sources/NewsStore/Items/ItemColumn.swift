import Foundation
import News
import PostgresClient

/// A column of `items` that holds a property of `ItemContent`.
///
/// `all` is the only list of these columns. The SELECT lists, the values of INSERT and UPDATE, the rows of COPY, the
/// erasure and the comparison of contents are made from it. A test compares it with the arguments of `item_digest()`.
package struct ItemColumn: Sendable {
  /// A property of the content, by the type of its column.
  enum Property: Sendable {
    case text(@Sendable (ItemContent) -> String?)
    case texts(@Sendable (ItemContent) -> [String])
    case date(@Sendable (ItemContent) -> Date?)
    case boolean(@Sendable (ItemContent) -> Bool)
    case attachments(@Sendable (ItemContent) -> [Attachment])
  }

  /// The name of the column.
  package let name: String
  let property: Property
  /// Whether readers see the column. Imports and exports contain only these columns, and each is part of the digest.
  let isPublic: Bool
  /// The value of the column, as SQL, for content without one; nil for NULL.
  private let replacement: String?
  /// The value of the column in an erased item, as SQL. It is nil if an erasure leaves the value unchanged.
  let erased: String?

  private init(
    _ name: String, _ property: Property, isPublic: Bool = true, ifNull replacement: String? = nil,
    erased: String? = "NULL"
  ) {
    self.name = name
    self.property = property
    self.isPublic = isPublic
    self.replacement = replacement
    self.erased = erased
  }

  /// The columns in the order of the arguments of `item_digest()`.
  package static let all = [
    ItemColumn("state", .text { $0.state.rawValue }, isPublic: false, erased: nil),
    ItemColumn("publish_at", .date { $0.publishAt }, isPublic: false, erased: nil),
    ItemColumn("expire_at", .date { $0.expireAt }, isPublic: false, erased: nil),
    ItemColumn("has_date", .boolean { $0.hasDate }, isPublic: false, erased: nil),
    // Without a date, the item has that of the write.
    ItemColumn(
      "date", .date { $0.date }, ifNull: "date_trunc('milliseconds', clock_timestamp())", erased: nil),
    ItemColumn("title", .text { $0.title }),
    ItemColumn("summary", .text { $0.summary }),
    ItemColumn("text", .text { $0.text }, erased: "''"),
    ItemColumn("html", .text { $0.html }),
    ItemColumn("topics", .texts { $0.topics }, erased: nil),
    ItemColumn("language", .text { $0.language }),
    ItemColumn("url", .text { $0.url }),
    ItemColumn("author", .text { $0.author }),
    ItemColumn("breaking", .boolean { $0.breaking }, erased: "false"),
    ItemColumn("attachments", .attachments { $0.attachments }, erased: "'[]'"),
  ]

  /// The columns that readers see.
  package static let allPublic = all.filter(\.isPublic)

  /// The type of the column in PostgreSQL.
  package var type: String {
    switch property {
    case .text: "text"
    case .texts: "text[]"
    case .date: "timestamptz"
    case .boolean: "boolean"
    case .attachments: "jsonb"
    }
  }

  /// Whether the column has the same value in two contents.
  ///
  /// Texts are compared by their bytes. `String` also equates canonically equivalent texts, and the comparison takes
  /// time quadratic in their length.
  func isEqual(in one: ItemContent, and other: ItemContent) -> Bool {
    switch property {
    case .text(let text): text(one).map { Array($0.utf8) } == text(other).map { Array($0.utf8) }
    case .texts(let texts): texts(one) == texts(other)
    case .date(let date): date(one) == date(other)
    case .boolean(let boolean): boolean(one) == boolean(other)
    case .attachments(let attachments): attachments(one) == attachments(other)
    }
  }

  /// Appends the value to a row for COPY.
  func append(_ content: ItemContent, to row: inout PostgresCopyWriter) {
    switch property {
    case .text(let text): row.append(text(content))
    case .texts(let texts): row.append(texts(content))
    case .date(let date): row.append(date(content))
    case .boolean(let boolean): row.append(boolean(content))
    case .attachments(let attachments): row.append(Attachment.json(of: attachments(content)))
    }
  }

  /// Appends the values of several contents to a statement as one array. The topics of a content are one text, because
  /// an array of arrays would need them to be equally many.
  private func append(_ contents: [ItemContent], to query: inout PostgresQuery.StringInterpolation) {
    switch property {
    case .text(let text): query.appendInterpolation(contents.map(text))
    case .texts(let texts): query.appendInterpolation(contents.map { texts($0).joined(separator: ",") })
    case .date(let date): query.appendInterpolation(contents.map(date))
    case .boolean(let boolean): query.appendInterpolation(contents.map(boolean))
    case .attachments(let attachments):
      query.appendInterpolation(contents.map { Attachment.json(of: attachments($0)) })
    }
  }

  /// The value of the column in a row of such arrays, as SQL.
  func element(of row: String) -> String {
    if case .texts = property { return "string_to_array(\(row).\(name), ',')" }
    return replacement.map { "coalesce(\(row).\(name), \($0))" } ?? "\(row).\(name)"
  }
}

/// The lists of SQL. Their text is the same for each content, so that prepared statements are reused.
extension ItemColumn {
  /// The names of all columns: `state, date, …`
  static let names = all.map(\.name).joined(separator: ", ")

  /// The names of the columns that readers see.
  static let publicNames = allPublic.map(\.name).joined(separator: ", ")

  /// Makes a list with an element for each column that readers see: `i.date, i.title, …`
  static func publicList(_ element: (ItemColumn) -> String) -> String {
    allPublic.map(element).joined(separator: ", ")
  }

  /// The assignments that erase an item: `title = NULL, …`
  static let erasure = all.compactMap { column in column.erased.map { "\(column.name) = \($0)" } }
    .joined(separator: ", ")

  /// The values of all columns of several contents, an array for each column: `$1, $2, …`
  static func arrays(of contents: [ItemContent]) -> PostgresQuery {
    var query = PostgresQuery.StringInterpolation(literalCapacity: all.count * 2, interpolationCount: all.count)
    for (index, column) in all.enumerated() {
      if index > 0 { query.appendLiteral(", ") }
      column.append(contents, to: &query)
    }
    return PostgresQuery(stringInterpolation: query)
  }

  /// The values of all columns in a row of those arrays: `v.state, v.date, …`
  static func elements(of row: String) -> String {
    all.map { $0.element(of: row) }.joined(separator: ", ")
  }

  /// The assignments of all columns from such a row: `state = v.state, date = v.date, …`
  static func assignments(from row: String) -> String {
    all.map { "\($0.name) = \($0.element(of: row))" }.joined(separator: ", ")
  }
}

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

  static func json(of list: [Attachment]) -> PostgresJSON {
    var json = JSONWriter(capacity: 2 + 256 * list.count)
    json.write(list)
    return PostgresJSON(data: Data(json.bytes))
  }
}
