import News
import NewsStore

/// The parameters of a request for changes.
struct ChangeRequest: Sendable {
  var query: ChangeQuery
  /// The token of a state that must be reached before the read.
  var at: SyncToken?
  /// The maximum wait for a change in seconds; nil to respond at once.
  var wait: Int?

  /// The maximum of `wait` in seconds. Proxies commonly give up after 60.
  private static let maximumWait = 50

  /// - Parameter query: The text after the question mark of the target.
  /// - Throws: `ProblemError` that names the parameter and the rule.
  init(_ query: String?) throws {
    var parameters = QueryParameters(query, known: ["since", "topics", "limit", "include", "at", "wait"])
    self.query = ChangeQuery(
      scope: parameters.scope(),
      since: parameters.token("since"),
      limit: parameters.integer("limit", in: 1...1000, default: 200),
      includesHTML: parameters.includesHTML())
    at = parameters.token("at")
    wait = parameters.integer("wait", in: 1...Self.maximumWait)
    if wait != nil, self.query.since == nil {
      parameters.refuse("wait", "requires since; a request without since returns a snapshot at once")
    }
    try parameters.check()
  }
}
