import Foundation
import News
import TestKit
import TestSupport

/// A reader whose requests are never repeated, so each one costs a database read or waits for a future version.
struct UncachedReader {
  private let system: TortureSystem
  private let topics: [String]
  private var random: SplitMix64
  private var token: SyncToken?
  private(set) var reads = 0

  init(system: TortureSystem, topics: [String], seed: UInt64) {
    self.system = system
    self.topics = topics
    random = SplitMix64(seed: seed)
  }

  /// Sends one request.
  mutating func read() async throws {
    guard let server = system.servers.randomElement(using: &random) else { return }
    if token == nil || reads.isMultiple(of: 50) {
      let answer = try await APIWriter.answer { try await server.send("GET", "/v1/state") }
      if let answer, answer.status == 200 { token = try answer.json(FeedState.self).feed }
    }
    reads += 1
    guard let token else { return try await Task.sleep(for: .milliseconds(50)) }
    if Int.random(in: 0..<4, using: &random) == 0 { return try await wait(beyond: token, server) }
    let target = target(token)
    guard let answer = try await APIWriter.answer({ try await server.send("GET", target) }) else {
      return try await Task.sleep(for: .milliseconds(50))
    }
    guard [200, 404, 410, 503].contains(answer.status) else {
      throw Ledger.Violation(description: "\(target): \(answer.status) \(answer.text)")
    }
  }

  private mutating func target(_ token: SyncToken) -> String {
    let number = Int.random(in: 1...1000, using: &random)
    let topic = topics.randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let since = SyncToken(
        epoch: token.epoch, scope: .feed, version: max(0, token.version - Int.random(in: 1...50, using: &random)))
      return "/v1/changes?since=\(since)&limit=\(number)&include=html"
    case 1: return "/v1/items?topics=\(topic)&limit=\(number % 200 + 1)&author=\(number)"
    case 2: return "/v1/items?q=word\(number)&limit=\(number % 200 + 1)"
    default:
      let id = withUnsafeBytes(of: (random.next(), random.next())) { UUID(uuid: $0.load(as: uuid_t.self)) }
      return "/v1/items/\(id)"
    }
  }

  /// Requests a version of the near future. The response must be from that version or a later one.
  private mutating func wait(beyond token: SyncToken, _ server: TestClient) async throws {
    let version = token.version + Int.random(in: 1...20, using: &random)
    let at = SyncToken(epoch: token.epoch, scope: .feed, version: version)
    let limit = Int.random(in: 1...200, using: &random)
    let answer = try await APIWriter.answer { try await server.send("GET", "/v1/items?limit=\(limit)&at=\(at)") }
    switch answer?.status {
    case nil: try await Task.sleep(for: .milliseconds(50))
    case 200:
      guard let found = answer?["Sync-Token"].flatMap({ SyncToken($0) }),
        found.epoch != at.epoch || found.version >= version
      else {
        throw Ledger.Violation(description: "\(answer?["Sync-Token"] ?? "no token") was answered to at=\(at)")
      }
    case 410: self.token = nil
    case 503: break
    case let status?: throw Ledger.Violation(description: "at=\(at): \(status) \(answer?.text ?? "")")
    }
  }
}
