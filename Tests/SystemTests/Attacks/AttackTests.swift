import Foundation
import News
import Synchronization
import TestKit
import TestSupport
import Testing

/// Attacks on a real server beside an ordinary reader. After each attack the server still runs, no read has failed, and
/// its memory and descriptors are back at their previous levels. No job has taken much processor time on a thread that all
/// requests share.
///
/// The short forms run with all tests. `make attack` runs the long ones (`TIDINGS_ATTACKS`) against a release build,
/// checks the reader's response time, and prints a table.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AttackTests {
  /// Whether the long forms are requested.
  static let runsLongTests = ProcessInfo.processInfo.environment["TIDINGS_ATTACKS"] != nil

  /// The maximum response time of a reader at the 99th percentile during an attack.
  static let maximumReadTime = Duration.milliseconds(100)

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
    let reader = Reader(port: server.port)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await attack(target)) } catch { outcome = .failure(error) }
    let reads = await reader.end()
    try outcome.get()

    for path in ["/healthz", "/readyz", "/v1/items"] {
      let status = try await server.status(path)
      #expect(status == 200, "\(path)")
    }
    #expect(reads.failures.isEmpty, "\(reads.failures.prefix(3))")
    // The pool may have grown from one connection to its eight, of two descriptors each.
    try await eventually("the descriptors are closed") {
      try Usage(of: server.process).descriptors <= before.descriptors + 16
    }
    let grown = (try Usage(of: server.process).kilobytes - before.kilobytes) >> 10
    #expect(grown < growth, "\(grown) MiB")
    if runsLongTests { #expect(reads.p99 < maximumReadTime) }
    print("| \(name) | \(reads.count) reads, p99 \(FaultTests.milliseconds(reads.p99)) | \(grown) MiB more memory |")
  }
}

/// An ordinary reader that runs until it is stopped.
private final class Reader: Sendable {
  struct Record {
    let count: Int
    let p99: Duration
    let failures: [String]
  }

  private final class Flag: Sendable {
    let isOver = Atomic(false)
  }

  private let flag: Flag
  private let record: Task<Record, Never>

  init(port: Int) {
    let flag = Flag()
    self.flag = flag
    record = Task { await Self.read(port, flag) }
  }

  func end() async -> Record {
    flag.isOver.store(true, ordering: .relaxed)
    return await record.value
  }

  private static func read(_ port: Int, _ flag: Flag) async -> Record {
    let request = "GET /v1/items?limit=20 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: news/1\r\n\r\n"
    let result = try? await onThread {
      var times: [Duration] = []
      var failures: [String] = []
      while !flag.isOver.load(ordering: .relaxed) {
        do {
          let connection = try BlockingConnection(port: port)
          for _ in 0..<10 {
            let began = ContinuousClock.now
            _ = try connection.exchange(request)
            times.append(.now - began)
            usleep(2000)
          }
        } catch {
          failures.append("\(error)")
          usleep(100_000)
        }
      }
      return (times.sorted(), failures)
    }
    let (times, failures) = result ?? ([], ["there is no thread"])
    return Record(count: times.count, p99: times.isEmpty ? .zero : times[times.count * 99 / 100], failures: failures)
  }
}
