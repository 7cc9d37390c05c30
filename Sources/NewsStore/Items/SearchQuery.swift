import PostgresClient

/// What a reader searches for: words and phrases in double quotes, all of which an item must have, and those after a
/// minus sign, none of which it may have. Where there is no word at all, nothing is found.
public struct SearchQuery: Sendable, Hashable {
  struct Term: Hashable {
    var text: String
    var isExcluded = false
  }

  /// As the reader wrote it.
  public let text: String
  let terms: [Term]

  /// Reads a query; a quote that is not closed is closed by the end.
  public init(_ text: String) {
    var terms: [Term] = []
    // By scalars: a comparison of characters takes quadratic time in their combining characters.
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

  /// Whether there is something that items must have, and not only what they may not have.
  var hasWords: Bool {
    terms.contains { !$0.isExcluded && $0.text.contains { $0.isLetter || $0.isNumber } }
  }

  /// The query as a `tsquery` (PostgreSQL, chapter 12.3.2): words as they are written, or as the language inflects
  /// them. What has no word in it, such as a lone minus sign, drops out there.
  ///
  /// - Parameter language: A BCP 47 tag; where it is nil, words count as they are written only.
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
