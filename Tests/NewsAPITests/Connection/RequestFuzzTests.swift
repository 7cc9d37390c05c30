import Foundation
import News
import TestRandom
import TestSupport
import Testing

/// Whatever comes, the server answers as openapi.yaml says, and goes on.
///
/// It runs for a few seconds, or for `TIDINGS_FUZZ_SECONDS`, with the seed `TIDINGS_FUZZ_SEED`.
@Suite struct RequestFuzzTests {
  private static func setting(_ name: String, default standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test("Random and mutated requests get declared answers, none of them a fault of the server, and it lives on")
  func randomRequests() async throws {
    let seconds = Self.setting("TIDINGS_FUZZ_SECONDS", default: 4)
    let seed = UInt64(Self.setting("TIDINGS_FUZZ_SEED", default: 1))
    try await TestServer.with { server in
      let seeds = try await Self.values(from: server)
      let end = ContinuousClock.now + .seconds(seconds)
      let counts = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
        for index in 0..<4 {
          group.addTask {
            let generator = RequestGenerator(
              random: SplitMix64(seed: seed &* 41 + UInt64(index)), key: server.key, seeds: seeds)
            return try await Self.fuzz(server, generator, until: end)
          }
        }
        return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
      }
      // The requests get as far as they are meant to.
      for status in [200, 201, 400, 404, 405, 422] { #expect(counts[status] != nil, "no \(status)") }
      let answers = counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      print("random requests, seed \(seed), \(seconds) s: \(answers)")
    }
  }

  /// Something of each kind that the server gives out.
  private static func values(from server: TestServer) async throws -> [String] {
    try await server.makeTopics(["a", "b", "sport"])
    let items = [
      try await server.publish("one", topics: ["sport"]),
      try await server.publish("two", topics: ["a", "b"], title: "t"),
    ]
    let page = try await server.get("/v1/items?limit=1")
    let cursor = page.next.flatMap { $0.split(separator: "cursor=").last.map(String.init) }
    let token = try await server.get("/v1/changes").json(ChangeList.self).token.description
    return [page["ETag"], page["Last-Modified"], cursor, token, "\"\(token)\""].compactMap { $0 }
      + items.map { $0.item.id.uuidString.lowercased() }
  }

  /// - Returns: How often each status came.
  private static func fuzz(
    _ server: TestServer, _ generator: RequestGenerator, until end: ContinuousClock.Instant
  ) async throws -> [Int: Int] {
    var generator = generator
    var counts: [Int: Int] = [:]
    repeat {
      for _ in 0..<100 {
        let bytes = generator.connection()
        do {
          for answer in try await RawConnection.exchange([bytes], port: server.port) {
            counts[answer.status, default: 0] += 1
            try check(answer)
          }
        } catch {
          Issue.record("\(error), after \(String(decoding: bytes, as: UTF8.self).debugDescription)")
          return counts
        }
      }
      #expect(try await server.get("/healthz").status == 200)
    } while ContinuousClock.now < end
    return counts
  }

  private static func check(_ answer: TestResponse) throws {
    try Contract.shared.get().check(any: answer)
    // 501 and 505 name what the client asked for; 503 comes with `at` alone, here.
    guard answer.status >= 500, ![501, 505].contains(answer.status), !answer.text.contains("not-reached-yet") else {
      return
    }
    throw TestResponse.Unexpected(description: "\(answer.status): \(answer.text)")
  }
}
