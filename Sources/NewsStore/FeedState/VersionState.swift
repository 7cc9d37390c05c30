public import Foundation
public import News

/// How far a snapshot of the database was.
public struct Moment: Sendable, Hashable {
  /// The random name of the history the version belongs to.
  public let epoch: String
  /// The version of the feed.
  public let version: Int
  /// Changes with each change of a topic's title or position, and with each new one; 0 where no topics were read.
  package let topicsRevision: Int

  package init(epoch: String, version: Int, topicsRevision: Int = 0) {
    self.epoch = epoch
    self.version = version
    self.topicsRevision = topicsRevision
  }
}

/// What an answer is about, and changes with.
public enum FeedSubject: Sendable, Hashable {
  /// Anything published.
  case feed
  case scope(Scope)
  /// What happened in a scope after a version, which can also be forgotten.
  case changes(Scope, since: Int)
  case item(UUID)
  /// Titles, positions and counts of all topics.
  case topics
}

/// What a process knows of the present of the feed: the versions of all scopes as they were in one snapshot of the
/// database. It is one immutable value, replaced as a whole.
public struct VersionState: Sendable {
  /// Where a scope stands.
  package struct ScopeState: Sendable, Equatable {
    /// The version of the last change in the scope.
    package var version: Int
    /// Tokens below it have lost changes to a purge.
    package var floor: Int
    /// When a page of the scope last changed without any of its items having been updated.
    package var shiftedAt: Date

    package init(version: Int, floor: Int, shiftedAt: Date) {
      self.version = version
      self.floor = floor
      self.shiftedAt = shiftedAt
    }
  }

  /// The moment of the snapshot.
  public let moment: Moment
  package let scopes: [String: ScopeState]
  /// The version of the last change in any topic.
  let topicsVersion: Int
  /// By epoch, the version up to which its tokens tell this history.
  package let reach: [String: Int]
  let recent: RecentChanges
  /// The sum of the floors, which grows with each purge.
  let floors: Int

  var epoch: String { moment.epoch }
  package var version: Int { moment.version }

  package init(moment: Moment, scopes: [String: ScopeState], reach: [String: Int], recent: RecentChanges) {
    self.moment = moment
    self.scopes = scopes
    self.reach = reach
    self.recent = recent
    floors = scopes.values.reduce(0) { $0 + $1.floor }
    topicsVersion = scopes.lazy.filter { $0.key != "" }.map(\.value.version).max() ?? 0
  }

  /// Whether nothing has happened to a subject from a moment to this state; false also where that is not known.
  public func isCurrent(_ subject: FeedSubject, since earlier: Moment) -> Bool {
    guard earlier.epoch == epoch else { return false }
    switch subject {
    case .feed: return version <= earlier.version
    case .scope(let scope): return states(scope).map { $0.version <= earlier.version } ?? false
    case .changes(let scope, let since):
      guard let state = states(scope) else { return false }
      return state.version <= earlier.version && since >= state.floor
    case .item(let id): return recent.isUnchanged(id, since: earlier.version) ?? false
    case .topics: return topicsVersion <= earlier.version && moment.topicsRevision == earlier.topicsRevision
    }
  }

  /// Where the whole of a scope stands; nil if it has a topic that is not known.
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

  /// Whether a token says that its holder has everything there is in a scope.
  public func isNewest(_ token: SyncToken, in scope: Scope) -> Bool {
    guard !token.isPartial, let head = try? head(scope, since: token), (try? head.check(since: token)) != nil
    else { return false }
    return token.version == head.version
  }

  /// Whether the state that a token of any scope names has been reached; false also for one of another history.
  public func hasReached(_ token: SyncToken) -> Bool {
    (try? head(.feed, at: token).hasReached(token)) ?? false
  }

  /// The head of a scope, as a statement would read it from the database.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  func head(_ scope: Scope, since: SyncToken? = nil, at: SyncToken? = nil) throws -> ScopeHead {
    guard let state = states(scope) else {
      throw StoreError.unknownTopics(scope.names.filter { scopes[$0] == nil })
    }
    var head = ScopeHead(
      scope: scope, epoch: epoch, counter: version, version: state.version, floor: state.floor,
      shiftedAt: state.shiftedAt,
      sinceReach: since.flatMap { reach[$0.epoch] }, atReach: at.flatMap { reach[$0.epoch] })
    for name in scope.topics { head.topics[name] = scopes[name]?.version }
    return head
  }
}
