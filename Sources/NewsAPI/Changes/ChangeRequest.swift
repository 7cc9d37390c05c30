import News
import NewsStore

/// The parameters of a request for `/v1/changes`.
struct ChangeRequest: Sendable {
  var query: ChangeQuery
  /// The token of a state that must have been reached before anything is read.
  var at: SyncToken?
  /// For how many seconds the answer may wait for something new; nil to have it at once.
  var wait: Int?

  /// Proxies commonly give up after 60.
  private static let longestWait = 50

  /// - Parameter query: As it stands in the target of the request.
  /// - Throws: `ProblemError` that names what is wrong.
  init(_ query: String?) throws {
    var parameters = QueryParameters(query, known: ["since", "topics", "limit", "include", "at", "wait"])
    self.query = ChangeQuery(
      scope: parameters.scope(),
      since: parameters.token("since"),
      limit: parameters.integer("limit", in: 1...1000, default: 200),
      includesHTML: parameters.includesHTML())
    at = parameters.token("at")
    wait = parameters.integer("wait", in: 1...Self.longestWait)
    if wait != nil, self.query.since == nil { parameters.refuse("wait", "needs since: without it there is a snapshot") }
    try parameters.check()
  }
}
