import Foundation
import News
import NewsStore

/// A public read: all that the target of a request says.
struct PublicRead: Sendable {
  let key: ViewKey
  /// The token of a state that must have been reached.
  var at: SyncToken?
  /// Whether the client waits for a change.
  var isLongPoll = false
}

/// The reads by route. Each is made from the query of a target: the text after the question mark.
extension PublicRead {
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func items(_ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(
      query,
      known: ["limit", "cursor", "topics", "language", "author", "from", "to", "breaking", "q", "include", "at"])
    var query = ItemQuery(
      scope: parameters.scope(),
      limit: parameters.integer("limit", in: 1...200, default: 50),
      language: parameters.value("language", rule: .languageTag) {
        LanguageTag.isValid($0) ? $0 : nil
      },
      author: parameters.text("author", maximumBytes: 256),
      from: parameters.date("from"),
      to: parameters.date("to"),
      isBreaking: parameters.bool("breaking"),
      search: parameters.text("q", maximumBytes: 256).map(SearchQuery.init),
      includesHTML: parameters.includesHTML())
    let at = parameters.token("at")
    query.after = parameters.cursor(PageCursor(query))
    try parameters.check()
    return PublicRead(key: .items(query), at: at)
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func item(_ id: UUID, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["include", "at"])
    let includesHTML = parameters.includesHTML()
    let at = parameters.token("at")
    try parameters.check()
    return PublicRead(key: .item(id, html: includesHTML), at: at)
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func changes(_ query: String?) throws -> PublicRead { PublicRead(try ChangeRequest(query)) }

  init(_ request: ChangeRequest) {
    // A request that waits has done so before it is read (`LongPolls`).
    self.init(key: .changes(request.query), at: request.at, isLongPoll: request.wait != nil)
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func state(_ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return PublicRead(key: .state(scope))
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func topics(_ query: String?) throws -> PublicRead {
    try QueryParameters(query, known: []).check()
    return PublicRead(key: .topics)
  }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func topic(_ slug: String, _ query: String?) throws -> PublicRead {
    try QueryParameters(query, known: []).check()
    return PublicRead(key: .topic(slug))
  }
}
