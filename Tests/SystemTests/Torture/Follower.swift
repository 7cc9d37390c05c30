import Foundation
import News
import TestSupport

/// A client that keeps the items of a scope up to date by following `/v1/changes`, as any client would.
struct Follower {
  typealias Violation = Ledger.Violation

  let name: String
  let topics: [String]
  /// The maximum number of changes per request.
  let limit: Int
  /// The number of polls after which the follower discards its state and starts again, unless it is reading a snapshot;
  /// nil for never.
  var restartsAfter: Int?
  /// Whether the follower polls `/v1/state` and requests changes only if the token there differs from its own.
  var pollsState = false
  /// The `wait` parameter in seconds; 0 to omit it.
  var waitSeconds = 0
  /// The maximum sleep between polls in seconds; most clients sleep.
  var maximumSleep = 0.0

  private(set) var items: [UUID: NewsItem] = [:]
  private(set) var token: SyncToken?
  private(set) var polls = 0
  private(set) var received = 0
  private var pollsSinceStart = 0
  private(set) var resyncs = 0
  /// The token of a 410; later responses must be at least as recent.
  private var at: SyncToken?
  /// The pages of a snapshot so far. They replace the items only when the snapshot is complete.
  private var snapshot: [UUID: NewsItem]?

  init(
    name: String, topics: [String], limit: Int, restartsAfter: Int? = nil, pollsState: Bool = false,
    waitSeconds: Int = 0,
    maximumSleep: Double = 0
  ) {
    self.name = name
    self.topics = topics
    self.limit = limit
    self.restartsAfter = restartsAfter
    self.pollsState = pollsState
    self.waitSeconds = waitSeconds
    self.maximumSleep = maximumSleep
  }

  var isInSnapshot: Bool { snapshot != nil }

  /// The outcome of a poll.
  enum Outcome {
    case nothingNew, progress, failure
  }

  /// Polls once.
  mutating func poll(_ server: TestClient) async throws -> Outcome {
    polls += 1
    pollsSinceStart += 1
    if let restartsAfter, snapshot == nil, pollsSinceStart >= restartsAfter {
      token = nil
      pollsSinceStart = 0
    }
    if pollsState, let token, snapshot == nil {
      guard let current = try await state(server) else { return .failure }
      if current == token { return .nothingNew }
    }
    return try await changes(server)
  }

  /// Returns the token of the scope from `/v1/state`.
  private func state(_ server: TestClient) async throws -> SyncToken? {
    let target = topics.isEmpty ? "/v1/state" : "/v1/state?topics=\(topics.joined(separator: ","))"
    guard let answer = try await APIWriter.answer({ try await server.send("GET", target) }), answer.status == 200 else {
      return nil
    }
    let state = try answer.json(FeedState.self)
    return topics.isEmpty ? state.feed : state.union
  }

  private mutating func changes(_ server: TestClient) async throws -> Outcome {
    var target = "/v1/changes?limit=\(limit)"
    if !topics.isEmpty { target += "&topics=\(topics.joined(separator: ","))" }
    if let token { target += "&since=\(token)" }
    if let at { target += "&at=\(at)" }
    if waitSeconds > 0, token != nil { target += "&wait=\(waitSeconds)" }
    let headers = token.map { [("If-None-Match", "\"\($0)\"")] } ?? []
    guard let answer = try await APIWriter.answer({ try await server.send("GET", target, headers: headers) }) else {
      return .failure
    }
    switch answer.status {
    case 304:
      guard answer["ETag"] == token.map({ "\"\($0)\"" }) else {
        throw Violation(description: "\(name): 304 with another tag")
      }
      return .nothingNew
    case 410:
      token = nil
      snapshot = nil
      resyncs += 1
      at = try answer.json(Problem.self, status: 410).token
      return .progress
    case 502, 503, 504: return .failure
    default:
      try take(try answer.json(ChangeList.self))
      at = nil
      return .progress
    }
  }

  private mutating func take(_ list: ChangeList) throws {
    if let token, list.more || !list.changes.isEmpty, list.token == token {
      throw Violation(description: "\(name): a page with changes, or with more to come, did not move the token")
    }
    if token == nil { snapshot = [:] }
    guard (list.snapshot == true) == (snapshot != nil) else {
      throw Violation(description: "\(name): snapshot is \(list.snapshot as Any) in the middle of the other")
    }
    var target = snapshot ?? items
    for change in list.changes { try apply(change, to: &target) }
    if snapshot == nil {
      items = target
    } else if list.more {
      snapshot = target
    } else {
      // A snapshot replaces the items; it is not merged.
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
        throw Violation(description: "\(name): \(item.id) went back from version \(known.version) to \(item.version)")
      }
      guard topics.isEmpty || !Set(topics).isDisjoint(with: item.topics) else {
        throw Violation(description: "\(name): \(item.id) is in none of the topics")
      }
      items[item.id] = item
    case .remove(let id, _):
      items[id] = nil
    case .unknown(let op):
      throw Violation(description: "\(name): the operation \(op)")
    }
  }
}

extension Follower: CustomStringConvertible {
  var description: String {
    """
    \(name), at \(token?.description ?? "no token")\(isInSnapshot ? " in a snapshot" : "") after \(received) changes, \
    \(polls) polls and \(resyncs) resyncs,
    """
  }
}
