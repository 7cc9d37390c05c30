public import News
import PostgresClient

extension NewsStore {
  /// Reads the current tokens of the feed, of each topic of a scope, and of their union.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  public func state(_ scope: Scope) async throws -> FeedState {
    guard !scope.topics.isEmpty else {
      return FeedState(feed: try await head(.feed).token, topics: [:], union: nil)
    }
    let (head, rows) = try await read(
      scope, "SELECT s.scope, s.version FROM scopes AS s WHERE s.scope = ANY (\(scope.topics))")
    var topics: [String: SyncToken] = [:]
    for row in rows {
      let slug: String = try row.decode("scope")
      topics[slug] = SyncToken(epoch: head.epoch, scope: Scope(topics: [slug]), version: try row.decode("version"))
    }
    return FeedState(
      feed: SyncToken(epoch: head.epoch, scope: .feed, version: head.counter), topics: topics, union: head.token)
  }
}
