public import News

extension FeedSnapshot {
  /// The current tokens of the feed, of each topic of a scope, and of their union.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  public func state(of scope: Scope) throws -> FeedState {
    let current = try self.scope(scope)
    func token(_ scope: Scope, _ version: Int) -> SyncToken {
      SyncToken(epoch: epoch, scope: scope, version: version)
    }
    let topics = current.topics.map { ($0.key, token(Scope(topics: [$0.key]), $0.value)) }
    return FeedState(
      feed: token(.feed, version), topics: Dictionary(uniqueKeysWithValues: topics),
      union: scope.topics.isEmpty ? nil : current.token)
  }
}
