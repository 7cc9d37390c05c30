import Foundation
public import News

/// A state of a ``FaultFeed``, to come back to.
public struct FeedMoment: Sendable {
  /// What a scope knows of an item (the log has one row for each).
  struct Row: Sendable {
    var id: UUID
    var version: Int
    /// Why it is no longer in the scope; nil while it is.
    var removal: RemovalReason?
    var changed: Date
  }

  var epoch: String
  var version = 0
  var items: [UUID: NewsItem] = [:]
  /// By topic, and the feed as the empty one.
  var log: [String: [UUID: Row]] = [:]
  /// Tokens below it have expired.
  var floor = 0
  /// By earlier epoch, the version up to which its tokens tell this history.
  var ancestors: [String: Int] = [:]

  init(epoch: String) { self.epoch = epoch }

  mutating func publish(_ item: NewsItem, at now: Date) -> NewsItem {
    var item = item
    version += 1
    item.version = version
    item.updated = RFC3339.truncated(now)
    item.topics = Set(item.topics).sorted()
    for topic in items[item.id]?.topics ?? [] where !item.topics.contains(topic) {
      log[topic, default: [:]][item.id] = Row(id: item.id, version: version, removal: .left, changed: now)
    }
    for topic in [""] + item.topics {
      log[topic, default: [:]][item.id] = Row(id: item.id, version: version, changed: now)
    }
    items[item.id] = item
    return item
  }

  mutating func remove(_ id: UUID, _ reason: RemovalReason, at now: Date) {
    guard let item = items.removeValue(forKey: id) else { return }
    version += 1
    for topic in [""] + item.topics {
      log[topic, default: [:]][id] = Row(id: id, version: version, removal: reason, changed: now)
    }
  }

  /// The items of a scope and those that have left it, by version. An item is gone only if it is in none of the topics.
  func rows(in scope: Scope) -> [Row] {
    var rows: [UUID: Row] = [:]
    for topic in scope.topics.isEmpty ? [""] : scope.topics {
      rows.merge(log[topic] ?? [:]) { one, other in
        var newer = one.version > other.version ? one : other
        if one.removal == nil || other.removal == nil { newer.removal = nil }
        return newer
      }
    }
    return rows.values.sorted { $0.version < $1.version }
  }

  /// The current token of a scope.
  public func token(of scope: Scope) -> SyncToken {
    SyncToken(epoch: epoch, scope: scope, version: rows(in: scope).last?.version ?? 0)
  }

  /// Why a client cannot go on from a token in a scope; nil if it can.
  func refusal(of token: SyncToken, in scope: Scope) -> String? {
    if let reason = historyRefusal(of: token) { return reason }
    if token.scope != scope.fingerprint { return "scope" }
    let isCurrent = token.position == nil && token.version == self.token(of: scope).version
    return token.version < floor && !isCurrent ? "expired" : nil
  }

  /// Why the version of a token does not compare with this history; nil if it does.
  func historyRefusal(of token: SyncToken) -> String? {
    if token.epoch == epoch { return token.version > version ? "ahead" : nil }
    guard let reach = ancestors[token.epoch], token.version <= reach else { return "epoch" }
    return nil
  }

  /// What is new in a scope after a version, as an event tells it; nil if nothing is.
  func event(in scope: Scope, after version: Int) -> ChangeEvent? {
    let new = rows(in: scope).filter { $0.version > version }
    guard !new.isEmpty else { return nil }
    let topics = log.filter { topic, rows in
      !topic.isEmpty && (scope.topics.isEmpty || scope.topics.contains(topic))
        && rows.values.contains { $0.version > version }
    }
    return ChangeEvent(
      token: token(of: scope), ids: new.reversed().prefix(ChangeEvent.mostIDs).map(\.id), topics: topics.keys.sorted())
  }

  /// Goes on under another name.
  mutating func begin(epoch next: String, keepingHistory: Bool) {
    ancestors = keepingHistory ? ancestors.mapValues { min($0, version) } : [:]
    if keepingHistory { ancestors[epoch] = version }
    epoch = next
  }
}
