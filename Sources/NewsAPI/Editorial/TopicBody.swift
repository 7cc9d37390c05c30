package import HTTPEdge
import News
import NewsStore

/// The body of an editor's write of a topic.
package struct TopicBody {
  var slug: String?
  var revision: Int?
  var content: TopicContent

  /// Reads a body and checks the rule of each field.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  package init(_ fields: [String: JSONValue], needsSlug: Bool) throws {
    var reader = FieldReader(fields)
    reader.ignore("items", "changed")
    slug = reader.value("slug", rule: .slug) {
      if case .string(let slug) = $0, TopicSlug.isValid(slug) { slug } else { nil }
    }
    if needsSlug, slug == nil, reader.errors.isEmpty { reader.refuse("slug", .required) }
    revision = reader.integer("revision", in: 1...Int.max)
    let position = reader.integer("position", in: -1_000_000...1_000_000) ?? 0
    content = TopicContent(titles: reader.titles(), position: Int32(position))
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
  }
}

extension FieldReader {
  fileprivate mutating func titles() -> [String: String] {
    value("titles", rule: .titles) { value in
      guard case .object(let fields) = value, fields.count <= 64 else { return nil }
      var titles: [String: String] = [:]
      for (language, field) in fields {
        guard LanguageTag.isValid(language), case .string(let title) = field, title.utf8.count <= 256,
          !title.allSatisfy(\.isWhitespace), title.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
        else { return nil }
        titles[language] = title
      }
      return titles
    } ?? [:]
  }
}
