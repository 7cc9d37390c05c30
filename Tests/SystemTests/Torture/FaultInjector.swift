import Foundation
import TestKit

/// Causes faults, one at a time.
struct FaultInjector {
  enum Fault: String, CaseIterable, Sendable {
    case killServer, stopServer, pauseServer, killDatabase, restartDatabase, dropConnections
    /// Suspends database sessions in the middle of a read, so that the read returns an old snapshot much later.
    case stallReads
    case restore, failOver, replaceDatabase, moveDatabase
    /// Breaks nothing, but expires the tokens of clients that are behind.
    case purge
    /// Requires a standby.
    case pauseReplay

    /// Faults that take seconds.
    static let slow: Set<Fault> = [.restore, .failOver, .replaceDatabase, .moveDatabase]
  }

  let system: TortureSystem
  var random: SplitMix64
  private(set) var counts: [Fault: Int] = [:]
  /// The longest time for which a killed database was away.
  private(set) var longestOutage: Duration = .zero

  init(system: TortureSystem, seed: UInt64) {
    self.system = system
    random = SplitMix64(seed: seed)
  }

  /// Causes a fault and waits until the system works again.
  ///
  /// - Parameter faults: The faults to choose from.
  mutating func inject(_ faults: [Fault]) async throws {
    // Slow faults are chosen less often, to leave time for the others.
    let drawn = faults.randomElement(using: &random)
    guard let fault = drawn, !Fault.slow.contains(fault) || Bool.random(using: &random) else { return }
    counts[fault, default: 0] += 1
    let index = Int.random(in: 0..<2, using: &random)
    let pause = Duration.milliseconds(Int.random(in: 100...1500, using: &random))
    if Fault.slow.contains(fault) { try await system.inspect() }
    switch fault {
    case .killServer: try await system.restartServer(index, by: SIGKILL)
    case .stopServer: try await system.restartServer(index, by: SIGTERM)
    case .pauseServer: try await system.pauseServer(index, for: pause)
    case .killDatabase:
      let start = ContinuousClock.now
      try await system.killDatabase()
      longestOutage = max(longestOutage, ContinuousClock.now - start)
    case .restartDatabase: try await system.restartDatabase()
    case .dropConnections: try await system.dropConnections()
    case .stallReads: try await system.stallReads(for: pause)
    case .restore: try await system.restore(after: pause)
    case .failOver: try await system.failOver(after: pause)
    case .replaceDatabase: try await system.replaceDatabase(after: pause)
    case .moveDatabase: try await system.moveDatabase(after: pause)
    case .purge: await system.purge()
    case .pauseReplay: try await system.pauseReplay(for: pause)
    }
    try await Task.sleep(for: .milliseconds(Int.random(in: 200...2500, using: &random)))
  }
}
