import News
import TestSupport

extension TortureSystem {
  /// Returns the tokens of a scope and of the feed from `/v1/state`, once a server responds.
  func currentTokens(of topics: [String]) async throws -> (scope: SyncToken?, feed: SyncToken?) {
    let target = topics.isEmpty ? "/v1/state" : "/v1/state?topics=\(topics.joined(separator: ","))"
    var state: FeedState?
    try await retry("a server answers") {
      state = try await self.servers[0].send("GET", target).json(FeedState.self)
    }
    return (topics.isEmpty ? state?.feed : state?.union, state?.feed)
  }

  /// Returns the token of a scope from `/v1/state`, once a server responds.
  func currentToken(of topics: [String]) async throws -> SyncToken? { try await currentTokens(of: topics).scope }

  /// Whether the holder of a token has all changes of a scope, once a server responds.
  ///
  /// The token may be older than the one of `/v1/state`: a new epoch without a change leaves tokens of the same version
  /// valid, and sends no event.
  func isCurrent(_ token: SyncToken, for topics: [String]) async throws -> Bool {
    let scope = topics.isEmpty ? "" : "&topics=\(topics.joined(separator: ","))"
    var isCurrent = false
    try await retry("a server responds") {
      let response = try await self.servers[0].send("GET", "/v1/changes?since=\(token)\(scope)")
      guard response.status != 410 else { return }
      let list = try response.json(ChangeList.self)
      isCurrent = list.changes.isEmpty && !list.more
    }
    return isCurrent
  }
}
