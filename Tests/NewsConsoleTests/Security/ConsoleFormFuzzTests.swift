import Foundation
import HTTPTypes
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Random forms for every route that accepts one, sent by browsers that have signed in.
///
/// The test runs for a few seconds beside other tests, or for `TIDINGS_FUZZ_SECONDS` alone, with the seed
/// `TIDINGS_FUZZ_SEED`.
@Suite struct ConsoleFormFuzzTests {
  /// The number of browsers that send forms at the same time.
  private static let senders = 3
  /// The number of forms for a newsroom. Some of them end what later ones need.
  private static let formsPerNewsroom = 60

  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// The bytes sent and the responses received.
  private struct Tally: CustomStringConvertible {
    var bytes = 0
    /// The number of connections without a response.
    var silent = 0
    /// The number of responses by status.
    var responses: [Int: Int] = [:]

    static func += (tally: inout Tally, other: Tally) {
      tally.bytes += other.bytes
      tally.silent += other.silent
      tally.responses.merge(other.responses, uniquingKeysWith: +)
    }

    var description: String {
      let responses = responses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      return "\(bytes) bytes, \(responses), \(silent) without a response"
    }
  }

  @Test("Random forms end without server errors, harm nothing else, and leave nothing behind")
  func randomForms() async throws {
    let alone = Self.setting("TIDINGS_FUZZ_SECONDS")
    let seconds = alone ?? 4
    let seed = UInt64(Self.setting("TIDINGS_FUZZ_SEED") ?? 1)
    try await ConsoleServer.with { console in
      let untouched = try await console.item(#""state": "published", "title": "Untouched", "text": "Fog lifts.""#)
      let reader = try await console.signedIn(name: "reader")
      var total = Tally()
      var memory: [Double] = []
      for half in 0..<2 {
        let end = ContinuousClock.now + .seconds(seconds) / 2
        total += try await withThrowingTaskGroup(of: Tally.self) { group in
          for index in 0..<Self.senders {
            group.addTask {
              let number = Self.senders * half + index
              return try await Self.fuzz(
                console, reader, FormGenerator(random: SplitMix64(seed: seed &* 43 + UInt64(number))),
                number: number * 100_000, until: end)
            }
          }
          return try await group.reduce(into: Tally()) { $0 += $1 }
        }
        memory.append(try await Self.memory(of: console))
      }
      // The forms must reach all stages of processing.
      for status in [200, 303, 400, 403, 412, 413, 415, 422] {
        #expect(total.responses[status] != nil, "no \(status): \(total)")
      }
      try await Self.checkOrder(console, untouched)
      // The memory of other tests varies; a leak would grow with the bytes sent.
      if alone != nil {
        #expect(memory[1] - memory[0] < 16e6 + 0.1 * Double(total.bytes), "the second half added to the memory")
      }
      print("random forms, seed \(seed), \(seconds) s: \(total), memory \(memory.map { Int($0 / 1e6) }) MB")
    }
  }

  /// The memory of this process, in bytes.
  private static func memory(of console: ConsoleServer) async throws -> Double {
    let metrics = try await console.server.get("/metrics").text
    let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") })
    return try #require(line.split(separator: " ").last.flatMap { Double($0) })
  }

  /// Sends random forms for all routes.
  private static func fuzz(
    _ console: ConsoleServer, _ reader: ConsoleBrowser, _ generator: FormGenerator, number: Int,
    until end: ContinuousClock.Instant
  ) async throws -> Tally {
    var generator = generator
    var tally = Tally()
    var number = number
    repeat {
      number += 1
      let newsroom = try await FullNewsroom(console, number: number)
      let forms = try await newsroom.forms()
      let paths = newsroom.paths(.post)
      for index in 0..<max(formsPerNewsroom, paths.count) {
        let target = try newsroom.target(paths[index % paths.count])
        let form = try newsroom.form(paths[index % paths.count], in: forms)
        guard let cookie = newsroom.browser.cookies["tidings_console"], let token = forms["/console/sign-out"]?["csrf"]
        else { throw TestResponse.Unexpected(description: "there is no session") }
        let bytes = generator.connection(
          form, to: target,
          FormGenerator.Place(authority: "127.0.0.1:\(console.server.port)", cookie: cookie, token: token))
        tally.bytes += bytes.count
        do {
          let responses = try await RawConnection.exchange([bytes], port: console.server.port)
          if responses.isEmpty { tally.silent += 1 }
          for response in responses {
            tally.responses[response.status, default: 0] += 1
            try check(response, target)
          }
        } catch {
          let text = String(decoding: bytes.prefix(4_000), as: UTF8.self).debugDescription
          Issue.record("\(error), after \(text)")
          return tally
        }
      }
      #expect(try await console.server.get("/healthz").status == 200)
      #expect(try await reader.get("/console/items").status == 200)
    } while ContinuousClock.now < end
    return tally
  }

  private static func check(_ response: TestResponse, _ target: String) throws {
    // A coding that no server has to know is the only reason for a 501.
    guard response.status < 500 || response.status == 501 else {
      throw TestResponse.Unexpected(description: "\(response.status) of \(target): \(response.text)")
    }
    let type = response["Content-Type"] ?? ""
    guard type.hasPrefix("text/html") else {
      // The rest of a body that is longer than declared is no request for the console.
      guard response.text.isEmpty || type == "application/problem+json" else {
        throw TestResponse.Unexpected(description: "\(type) of \(target)")
      }
      return
    }
    #expect(response["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true, "\(target)")
    _ = try PageScan(response.text, as: .console)
  }

  /// Checks the state after all forms.
  private static func checkOrder(_ console: ConsoleServer, _ untouched: EditorialItem) async throws {
    #expect(try await console.store.editorialItem(untouched.item.id) == untouched)
    for target in ["/v1/items?limit=200", "/v1/changes", "/v1/topics"] {
      #expect(try await console.server.get(target).status == 200, "\(target)")
    }
    let admin = try await console.signedIn([.admin], name: "admin")
    for section in ["files", "topics", "pushes", "subscriptions", "webhooks", "keys", "sessions"] {
      let page = try await admin.get("/console/\(section)")
      #expect(page.status == 200)
      _ = try page.scan
    }
    for state in ["published", "draft", "review", "scheduled", "retracted"] {
      let list = try await admin.get("/console/items?state=\(state)")
      #expect(list.status == 200, "\(state)")
      let paths = try list.scan.addresses.filter { $0.wholeMatch(of: /\/console\/items\/[0-9a-f-]{36}/) != nil }
      for path in Set(paths) { #expect(try await admin.get(path).status == 200, "\(path)") }
    }
    try await eventually("no form holds a connection") { console.store.connections.leased == 0 }
    // The server's own work has transactions too; only one that stays belongs to a form.
    try await eventually("no form holds a transaction") {
      try await console.server.sql.query(
        """
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
        """
      ).isEmpty
    }
  }
}
