import Foundation
import News
import TestSupport

/// A client that keeps the items of a scope by following `/v1/changes`, as any client would.
struct Follower {
  /// The server broke a promise.
  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let topics: [String]
  /// How many changes it asks for at a time.
  let limit: Int
  /// After how many polls it throws away what it has and begins anew, unless it is in the middle of doing so; nil for
  /// never.
  var restartsAfter: Int?

  private(set) var items: [UUID: NewsItem] = [:]
  private(set) var token: SyncToken?
  private(set) var polls = 0
  private(set) var received = 0
  private var pollsSinceStart = 0
  /// What of a snapshot has come so far: nothing of it counts before it is whole.
  private var snapshot: [UUID: NewsItem]?

  init(name: String, topics: [String], limit: Int, restartsAfter: Int? = nil) {
    self.name = name
    self.topics = topics
    self.limit = limit
    self.restartsAfter = restartsAfter
  }

  /// Asks once.
  ///
  /// - Returns: Whether there was nothing new.
  mutating func poll(_ server: TestServer) async throws -> Bool {
    polls += 1
    pollsSinceStart += 1
    if let restartsAfter, snapshot == nil, pollsSinceStart >= restartsAfter {
      token = nil
      pollsSinceStart = 0
    }
    var target = "/v1/changes?limit=\(limit)"
    if !topics.isEmpty { target += "&topics=\(topics.joined(separator: ","))" }
    if let token { target += "&since=\(token)" }
    let answer = try await server.send(
      "GET", target, headers: token.map { [("If-None-Match", "\"\($0)\"")] } ?? [])
    if answer.status == 304 {
      guard answer["ETag"] == token.map({ "\"\($0)\"" }) else {
        throw Broken(description: "\(name): 304 with another tag")
      }
      return true
    }
    let list = try answer.json(ChangeList.self)
    try take(list)
    return false
  }

  private mutating func take(_ list: ChangeList) throws {
    if let token, list.more || !list.changes.isEmpty, list.token == token {
      throw Broken(description: "\(name): a page with changes, or with more to come, did not move the token")
    }
    if token == nil { snapshot = [:] }
    guard (list.snapshot == true) == (snapshot != nil) else {
      throw Broken(description: "\(name): snapshot is \(list.snapshot as Any) in the middle of the other")
    }
    var target = snapshot ?? items
    for change in list.changes { try apply(change, to: &target) }
    if snapshot == nil {
      items = target
    } else if list.more {
      snapshot = target
    } else {
      // It replaces and never merges.
      items = target
      snapshot = nil
    }
    token = list.token
    received += list.changes.count
  }

  private func apply(_ change: Change, to items: inout [UUID: NewsItem]) throws {
    switch change {
    case .put(let item):
      if let known = items[item.id], known.version > item.version {
        throw Broken(description: "\(name): \(item.id) went back from version \(known.version) to \(item.version)")
      }
      guard topics.isEmpty || !Set(topics).isDisjoint(with: item.topics) else {
        throw Broken(description: "\(name): \(item.id) is in none of the topics")
      }
      items[item.id] = item
    case .remove(let id, _):
      items[id] = nil
    case .unknown(let op):
      throw Broken(description: "\(name): the operation \(op)")
    }
  }
}
