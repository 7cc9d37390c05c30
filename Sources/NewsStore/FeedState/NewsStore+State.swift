public import News

extension NewsStore {
  /// The current tokens of the feed, of each topic of a scope, and of their union. They come from memory if the state
  /// there is current.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  public func state(_ scope: Scope) async throws -> (state: FeedState, moment: Moment) {
    let head = try await head(scope)
    func token(_ scope: Scope, _ version: Int) -> SyncToken {
      SyncToken(epoch: head.epoch, scope: scope, version: version)
    }
    let topics = head.topics.map { ($0.key, token(Scope(topics: [$0.key]), $0.value)) }
    let state = FeedState(
      feed: token(.feed, head.counter), topics: Dictionary(uniqueKeysWithValues: topics),
      union: scope.topics.isEmpty ? nil : head.token)
    return (state, head.moment)
  }
}
