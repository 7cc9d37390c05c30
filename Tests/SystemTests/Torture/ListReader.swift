import News
import TestKit
import TestSupport

/// A reader of the first page, which others read as well. Each page must be as recent as the state that the same server
/// has reported before.
struct ListReader {
  private let system: TortureSystem
  private var random: SplitMix64

  init(system: TortureSystem, seed: UInt64) {
    self.system = system
    random = SplitMix64(seed: seed)
  }

  /// Reads the state and the page.
  ///
  /// A response from memory, sent while the database does not respond, may be older. It is marked with `Cache-Status`.
  mutating func read() async throws {
    guard let server = system.servers.randomElement(using: &random),
      let state = try await Self.get("/v1/state", from: server),
      let page = try await Self.get("/v1/items?limit=20", from: server)
    else { return try await Task.sleep(for: .milliseconds(50)) }
    guard page["Cache-Status"] == nil else { return }
    let token = try state.json(FeedState.self).feed
    guard let found = page["Sync-Token"].flatMap({ SyncToken($0) }),
      found.epoch != token.epoch || found.version >= token.version
    else {
      throw Ledger.Violation(description: "after \(token), a list had \(page["Sync-Token"] ?? "no token")")
    }
  }

  private static func get(_ target: String, from server: TestClient) async throws -> TestResponse? {
    let answer = try await APIWriter.answer { try await server.send("GET", target) }
    return answer?.status == 200 ? answer : nil
  }
}
