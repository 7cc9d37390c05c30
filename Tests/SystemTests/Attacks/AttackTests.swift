import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Attacks on a real server beside an ordinary reader and an editor. After each attack the server still runs, no read and
/// no write has failed, and its memory and descriptors are back at their previous levels. No job has taken much processor
/// time on a thread that all requests share.
///
/// The short forms run with all tests. `make attack` runs the long ones (`TIDINGS_ATTACKS`) against a release build,
/// checks the response times of both, and prints a table.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AttackTests {
  /// Whether the long forms are requested.
  static let runsLongTests = ProcessInfo.processInfo.environment["TIDINGS_ATTACKS"] != nil

  /// The maximum response time of a reader and of an editor at the 99th percentile during an attack.
  static let maximumResponseTime = Duration.milliseconds(100)

  /// The minimum number of an editor's writes during an attack. The 99th percentile of fewer would be the slowest of them.
  private static let minimumWrites = 300

  struct Target: Sendable {
    let server: RunningServer
    let installation: Installation
    /// An editor's key.
    let key: String

    /// Publishes items.
    ///
    /// - Returns: Their ids.
    @discardableResult
    func publish(_ count: Int) async throws -> [String] {
      var ids: [String] = []
      for number in 0..<count {
        let text = String(repeating: "word \(number) ", count: 40)
        let answer = try await server.send(
          "POST", "/v1/editorial/items", key: key,
          body: #"{"date": "2026-01-01T00:00:00Z", "text": "\#(text)", "html": "<p>\#(text)</p>"}"#)
        ids.append(try answer.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased())
      }
      return ids
    }
  }

  /// Attacks a server.
  ///
  /// - Parameters:
  ///   - growth: The permitted growth of its memory in MiB after the attack.
  ///   - changes: Settings of the server that differ from the defaults.
  ///   - attack: The attack, which in its long form is repeated until the editor has written often enough.
  static func with(
    _ name: String, growth: Int = 128, changes: [String: String] = [:], attack: @Sendable (Target) async throws -> Void
  ) async throws {
    try await JobWatch.with { watch in
      try await Installation.with { installation in
        let key = try await installation.makeKey()
        try await installation.serve(changes: changes.merging(watch.settings) { $1 }) { server in
          let target = Target(server: server, installation: installation, key: key)
          try await Self.run(name, growth, target, attack)
          let jobs = try await watch.jobs()
          #expect(jobs.isEmpty, "jobs of more than \(JobWatch.limit) ms on threads that all requests share:\n\(jobs)")
        }
      }
    }
  }

  private static func run(
    _ name: String, _ growth: Int, _ target: Target, _ attack: @Sendable (Target) async throws -> Void
  ) async throws {
    let server = target.server
    try await target.publish(30)
    _ = try await Latency.measure(port: server.port, count: 200)
    let before = try Usage(of: server.process)
    let reader = SteadyClient.reader(of: target)
    let editor = SteadyClient.editor(of: target)
    let outcome: Result<Void, any Error>
    do {
      repeat { try await attack(target) } while runsLongTests && editor.count < minimumWrites
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    let (reads, writes) = (await reader.end(), await editor.end())
    try outcome.get()

    for path in ["/healthz", "/readyz", "/v1/items"] {
      let status = try await server.status(path)
      #expect(status == 200, "\(path)")
    }
    for record in [reads, writes] {
      #expect(record.failures.isEmpty, "\(record.failures.prefix(3))")
      if runsLongTests { #expect(record.p99 < maximumResponseTime) }
    }
    // The pool may have grown from one connection to its eight, of two descriptors each.
    try await eventually("the descriptors are closed") {
      try Usage(of: server.process).descriptors <= before.descriptors + 16
    }
    let grown = (try Usage(of: server.process).kilobytes - before.kilobytes) >> 10
    #expect(grown < growth, "\(grown) MiB")
    let times = [(reads, "reads"), (writes, "writes")].map { record, kind in
      "\(record.count) \(kind), p99 \(FaultTests.milliseconds(record.p99))"
    }
    print("| \(name) | \(times.joined(separator: "; ")) | \(grown) MiB more memory |")
  }
}

/// A client that sends requests one after the other until it is stopped.
private final class SteadyClient: Sendable {
  struct Record {
    let count: Int
    let p99: Duration
    /// Errors of connections, and responses with a status from 400.
    let failures: [String]
  }

  private let isOver = Flag()
  private let sent = Count()
  private let record: Task<Record, Never>

  /// The number of requests so far.
  var count: Int { sent.value }

  /// - Parameters:
  ///   - requests: The requests, of which each follows the one before it, and the first the last.
  ///   - pause: The time between two requests in microseconds.
  private init(port: Int, requests: [String], pause: UInt32) {
    let (isOver, sent) = (isOver, sent)
    record = Task {
      let result = try? await onThread { Self.send(requests, to: port, pause, counting: sent, until: isOver) }
      return result ?? Record(count: 0, p99: .zero, failures: ["there is no thread"])
    }
  }

  static func reader(of target: AttackTests.Target) -> SteadyClient {
    let request = "GET /v1/items?limit=20 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: news/1\r\n\r\n"
    return SteadyClient(port: target.server.port, requests: [request], pause: 2000)
  }

  /// An editor who publishes a short item and saves an article of 30 kB by turns.
  static func editor(of target: AttackTests.Target) -> SteadyClient {
    let article = String(repeating: "<p>The ferry is <b>back</b> &amp; <a href='/port'>open</a>.</p>", count: 500)
    let bodies = [
      #"{"date": "2026-01-01T00:00:00Z", "text": "written beside an attack"}"#,
      #"{"text": "The ferry is back.", "html": "\#(article)", "state": "draft"}"#,
    ]
    let requests = bodies.map { body in
      "POST /v1/editorial/items HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(target.key)\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
    return SteadyClient(port: target.server.port, requests: requests, pause: 20_000)
  }

  func end() async -> Record {
    isOver.set()
    return await record.value
  }

  private static func send(
    _ requests: [String], to port: Int, _ pause: UInt32, counting sent: Count, until isOver: Flag
  ) -> Record {
    var times: [Duration] = []
    var failures: [String] = []
    while !isOver.isSet {
      do {
        let connection = try BlockingConnection(port: port)
        for _ in 0..<10 where !isOver.isSet {
          let began = ContinuousClock.now
          _ = try connection.exchange(requests[times.count % requests.count])
          times.append(.now - began)
          _ = sent.next()
          usleep(pause)
        }
      } catch {
        failures.append("\(error)")
        usleep(100_000)
      }
    }
    let sorted = times.sorted()
    return Record(count: times.count, p99: sorted.isEmpty ? .zero : sorted[times.count * 99 / 100], failures: failures)
  }
}
