public import Foundation

/// The outcome of a policy in a simulation.
///
///     for outcome in simulation.run(catalogue.policies) {
///       print(outcome.policy, outcome.wakes.count, outcome.hits, outcome.hitsPerWake)
///     }
public struct Outcome: Sendable, Hashable, Codable {
  /// The name of the persona.
  public let persona: String
  /// The name of the newsroom.
  public let newsroom: String
  /// The name of the policy.
  public let policy: String
  /// The seed of the simulation.
  public let seed: UInt64
  /// The number of days.
  public let days: Int
  /// The dates of the wakes.
  public let wakes: [Date]
  /// The dates of the openings.
  public let openings: [Date]
  /// The number of openings that found all news on the device.
  public let hits: Int
  /// The number of openings with news that were not all on the device.
  public let misses: Int
  /// The number of items fetched by wakes.
  public let items: Int
  /// The number of bytes received by wakes.
  public let bytes: Int

  /// The number of hits per wake, 0 without wakes.
  public var hitsPerWake: Double { wakes.isEmpty ? 0 : Double(hits) / Double(wakes.count) }
}
