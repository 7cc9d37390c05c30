import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Random requests, each of which must get a response that openapi.yaml declares; the server must keep running.
///
/// The tests run for a few seconds beside other tests, or for `TIDINGS_FUZZ_SECONDS` alone, with the seed
/// `TIDINGS_FUZZ_SEED`.
@Suite struct RequestFuzzTests {
  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  @Test("Random and mutated requests get declared responses without server errors, and the server keeps running")
  func randomRequests() async throws {
    let alone = Self.setting("TIDINGS_FUZZ_SECONDS")
    let seconds = alone ?? 4
    let seed = UInt64(Self.setting("TIDINGS_FUZZ_SEED") ?? 1)
    try await MediaServer.with { media in
      let server = media.server
      let seeds =
        try await Self.values(from: server) + [media.stored(SampleMedia.png(bytes: 10_000)).suffix(36).description]
      var total = Tally()
      var memory: [Double] = []
      for half in 0..<2 {
        let end = ContinuousClock.now + .seconds(seconds) / 2
        total += try await withThrowingTaskGroup(of: Tally.self) { group in
          for index in 0..<4 {
            group.addTask {
              let random = SplitMix64(seed: seed &* 41 + UInt64(4 * half + index))
              return try await Self.fuzz(
                server, RequestGenerator(random: random, key: media.key, seeds: seeds), until: end)
            }
          }
          return try await group.reduce(into: Tally()) { $0 += $1 }
        }
        memory.append(try await server.scrape().value("process_resident_memory_bytes"))
      }
      // The requests must reach all stages of processing.
      for status in [200, 201, 400, 404, 405, 415, 422] { #expect(total.responses[status] != nil, "no \(status)") }
      // The memory of items, responses and other tests varies; a leak would grow with the bytes sent.
      if alone != nil {
        #expect(memory[1] - memory[0] < 16e6 + 0.1 * Double(total.bytes), "the second half added to the memory")
      }
      print("random requests, seed \(seed), \(seconds) s: \(total), memory \(memory.map { Int($0 / 1e6) }) MB")
    }
  }

  /// The bytes sent and the responses received.
  private struct Tally: CustomStringConvertible {
    var bytes = 0
    /// The number of responses by status.
    var responses: [Int: Int] = [:]

    static func += (tally: inout Tally, other: Tally) {
      tally.bytes += other.bytes
      tally.responses.merge(other.responses, uniquingKeysWith: +)
    }

    var description: String {
      let responses = responses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      return "\(bytes) bytes, \(responses)"
    }
  }

  /// Returns one value of each kind that the server issues.
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

  private static func fuzz(
    _ server: TestServer, _ generator: RequestGenerator, until end: ContinuousClock.Instant
  ) async throws -> Tally {
    var generator = generator
    var tally = Tally()
    repeat {
      for _ in 0..<100 {
        let bytes = generator.connection()
        tally.bytes += bytes.count
        do {
          for response in try await RawConnection.exchange([bytes], port: server.port) {
            tally.responses[response.status, default: 0] += 1
            try check(response)
          }
        } catch {
          Issue.record("\(error), after \(String(decoding: bytes, as: UTF8.self).debugDescription)")
          return tally
        }
      }
      #expect(try await server.get("/healthz").status == 200)
    } while ContinuousClock.now < end
    return tally
  }

  private static func check(_ response: TestResponse) throws {
    try Contract.shared.get().check(any: response)
    // 501 and 505 are caused by the request itself; 503 can only be the result of `at` here.
    guard response.status >= 500, ![501, 505].contains(response.status), !response.text.contains("not-reached-yet")
    else {
      return
    }
    throw TestResponse.Unexpected(description: "\(response.status): \(response.text)")
  }
}
