import News
import NewsStore

/// `/v1/state`: the token of a scope.
struct StateView: PublicView {
  let scope: Scope

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return PublicRead(StateView(scope: scope))
  }

  var route: String { APIPath.state }
  var dependency: ResponseDependency { .feed }
  var isPolled: Bool { true }

  func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? { try? view(snapshot) }

  func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View { try view(snapshot) }

  private func view(_ snapshot: FeedSnapshot) throws -> View {
    var json = JSONWriter()
    json.write(try snapshot.state(of: scope))
    return View(representation: Representation(json.bytes), feedVersion: snapshot.feedVersion)
  }
}
