import Foundation
public import News

/// A state of a ``FaultFeed`` that can be restored.
public struct FeedSnapshot: Sendable {
  /// The row of the log for one scope and one item.
  struct Row: Sendable {
    var id: UUID
    var version: Int
    /// The reason of the removal from the scope; nil while the item is in it.
    var removal: RemovalReason?
    var changed: Date
  }

  var epoch: String
  var version = 0
  var items: [UUID: NewsItem] = [:]
  /// The rows by topic; the empty topic is the feed.
  var log: [String: [UUID: Row]] = [:]
  /// The version below which tokens have expired.
  var floor = 0
  /// For each earlier epoch, the version up to which it shares this history.
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

  /// Returns the items of a scope and the removed ones, by version. An item is removed only if it is in none of the
  /// topics.
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

  /// Returns the current token of a scope.
  public func token(of scope: Scope) -> SyncToken {
    SyncToken(epoch: epoch, scope: scope, version: rows(in: scope).last?.version ?? 0)
  }

  /// Returns the reason why a client cannot continue from a token in a scope; nil if it can.
  func refusal(of token: SyncToken, in scope: Scope) -> String? {
    if let reason = historyRefusal(of: token) { return reason }
    if token.scope != scope.fingerprint { return "scope" }
    let isCurrent = token.position == nil && token.version == self.token(of: scope).version
    return token.version < floor && !isCurrent ? "expired" : nil
  }

  /// Returns the reason why the version of a token is not comparable with this history; nil if it is.
  func historyRefusal(of token: SyncToken) -> String? {
    if token.epoch == epoch { return token.version > version ? "ahead" : nil }
    guard let reach = ancestors[token.epoch], token.version <= reach else { return "epoch" }
    return nil
  }

  /// Returns the event for the changes of a scope after a version; nil if there are none.
  func event(in scope: Scope, after version: Int) -> ChangeEvent? {
    let new = rows(in: scope).filter { $0.version > version }
    guard !new.isEmpty else { return nil }
    let topics = log.filter { topic, rows in
      !topic.isEmpty && (scope.topics.isEmpty || scope.topics.contains(topic))
        && rows.values.contains { $0.version > version }
    }
    return ChangeEvent(
      token: token(of: scope), ids: new.reversed().prefix(ChangeEvent.maximumIDs).map(\.id),
      topics: topics.keys.sorted())
  }

  /// Begins a new epoch.
  mutating func begin(epoch next: String, keepingHistory: Bool) {
    ancestors = keepingHistory ? ancestors.mapValues { min($0, version) } : [:]
    if keepingHistory { ancestors[epoch] = version }
    epoch = next
  }
}
