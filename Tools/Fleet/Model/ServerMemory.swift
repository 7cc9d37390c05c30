import Foundation

/// The responses that the servers keep in memory: a list of past changes from its second request since the last change of
/// its scope, by each server. The state and the first page are always in memory.
struct ServerMemory {
  /// The key of a response at a server. `at` is no part of it.
  struct Key: Hashable, Comparable {
    var scope: Int
    var since: Int
    var token: Int

    /// - Returns: nil for a response that is always in memory.
    init?(_ key: ReadKey, at token: Int) {
      guard let since = key.since, since < token else { return nil }
      (scope, self.since, self.token) = (key.scope, since, token)
    }

    static func < (first: Key, second: Key) -> Bool {
      (first.scope, first.since, first.token) < (second.scope, second.since, second.token)
    }
  }

  /// The number of requests that run a query, for each server.
  static let queries = 2

  private let servers: Int
  /// The requests for a response that each server has received.
  private var requests: [Key: [Int]] = [:]
  /// The server that received the last request.
  private var turn = 0

  init(servers: Int) {
    self.servers = servers
  }

  /// Records a request. The servers receive requests in turn.
  ///
  /// - Returns: Whether it runs a query.
  mutating func read(_ key: ReadKey, at token: Int) -> Bool {
    // Requests for other responses take turns too, so those for one response do not alternate.
    turn = (turn + 1) % servers
    guard let key = Key(key, at: token) else { return false }
    var received = requests[key] ?? [Int](repeating: 0, count: servers)
    received[turn] += 1
    requests[key] = received
    return received[turn] <= Self.queries
  }

  /// Returns the expected number of queries for a number of requests that arrive independently of each other.
  static func expectedQueries(_ requests: Double, servers: Int) -> Double {
    let mean = requests / Double(servers)
    let none = exp(-mean)
    return Double(servers) * (mean * none + 2 * (1 - none - mean * none))
  }
}
