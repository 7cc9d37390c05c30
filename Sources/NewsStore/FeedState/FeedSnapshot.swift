public import Foundation
public import News

/// The epoch and version of a database snapshot.
public struct FeedVersion: Sendable, Hashable {
  /// The random id of the history to which the version belongs.
  public let epoch: String
  /// The version of the feed.
  public let version: Int
  /// A revision that changes with each new topic and with each change of a title or position; 0 if no topics were read.
  package let topicsRevision: Int

  package init(epoch: String, version: Int, topicsRevision: Int = 0) {
    self.epoch = epoch
    self.version = version
    self.topicsRevision = topicsRevision
  }
}

/// The current versions of all scopes, and the newest items of those in use, from one snapshot of the database. It is
/// immutable and is replaced as a whole. Every request takes it, so it is one object, not a value of many.
public final class FeedSnapshot: Sendable {
  /// The state of a scope.
  package struct ScopeState: Sendable, Equatable {
    /// The version of the last change in the scope.
    package var version: Int
    /// The purge floor: changes after a token below this version are incomplete.
    package var floor: Int
    /// The time at which a page of the scope last changed without an update of any of its items.
    package var shiftedAt: Date

    package init(version: Int, floor: Int, shiftedAt: Date) {
      self.version = version
      self.floor = floor
      self.shiftedAt = shiftedAt
    }
  }

  /// The epoch and version of the snapshot.
  public let feedVersion: FeedVersion
  package let scopes: [String: ScopeState]
  /// The version of the last change in any topic.
  let topicsVersion: Int
  /// The version up to which the tokens of an epoch belong to this history, by epoch.
  package let reach: [String: Int]
  let recent: RecentChanges
  /// The windows of the scopes in use, by name.
  package let windows: [String: Window]
  /// The uses of windows, shared by all states.
  let windowUses: WindowUses
  /// The time of the read.
  let read: DatabaseInstant
  /// The sum of the floors, which each purge raises.
  let floors: Int

  var epoch: String { feedVersion.epoch }
  package var version: Int { feedVersion.version }

  package init(
    feedVersion: FeedVersion, scopes: [String: ScopeState], reach: [String: Int], recent: RecentChanges,
    windows: [String: Window] = [:], windowUses: WindowUses = WindowUses(),
    read: DatabaseInstant = DatabaseInstant(.distantPast)
  ) {
    self.windows = windows
    self.windowUses = windowUses
    self.read = read
    self.feedVersion = feedVersion
    self.scopes = scopes
    self.reach = reach
    self.recent = recent
    floors = scopes.values.reduce(0) { $0 + $1.floor }
    topicsVersion = scopes.lazy.filter { $0.key != "" }.map(\.value.version).max() ?? 0
  }

  /// Whether a dependency is unchanged from a version to this state; false also if that is unknown.
  public func isCurrent(_ dependency: ResponseDependency, since earlier: FeedVersion) -> Bool {
    guard earlier.epoch == epoch else { return false }
    switch dependency {
    case .feed: return version <= earlier.version
    case .scope(let scope): return states(scope).map { $0.version <= earlier.version } ?? false
    case .changes(let scope, let since):
      guard let state = states(scope) else { return false }
      return state.version <= earlier.version && since >= state.floor
    case .item(let id): return recent.isUnchanged(id, since: earlier.version) ?? false
    case .topics: return topicsVersion <= earlier.version && feedVersion.topicsRevision == earlier.topicsRevision
    case .titled(let dependency):
      return feedVersion.topicsRevision == earlier.topicsRevision && isCurrent(dependency, since: earlier)
    }
  }

  /// The version of the last change of a dependency, or a later one if it is unknown. It stays the same between changes.
  package func version(of dependency: ResponseDependency) -> Int {
    switch dependency {
    case .scope(let scope), .changes(let scope, _): states(scope)?.version ?? version
    case .item(let id): recent.version(of: id)
    case .topics: max(topicsVersion, feedVersion.topicsRevision)
    case .titled(let dependency): version(of: dependency) + feedVersion.topicsRevision
    case .feed: version
    }
  }

  /// The combined state of a scope; nil if it has an unknown topic.
  private func states(_ scope: Scope) -> ScopeState? {
    guard var whole = scopes[scope.topics.first ?? ""] else { return nil }
    for topic in scope.topics.dropFirst() {
      guard let state = scopes[topic] else { return nil }
      whole.version = max(whole.version, state.version)
      whole.floor = max(whole.floor, state.floor)
      whole.shiftedAt = max(whole.shiftedAt, state.shiftedAt)
    }
    return whole
  }

  /// Whether the holder of a token has all changes of a scope.
  public func isNewest(_ token: SyncToken, in scope: Scope) -> Bool {
    guard !token.isPartial, let current = try? self.scope(scope, since: token),
      (try? current.check(since: token)) != nil
    else { return false }
    return token.version == current.version
  }

  /// Whether the version of a token of any scope has been reached; false also for a token of another history.
  public func hasReached(_ token: SyncToken) -> Bool {
    (try? scope(.feed, at: token).hasReached(token)) ?? false
  }

  /// Returns the state of a scope, equal to the one that a statement would read.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  func scope(_ scope: Scope, since: SyncToken? = nil, at: SyncToken? = nil) throws -> ScopeSnapshot {
    guard let state = states(scope) else {
      throw StoreError.unknownTopics(scope.names.filter { scopes[$0] == nil })
    }
    var found = ScopeSnapshot(
      scope: scope, epoch: epoch, counter: version, version: state.version, floor: state.floor,
      shiftedAt: state.shiftedAt,
      sinceReach: since.flatMap { reach[$0.epoch] }, atReach: at.flatMap { reach[$0.epoch] }, read: read)
    for name in scope.topics { found.topics[name] = scopes[name]?.version }
    return found
  }

  /// Checks that the scope's topics exist and that the changes after a token are available.
  ///
  /// - Throws: `StoreError.unknownTopics`, `tokenExpired`.
  func check(_ scope: Scope, since: SyncToken?) throws {
    let current = try self.scope(scope, since: since)
    if let since { try current.check(since: since) }
  }
}

/// The data that a response depends on.
public enum ResponseDependency: Sendable, Hashable {
  /// All published items.
  case feed
  case scope(Scope)
  /// The changes in a scope after a version, which may be purged.
  case changes(Scope, since: Int)
  case item(UUID)
  /// The titles, positions and counts of all topics.
  case topics
  /// Something that is shown together with the titles of topics.
  indirect case titled(ResponseDependency)
}

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
