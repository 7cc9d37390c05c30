import News
import TestSupport

/// Reads only through the cache, always with the same token. Once that token has expired, the cache must return 410.
struct CacheReader {
  private let cache: TestClient
  private let servers: [TestClient]
  private var target: String?
  /// The time since which the cache has accepted a token that every server rejects.
  private var stale: ContinuousClock.Instant?
  /// The number of 410 responses received through the cache.
  private(set) var replaced = 0

  /// The maximum time for which the cache may accept an expired token. A response is fresh for one second, and the
  /// first request after that still receives it; the rest is a margin for a busy machine. A 410 that the cache does not
  /// store would replace the response only after 10 s.
  private static let maximumStaleTime = Duration.seconds(7)

  init(_ cache: TestClient, before servers: [TestClient]) {
    self.cache = cache
    self.servers = servers
  }

  /// Sends one request.
  mutating func poll() async throws {
    guard let target else {
      let answer = try await APIWriter.answer { try await servers[0].send("GET", "/v1/state") }
      if let answer, answer.status == 200 { target = "/v1/changes?since=\(try answer.json(FeedState.self).feed)" }
      return
    }
    // The servers are asked first, so a late response of the cache cannot look stale.
    let isGone = try await isGoneEverywhere(target)
    guard let answer = try await APIWriter.answer({ try await cache.send("GET", target) }) else { return }
    switch answer.status {
    case 410:
      replaced += 1
      self.target = nil
      stale = nil
    case 200, 304:
      guard let isGone else { return }
      let since = stale ?? .now
      stale = isGone ? since : nil
      guard !isGone || .now - since < Self.maximumStaleTime else {
        throw Ledger.Violation(description: "the cache still accepts a token that has expired")
      }
    default: break
    }
  }

  /// Returns whether all servers reject the token; nil if one does not respond.
  private func isGoneEverywhere(_ target: String) async throws -> Bool? {
    for server in servers {
      switch try await APIWriter.answer({ try await server.send("GET", target) })?.status {
      case 410: continue
      case 200, 304: return false
      default: return nil
      }
    }
    return true
  }
}
