import FetchSimulator
import Foundation
import Testing

@Suite struct `The scheduler against a fixed interval` {
  #if DEBUG
    // Decisions are many times slower without optimisation. `make simulate` runs all comparisons.
    private static let seeds: Range<UInt64> = 0..<1
    private static let newsrooms = 1
  #else
    private static let seeds: Range<UInt64> = 0..<8
    private static let newsrooms = 3
  #endif

  #if !DEBUG
    /// Returns the hits per wake of the scheduler and of the two fixed intervals with the same number of wakes, over
    /// all newsrooms and the given seeds.
    private func ratios(_ name: String, days: Int, seeds: Range<UInt64>) async throws -> [Double] {
      let catalogue = try Catalogue.shipped()
      let persona = try #require(catalogue.personas.first { $0.name == name })
      let policies = ["scheduler", "fixed", "fixed-jitter"].compactMap { name in
        catalogue.policies.first { $0.name == name }
      }
      var hits = [0, 0, 0]
      var wakes = [0, 0, 0]
      for newsroom in catalogue.newsrooms {
        for seed in seeds {
          let simulation = Simulation(persona: persona, newsroom: newsroom, days: days, seed: seed)
          // Other tests with time limits need threads too.
          await Task.yield()
          for (index, outcome) in simulation.run(policies).enumerated() {
            hits[index] += outcome.hits
            wakes[index] += outcome.wakes.count
          }
        }
      }
      #expect(wakes.allSatisfy { abs($0 - wakes[0]) <= wakes[0] / 50 + 12 })
      let perWake = zip(hits, wakes).map { Double($0) / Double($1) }
      return perWake.dropFirst().map { perWake[0] / $0 }
    }

    @Test(arguments: ["commuter", "one-pm-reader", "night-owl", "weekend-reader"], [14, 21, 28])
    func `Users with habits have twice as many hits per wake, the time of learning included`(
      _ persona: String, _ days: Int
    ) async throws {
      #expect(try await ratios(persona, days: days, seeds: Self.seeds).allSatisfy { $0 >= 2 })
    }

    @Test(arguments: ["commuter", "one-pm-reader"])
    func `A week is sufficient to learn daily habits`(_ persona: String) async throws {
      #expect(try await ratios(persona, days: 7, seeds: Self.seeds).allSatisfy { $0 >= 2 })
    }

    @Test func `Users without habits have as many hits per wake`() async throws {
      #expect(try await ratios("random", days: 14, seeds: Self.seeds).allSatisfy { $0 >= 0.95 })
    }

  #endif

  @Test func `From the third day on, a wake precedes each opening of the 1 p.m. reader`() async throws {
    let catalogue = try Catalogue.shipped()
    let persona = try #require(catalogue.personas.first { $0.name == "one-pm-reader" })
    let scheduler = try #require(catalogue.policies.first { $0.name == "scheduler" })
    for newsroom in catalogue.newsrooms.prefix(Self.newsrooms) {
      for seed in Self.seeds.prefix(2) {
        let simulation = Simulation(persona: persona, newsroom: newsroom, days: 14, seed: seed)
        await Task.yield()
        let outcome = try #require(simulation.run([scheduler]).first)
        for opening in outcome.openings.dropFirst(2) {
          let last = outcome.wakes.last { $0 <= opening } ?? .distantPast
          #expect(opening.timeIntervalSince(last) <= 45 * 60, "\(newsroom.name) \(seed) \(opening)")
        }
      }
    }
  }
}
