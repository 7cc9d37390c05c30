public import Foundation

/// What a policy came to in a simulation.
public struct Outcome: Sendable, Hashable, Codable {
  /// The name of the persona.
  public let persona: String
  /// The name of the newsroom.
  public let newsroom: String
  /// The name of the policy.
  public let policy: String
  /// What the simulation was made from.
  public let seed: UInt64
  /// How many days it lasted.
  public let days: Int
  /// When the app was woken.
  public let wakes: [Date]
  /// When the app was opened.
  public let openings: [Date]
  /// Openings that found all news on the device.
  public let hits: Int
  /// Openings that did not.
  public let misses: Int
  /// How many items wakes have brought.
  public let items: Int
  /// How many bytes wakes have cost.
  public let bytes: Int

  /// Hits for a wake, 0 if there was none.
  public var hitsPerWake: Double { wakes.isEmpty ? 0 : Double(hits) / Double(wakes.count) }
}
