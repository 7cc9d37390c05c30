import PostgresClient

/// A full-text search. An item must have all words and all phrases in double quotes, and none of those after a minus
/// sign. A query without words finds nothing.
public struct SearchQuery: Sendable, Hashable {
  struct Term: Hashable {
    var text: String
    var isExcluded = false
  }

  /// The original text of the query.
  public let text: String
  let terms: [Term]

  /// Parses a query. The end of the text closes an open quote.
  public init(_ text: String) {
    var terms: [Term] = []
    // Unicode scalars, because comparing characters takes time quadratic in their combining characters.
    var rest = text.unicodeScalars[...]
    while let start = rest.firstIndex(where: { !$0.properties.isWhitespace }) {
      rest = rest[start...]
      let isExcluded = rest.first == "-"
      if isExcluded { rest.removeFirst() }
      let isPhrase = rest.first == "\""
      if isPhrase { rest.removeFirst() }
      let end = rest.firstIndex { isPhrase ? $0 == "\"" : $0.properties.isWhitespace || $0 == "\"" } ?? rest.endIndex
      terms.append(Term(text: String(rest[..<end]), isExcluded: isExcluded))
      rest = isPhrase ? rest[end...].dropFirst() : rest[end...]
    }
    self.text = text
    self.terms = terms
  }

  /// Whether the query has a word or phrase that items must have.
  var hasWords: Bool {
    terms.contains { !$0.isExcluded && $0.text.contains { $0.isLetter || $0.isNumber } }
  }

  /// The query as a `tsquery` (PostgreSQL, chapter 12.3.2), for words as written and for the inflected forms of a
  /// language. A term without words, such as a lone minus sign, is dropped by PostgreSQL.
  ///
  /// - Parameter language: A BCP 47 tag; with nil, words match only as written.
  func tsquery(language: String?) -> PostgresQuery {
    terms.reduce("''::tsquery") { query, term in
      let written: PostgresQuery = "phraseto_tsquery('pg_catalog.simple', \(term.text))"
      var either = written
      if let language {
        either = "(\(query: written) || phraseto_tsquery(search_configuration(\(language)), \(term.text)))"
      }
      return "\(query: query) && \(unsafeSQL: term.isExcluded ? "!! " : "")\(query: either)"
    }
  }
}
