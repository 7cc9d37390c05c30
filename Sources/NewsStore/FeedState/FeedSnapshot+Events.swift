public import News

extension FeedSnapshot {
  /// The current token of a scope; nil if it has an unknown topic.
  public func token(of scope: Scope) -> SyncToken? { try? self.scope(scope).token }

  /// The version from which the holder of a token continues. It may be newer than this state. It is nil if the later
  /// changes are unavailable.
  public func resumption(of token: SyncToken, in scope: Scope) -> Int? {
    guard token.position == nil, token.scope == scope.fingerprint, let current = try? self.scope(scope, since: token),
      let reach = current.sinceReach, token.version <= reach, current.isWithin(token), token.version >= current.floor
    else { return nil }
    return token.version
  }

  /// The changes in a scope after a version of this history; nil if there are none.
  public func event(in scope: Scope, after version: Int) -> ChangeEvent? {
    guard let token = token(of: scope), token.version > version else { return nil }
    func isWanted(_ topic: String) -> Bool { scope.topics.isEmpty || scope.topics.contains(topic) }
    guard let changes = recent.after(version) else {
      let topics = scopes.filter { $0.key != "" && $0.value.version > version && isWanted($0.key) }.keys
      return ChangeEvent(token: token, ids: [], topics: topics.sorted())
    }
    var changed: Set<String> = []
    var event = ChangeEvent(token: token, ids: [], topics: [])
    for change in changes {
      let topics = change.topics.filter { $0.value > version && isWanted($0.key) }.keys
      guard scope.topics.isEmpty || !topics.isEmpty else { continue }
      changed.formUnion(topics)
      if event.ids.count < ChangeEvent.maximumIDs { event.ids.append(change.item) }
    }
    event.topics = changed.sorted()
    return event
  }
}
