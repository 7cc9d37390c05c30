import Foundation
import NewsFollower
import TestKit
import TestSupport
import Testing

/// Two days with hundreds of feeds, in virtual time.
@Suite struct FeedSimulationTests {
  private static let end: Double = 2 * 86_400

  /// Runs in a process of its own, because its memory is measured.
  @Test("Two processes follow hundreds of feeds with every misbehaviour as often as these allow, and miss nothing")
  func twoDays() async {
    await #expect(processExitsWith: .success) { try await FeedSimulationTests.follow() }
  }

  fileprivate static func follow() async throws {
    try await FeedSimulation.with { simulation in
      var memory: Int?
      while simulation.now < FeedSimulation.start + end {
        try await simulation.advance()
        if memory == nil, simulation.now >= FeedSimulation.start + end / 2 { memory = try residentBytes() }
      }
      let growth = try residentBytes() - (try #require(memory))
      #expect(growth < 64 << 20, "the memory has grown by \(growth) bytes on the second day")
      let violations = simulation.violations
      #expect(violations.isEmpty, "\(violations.count) requests were too early, first of all \(violations.prefix(5))")
      #expect(simulation.requests > 5 * simulation.feeds.count)
      try await eventually("all connections are closed") { simulation.openConnections == 0 }
      checkArrivals(simulation)
      try await checkErrors(simulation)
    }
  }

  /// Checks that each entry that was published after the first poll of its feed is in the store, within 1.5 intervals.
  private static func checkArrivals(_ simulation: FeedSimulation) {
    let (arrivals, firstRequests) = (simulation.arrivals, simulation.firstRequests)
    for feed in simulation.feeds where [.good, .slow].contains(feed.kind.role) {
      let interval = max(feed.cadence / 2, feed.kind.hint)
      // The other feeds may be polled a day later. Entries of the last day may still be on their way.
      let limit = feed.kind.role == .good ? 1.5 * interval : 86_400 * 1.2
      let name = "feed \(feed.number) (\(feed.kind.name))"
      guard let first = firstRequests[feed.number] else {
        Issue.record("\(name) was never polled")
        continue
      }
      for entry in feed.publications(until: simulation.now - limit) where entry.date > first {
        guard let arrival = arrivals[entry.guid] else {
          Issue.record("\(name): the entry \(entry.guid) is missing")
          continue
        }
        let delay = arrival.timeIntervalSince(entry.date)
        #expect(delay <= limit, "\(name): the entry \(entry.guid) came after \(delay) s")
      }
    }
  }

  /// Checks that feeds that work have no error, and others have one.
  private static func checkErrors(_ simulation: FeedSimulation) async throws {
    let errors = try await simulation.errors()
    #expect(errors.count == simulation.feeds.count)
    for feed in simulation.feeds {
      let error = try #require(errors[feed.path])
      switch feed.kind.role {
      case .good: #expect(error == "", "feed \(feed.number) (\(feed.kind.name))")
      case .slow: break
      case .bad, .stuck: #expect(error != "", "feed \(feed.number) (\(feed.kind.name))")
      }
    }
  }
}

/// The memory of this process that is in RAM, in bytes (proc(5)).
private func residentBytes() throws -> Int {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return try #require(Int(fields[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
