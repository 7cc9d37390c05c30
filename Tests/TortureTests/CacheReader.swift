import News
import TestSupport

/// Reads only through the cache, always with the same token: when that is no longer good, the cache must come to know.
struct CacheReader {
  private let cache: TestClient
  private let servers: [TestClient]
  private var target: String?
  /// Since when the cache has answered as if the token were good, though no server does.
  private var stale: ContinuousClock.Instant?
  /// How often it has come to know.
  private(set) var replaced = 0

  /// An answer is good for a second, and the first one who asks after that still gets it; the rest is for a machine that
  /// is busy. A 410 that is not stored would come 10 s after the answer that it does not replace.
  private static let longest = Duration.seconds(7)

  init(_ cache: TestClient, before servers: [TestClient]) {
    self.cache = cache
    self.servers = servers
  }

  /// Asks once.
  mutating func poll() async throws {
    guard let target else {
      let answer = try await APIWriter.answer { try await servers[0].send("GET", "/v1/state") }
      if let answer, answer.status == 200 { target = "/v1/changes?since=\(try answer.json(FeedState.self).feed)" }
      return
    }
    // What servers say is asked first: the cache cannot be behind in time.
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
      guard !isGone || .now - since < Self.longest else {
        throw Ledger.Broken(description: "the cache goes on with an answer to a token that is no longer good")
      }
    default: break
    }
  }

  /// nil if a server does not answer.
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
